"""The stage that migrates the real engine on slices of the streams, and measures what operators cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.migration.strategies import STRATEGIES
from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.serialise import dumps
from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.studies.inputs import plan_inputs
from midstream.scenarios.studies.run.stage import Found, Stage, Table, Told, Work
from midstream.scenarios.studies.simulate.making import grid_of, targets

if TYPE_CHECKING:
    from midstream.scenarios.studies.run.study_file import StudyFile
    from midstream.scenarios.studies.simulate.grid import Grid

NAME = "simulate"

WINDOWS = 6
"""A slice is so many times as long as the longest window, unless told otherwise."""


def _listed(given: Any) -> Any:
    return [given] if isinstance(given, str | float | int) else given


class Options(Strict):
    """plan        a file with the plan that runs first instead of the study's query
    to            files with plans to move to; by default one of each other join order
    slice         how long a slice is, and `slices` how many there are at most
    strategies    those that migrate; by default all
    at            at which shares of a slice to migrate; by default a seed draws one
    seed, seeds   the first seed, and how many
    """

    plan: str | None = None
    to: Annotated[list[str], BeforeValidator(_listed)] = Field(default_factory=list)
    slice: str | None = None
    slices: int = Field(default=10, ge=1)
    strategies: Annotated[list[str], BeforeValidator(_listed)] = Field(default=list(STRATEGIES), min_length=1)
    at: Annotated[list[Annotated[float, Field(ge=0, le=1)]], BeforeValidator(_listed)] = Field(
        default_factory=list
    )
    seed: int = 1
    seeds: int = Field(default=1, ge=1)


def _length(file: StudyFile, options: Options) -> int:
    """Of a slice, in chronons."""
    window = max(one.length for one in plan_inputs(file.query(NAME, options.plan), file.study.streams))
    if options.slice is None:
        return WINDOWS * window
    place = ("stages", NAME, "slice")
    length = file.chronons(place, options.slice)
    if length <= window:
        raise file.document.error(
            place,
            f"found {options.slice}, expected more than the longest window, "
            f"{file.study.clock.show_duration(window)}: a migration may take as long",
        )
    return length


def _grid(file: StudyFile, options: Options) -> Grid:
    if unknown := [one for one in options.strategies if one not in STRATEGIES]:
        raise file.document.error(
            ("stages", NAME, "strategies"), f"found {unknown[0]}, expected some of {', '.join(STRATEGIES)}"
        )
    plan = file.query(NAME, options.plan)
    files = [Path(file.folder / one) for one in options.to]
    return grid_of(
        file.study,
        plan,
        targets(file.study, plan, files),
        strategies=tuple(dict.fromkeys(options.strategies)),
        seeds=range(options.seed, options.seed + options.seeds),
        at=tuple(options.at),
    )


def _check(file: StudyFile, options: Options) -> None:
    _length(file, options)
    _grid(file, options)


def _reads(file: StudyFile, options: Options) -> Any:
    grid = _grid(file, options)
    plans = [dumps(plan) for plan in (grid.plan, *(target.plan for target in grid.targets))]
    return [file.study.since, file.study.until, *plans, repr(units_in_use())]


def _run(work: Work, options: Options) -> Found:
    from midstream.scenarios.studies.simulate.report import simulate_summary, write_simulate
    from midstream.scenarios.studies.simulate.stage import simulate

    grid = _grid(work.file, options)
    recording = work.recording
    work.tell("running slices")
    found = simulate(recording, work.study, grid, _length(work.file, options), options.slices)
    summary = simulate_summary(work.study, grid, found)
    write_simulate(found, summary, work.place)
    return Found(summary, {}, work.elements, len(found.runs))


def _told(file: StudyFile, found: Found) -> Told:
    from midstream.scenarios.studies.simulate.report import total_rows

    clock, summary = file.study.clock, found.summary
    rows = total_rows(clock, summary, ("moved", "unfinished", "refused", "failed"))
    titles = (
        "to", "by", "moved", "unfinished", "refused", "failed", "duration", "state", "gap", "without", "time",
    )  # fmt: skip
    wrong = [
        f"In the slice from {clock.show(run['slice'])}, seed {run['seed']}, moving to {run['to']} by "
        f"{run['strategy']} gives another output."
        for run in summary["wrong"]
    ]
    facts = [
        f"On {len(summary['slices']):,} slices of {clock.show_duration(summary['slice'])} the engine ran "
        f"{summary['runs']:,} times with a migration.",
        *(wrong or ["Each run gave what the plan gives that stays."]),
    ]
    if summary["costs"] is not None:
        facts.append(
            "costs.json holds cost variables of these machines; on slices without a part in them the median "
            f"error is {summary['costs']['error']:.0%}."
        )
    note = (
        "State and time are multiples of what the plan that stays takes; time depends on the machine. Gap: "
        "the longest time without a result during a migration, and without one."
    )
    table = Table("Migrations on slices", titles, rows, 2, note)
    return Told(facts, (), [table] if rows else [], holds=not wrong)


STAGE = Stage(NAME, Options, _run, _told, reads=_reads, after=("ingest",), check=_check)
