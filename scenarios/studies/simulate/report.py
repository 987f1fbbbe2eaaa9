"""The results of migrations on slices, as plain data for JSON, for people, and as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.text import Text

from midstream.io.new_file import write_file
from midstream.io.time_units import Clock
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.report import Summary, table
from midstream.scenarios.studies.simulate.grid import Grid
from midstream.scenarios.studies.simulate.jobs import RUNS
from midstream.scenarios.studies.simulate.stage import Simulated
from midstream.scenarios.studies.writing import new_folder, write_json

VERSION = 1
"""The version of the summary."""

SIMULATE = ("runs", "costs.json", "simulate.json")
"""The files that `write_simulate` replaces in a folder."""

SHOWN_WRONG = 5
"""The number of runs with another output that are listed."""


def simulate_summary(study: Study, grid: Grid, found: Simulated) -> Summary:
    """The grid, the outcomes of its runs by plan and strategy, and the runs with another output."""
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


def write_simulate(found: Simulated, summary: Summary, folder: Path) -> None:
    """Write `runs`, `costs.json` and `simulate.json`.

    `runs` is Parquet with one row a run. `--costs` and `Profile.read` take `costs.json`.
    """
    with new_folder(folder / "runs") as place:
        runs = pa.Table.from_pylist([asdict(run) for run in found.runs], schema=RUNS)
        pq.write_table(runs, place / "runs.parquet")
    (folder / "costs.json").unlink(missing_ok=True)
    if found.profile is not None:
        write_file(folder / "costs.json", json.dumps(found.profile.to_json(), indent=2) + "\n")
    write_json(summary, folder / "simulate.json")


def total_rows(clock: Clock, summary: Summary, outcomes: Sequence[str]) -> list[tuple[str, ...]]:
    """By plan and strategy: the runs with each outcome, duration, state, gap with and without, time."""
    return [
        (
            one["to"],
            one["strategy"],
            *(f"{one[outcome]:,}" for outcome in outcomes),
            _lasting(clock, one["duration"]),
            _times(one["held"]),
            _lasting(clock, one["gap"]),
            _lasting(clock, one["gap_stayed"]),
            _times(one["cpu"]),
        )
        for one in summary["totals"]
    ]


def _lasting(clock: Clock, chronons: float | None) -> str:
    return "–" if chronons is None else clock.show_duration(round(chronons))


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}"


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
