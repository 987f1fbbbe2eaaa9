"""The comparison of strategies on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.scenarios.simulator.policy_table import show_policies, shown_spread
from midstream.scenarios.simulator.results import Run, Simulation, Spread

ROWS = {
    "duration": "duration",
    "longest_pause": "longest pause",
    "latency_mean": "mean latency",
    "latency_max": "largest latency",
    "peak_state": "peak state",
    "peak_output": "peak output",
    "cpu": "CPU, in all",
    "cpu_beginning": "CPU, beginning",
    "cpu_ending": "CPU, ending",
    "cpu_moving": "CPU, moving",
    "cpu_window_old_alone": "CPU, old alone",
    "cpu_window_new_alone": "CPU, new alone",
    "cpu_ratio": "moving / alone",
}
"""The figures that are shown, with their headings."""

WIDE = 14
"""A longer name is broken, so that there is room for others."""

LABELS, COLUMN = 16, 16
"""Widths of the names of figures, and of a column where everything stands on one line."""

STYLES = {
    "equal": "green",
    "unordered": "yellow",
    "different": "bold red",
    "refused": "yellow",
    "holds": "green",
    "does not hold": "bold red",
    "not measured": "dim",
}


def show(simulation: Simulation, console: Console) -> None:
    """Print the comparison, and notes on runs that differ from what was requested."""
    several = f", medians of {simulation.repetitions} repetitions (least–most)"
    title = f"{simulation.name}, seed {simulation.seed}{several if simulation.repetitions > 1 else ''}"
    console.print(Text(title, style="bold"))
    if simulation.judged:
        show_policies(simulation, console)
    if not simulation.judged or not simulation.compares_plans:
        _show_comparison(simulation, console)
    if simulation.claims:
        console.print(_claims(simulation))
    for early in simulation.early_ends:
        console.print(Text(f"note: {early}", style="yellow"))
    for run in simulation.runs:
        meant = "of the plan of which this is a way" if simulation.compares_plans else "without migration"
        is_asked = run.strategy in simulation.wished and run.strategy not in simulation.policies
        for note in _notes(run, meant, is_asked=is_asked):
            console.print(Text(f"{run.strategy}, repetition {run.repetition + 1}: {note}"))


def _show_comparison(simulation: Simulation, console: Console) -> None:
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


def _claims(simulation: Simulation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("claim", "measured", ""):
        table.add_column(heading, overflow="fold")
    for one in simulation.claims:
        table.add_row(Text(one.claim), Text(one.measured), Text(one.finding, style=STYLES[one.finding]))
    return table


def _notes(run: Run, meant: str, *, is_asked: bool) -> Iterator[str]:
    """Notes on unexpected events of a run."""
    if run.refused is not None:
        yield f"refused {run.refused}"
    elif is_asked and not run.migrations:
        yield "no condition was met, so nothing was migrated"
    for move in run.migrations:
        if move.unmatched:
            yield f"{move.unmatched} fragments of results found no other half"
        if move.reason:
            yield move.reason
    if not run.is_ordered:
        is_meant = run.verdict == "unordered"
        yield "results overtake each other" + (", as the scenario lets them" if is_meant else "")
    if run.differences:
        differences = "\n  ".join(run.differences)
        yield f"not the results {meant}, which are on the right:\n  {differences}"


def _heading(strategy: str) -> str:
    """A name with line breaks after its hyphens if it is long.

    >>> _heading("genmig"), _heading("genmig-end-timestamp")
    ('genmig', 'genmig-\\nend-\\ntimestamp')
    """
    return strategy if len(strategy) <= WIDE else strategy.replace("-", "-\n")


def _cell(spread: Spread, name: str, is_narrow: bool) -> str:
    digits = 3 if name.startswith("cpu") else 1 if name == "latency_mean" else 0
    return shown_spread(spread, digits, "\n" if is_narrow else "")
