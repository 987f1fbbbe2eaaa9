"""What became of migrations on slices, as plain data for JSON, and for people."""

from __future__ import annotations

from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.report import Summary, table
from midstream.scenarios.studies.simulate.grid import Grid
from midstream.scenarios.studies.simulate.rows import total_rows
from midstream.scenarios.studies.simulate.stage import Simulated

VERSION = 1
"""Of the summary."""

SHOWN_WRONG = 5
"""So many runs with another output are told one by one."""


def simulate_summary(study: Study, grid: Grid, found: Simulated) -> Summary:
    """The grid, what became of its runs by plan and strategy, and those with another output."""
    length = found.slices[0].end - found.slices[0].start if found.slices else 0
    return {
        "version": VERSION,
        "study": study.name,
        "title": study.title,
        "unit": study.clock.unit,
        "slice": length,
        "slices": [one.start for one in found.slices],
        "empty": found.empty,
        "targets": [target.name for target in grid.targets],
        "strategies": list(grid.strategies),
        "seeds": list(grid.seeds),
        "mutant": grid.mutant,
        "runs": len(found.runs),
        "wrong": [asdict(run) for run in found.wrong[:SHOWN_WRONG]],
        "totals": [asdict(total) for total in found.totals],
        "machine_dependent": ["totals.cpu"],
        "costs": None if found.profile is None else found.profile.to_json(),
    }


def show_simulate(study: Study, summary: Summary, console: Console) -> None:
    """Print the summary."""
    clock = study.clock
    console.print(Text(study.title, style="bold"))
    if not summary["slices"]:
        console.print("The streams hold no elements.")
        return
    empty = f", of which {summary['empty']:,} are empty" if summary["empty"] else ""
    console.print(
        Text(
            f"{len(summary['slices']):,} slices of {clock.show_duration(summary['slice'])}{empty}; "
            f"{summary['runs']:,} runs that migrate\n"
        )
    )
    titles = (
        "to",
        "by",
        "moved",
        "un-\nended",
        "re-\nfused",
        "median\nduration",
        "state",
        "gap",
        "without",
        "time",
    )
    shown = table(*titles, texts=2, wrapped=["to"])
    for row in total_rows(clock, summary, ("moved", "unfinished", "refused")):
        shown.add_row(*row)
    console.print(shown)
    console.print(
        "State and time are multiples of what the plan that stays takes; time depends on the machine.\n"
        "Gap: the longest time without a result during a migration, and without one."
    )
    for run in summary["wrong"]:
        where = f"slice from {clock.show(run['slice'])}, seed {run['seed']}, at {clock.show(run['at'])}"
        console.print(Text(f"{where}: by {run['strategy']} to {run['to']}, the output is another one."))
    if not summary["wrong"]:
        console.print("Each run gives what the plan gives that stays.")
