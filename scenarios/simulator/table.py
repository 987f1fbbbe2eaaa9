"""The comparison of strategies on a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.scenarios.simulator.results import Simulation, Spread

ROWS = {
    "duration": "duration",
    "longest_pause": "longest pause",
    "latency_mean": "mean latency",
    "latency_max": "largest latency",
    "peak_state": "peak state",
    "cpu_moving": "CPU, moving",
    "cpu_window_old_alone": "CPU, old alone",
    "cpu_window_new_alone": "CPU, new alone",
}
"""The figures that are shown, and what they are called."""

WIDE = 14
"""A name that is longer is broken, so that there is room for others."""

LABELS, COLUMN = 16, 16
"""How wide the names of figures are, and a column where everything stands on one line."""

STYLES = {"equal": "green", "different": "bold red", "refused": "yellow"}


def show(simulation: Simulation, console: Console) -> None:
    """Print the comparison, and what went otherwise than asked for."""
    several = (
        ""
        if simulation.repetitions == 1
        else f", medians of {simulation.repetitions} repetitions (least–most)"
    )
    console.print(Text(f"{simulation.name}, seed {simulation.seed}{several}", style="bold"))
    is_narrow = console.width < LABELS + COLUMN * len(simulation.compared)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for one in simulation.compared:
        table.add_column(_heading(one.strategy), justify="right", overflow="fold")
    verdicts = [Text(one.verdict, style=STYLES[one.verdict]) for one in simulation.compared]
    table.add_row("results", *verdicts)
    for name, called in ROWS.items():
        if any(one.figures[name].median is not None for one in simulation.compared):
            cells = [_cell(one.figures[name], name, is_narrow) for one in simulation.compared]
            table.add_row(called, *cells)
    console.print(table)
    console.print(
        Text(
            f"Times in {simulation.unit} of application time, state in elements, CPU in seconds.", style="dim"
        )
    )
    for run in simulation.runs:
        where = f"{run.strategy}, repetition {run.repetition + 1}"
        if run.refused is not None:
            console.print(Text(f"{where}: refused {run.refused}"))
        if run.verdict == "different":
            order = [] if run.is_ordered else ["results are not in order"]
            console.print(
                Text(
                    "\n  ".join(
                        [
                            f"{where}: not the results without migration, which are on the right",
                            *order,
                            *run.differences,
                        ]
                    )
                )
            )
        for move in run.migrations:
            if move.reason:
                console.print(Text(f"{where}: {move.reason}"))
        if run.strategy in simulation.wished and not run.migrations and run.refused is None:
            console.print(Text(f"{where}: no condition was met, so nothing was migrated"))


def _heading(strategy: str) -> str:
    """A name that can be broken.

    >>> _heading("genmig"), _heading("genmig-end-timestamp")
    ('genmig', 'genmig-\\nend-\\ntimestamp')
    """
    return strategy if len(strategy) <= WIDE else strategy.replace("-", "-\n")


def _cell(spread: Spread, name: str, is_narrow: bool) -> str:
    if spread.median is None or spread.least is None or spread.largest is None:
        return "–"
    digits = 3 if name.startswith("cpu") else 1 if name == "latency_mean" else 0
    median, least, largest = (f"{n:,.{digits}f}" for n in (spread.median, spread.least, spread.largest))
    between = "\n" if is_narrow else ""
    return median if least == largest else f"{median}\n{least}–{between}{largest}"
