"""The stage that migrates the real engine on slices of the streams, and measures costs of operators."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.io.new_file import write_file
from midstream.io.time_units import Clock
from midstream.migration.strategies import STRATEGIES
from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.serialise import dumps
from midstream.scenarios.reports.contents import Report, Table
from midstream.scenarios.stages.base.options import (
    FileName,
    Mutant,
    Names,
    Options,
    PlanFile,
    listed,
    require_names,
)
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.stages.base.stage import STREAMS, Outcome, Stage, Work
from midstream.scenarios.stages.base.summaries import Summary
from midstream.scenarios.stages.simulate.making import grid_of, targets
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import plan_inputs

if TYPE_CHECKING:
    from midstream.scenarios.stages.simulate.grid import RunGrid
    from midstream.scenarios.stages.simulate.stage import Simulated

NAME = "simulate"

VERSION = 1
"""The version of the summary."""

RUNS, COSTS, SUMMARY = "runs", "costs.json", "simulate.json"
"""The folder with all runs, the file with cost variables, and the summary."""

SHOWN_WRONG = 5
"""The number of runs with another output that are listed."""

WINDOWS = 6
"""The default length of a slice, as a multiple of the longest window."""


class SimulateOptions(Options):
    """Options of a simulation."""

    plan: PlanFile = None
    to: Annotated[list[FileName], BeforeValidator(listed)] = Field(
        default_factory=list,
        description="A JSON file with a plan to move to; by default a plan of each other join order.",
    )
    slice: str | None = Field(
        default=None,
        description=f"The length of a slice, longer than a window; by default {WINDOWS} windows.",
    )
    slices: int = Field(
        default=10, ge=1, description="The largest number of slices, spread over the whole time."
    )
    strategies: Names = Field(
        default=list(STRATEGIES),
        min_length=1,
        description="Strategies that migrate, with commas between; by default all.",
    )
    at: Annotated[list[Annotated[float, Field(ge=0, le=1)]], BeforeValidator(listed)] = Field(
        default_factory=list,
        description="The share of a slice at which to migrate, such as 0.5; by default the seed draws one.",
    )
    seed: int = Field(default=1, description="The first seed.")
    seeds: int = Field(default=1, ge=1, description="The number of seeds.")
    mutant: Mutant = None


def _length(request: Request, options: SimulateOptions) -> int:
    """The length of a slice, in chronons."""
    window = max(one.length for one in plan_inputs(request.plan(options.plan), request.study.streams))
    if options.slice is None:
        return WINDOWS * window
    length = request.chronons("slice", options.slice)
    if length <= window:
        raise request.error(
            "slice",
            f"found {options.slice}, expected more than the longest window, "
            f"{request.study.clock.show_duration(window)}: a migration may take as long",
        )
    return length


def _grid(request: Request, options: SimulateOptions) -> RunGrid:
    require_names(request, "strategies", options.strategies, STRATEGIES)
    plan = request.plan(options.plan)
    files = [Path(request.folder / one) for one in options.to]
    return grid_of(
        request.study,
        plan,
        targets(request.study, plan, files),
        strategies=tuple(options.strategies),
        seeds=range(options.seed, options.seed + options.seeds),
        at=tuple(options.at),
        mutant=options.mutant,
    )


def _check(request: Request, options: SimulateOptions) -> None:
    _length(request, options)
    _grid(request, options)


def _depends(request: Request, options: SimulateOptions) -> Any:
    grid = _grid(request, options)
    plans = [dumps(plan) for plan in (grid.plan, *(target.plan for target in grid.targets))]
    return [request.study.since, request.study.until, *plans, repr(units_in_use())]


def _run(work: Work, options: SimulateOptions) -> tuple[Simulated, Outcome]:
    from midstream.scenarios.stages.simulate.stage import simulate

    grid = _grid(work.request, options)
    recording = work.recording
    work.tell("running slices")
    result = simulate(recording, work.study, grid, _length(work.request, options), options.slices)
    return result, Outcome(_summary(work.study, grid, result), {}, work.elements, len(result.runs))


def _summary(study: Study, grid: RunGrid, found: Simulated) -> Summary:
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
        "costs": None if found.profile is None else json.loads(found.profile.dumps()),
    }


def _write(result: Simulated, outcome: Outcome, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from midstream.scenarios.spark.writing import new_folder, write_json
    from midstream.scenarios.stages.simulate import jobs

    with new_folder(folder / RUNS) as place:
        runs = pa.Table.from_pylist([asdict(run) for run in result.runs], schema=jobs.RUNS)
        pq.write_table(runs, place / "runs.parquet")
    (folder / COSTS).unlink(missing_ok=True)
    if result.profile is not None:
        write_file(folder / COSTS, result.profile.dumps())
    write_json(outcome.summary, folder / SUMMARY)


def _tell(study: Study, outcome: Outcome) -> Report:
    clock, summary = study.clock, outcome.summary
    if not summary["slices"]:
        return Report(["The streams hold no elements."])
    wrong = [
        f"In the slice from {clock.show(run['slice'])}, seed {run['seed']}, moving at "
        f"{clock.show(run['at'])} to {run['to']} by {run['strategy']} gives another output."
        for run in summary["wrong"]
    ]
    empty = f", of which {summary['empty']:,} are empty," if summary["empty"] else ""
    facts = [
        f"On {len(summary['slices']):,} slices of {clock.show_duration(summary['slice'])}{empty} the engine "
        f"ran {summary['runs']:,} times with a migration.",
        *(wrong or ["Each run gave the output of the plan that stays."]),
    ]
    if summary["costs"] is not None:
        facts.append(
            f"{COSTS} holds cost variables of these machines; on slices without a part in them the median "
            f"error is {summary['costs']['error']:.0%}."
        )
    table = Table(
        "Migrations on slices",
        (
            "to", "by", "moved", "unfinished", "refused", "failed", "duration", "state", "gap", "without",
            "time",
        ),
        [_row(clock, one) for one in summary["totals"]],
        2,
        "State and time are multiples of those of the plan that stays; time depends on the machine. Gap: the "
        "longest time without a result during a migration, and without one.",
    )  # fmt: skip
    return Report(facts, (), [table] if table.rows else [], holds=not wrong)


def _row(clock: Clock, total: Summary) -> tuple[str, ...]:
    """The row of a plan and a strategy."""

    def lasting(chronons: float | None) -> str:
        return "–" if chronons is None else clock.show_duration(round(chronons))

    def times(ratio: float | None) -> str:
        return "–" if ratio is None else f"{ratio:.2f}"

    return (
        total["to"],
        total["strategy"],
        *(f"{total[outcome]:,}" for outcome in ("moved", "unfinished", "refused", "failed")),
        lasting(total["duration"]),
        times(total["held"]),
        lasting(total["gap"]),
        lasting(total["gap_stayed"]),
        times(total["cpu"]),
    )


STAGE = Stage(
    NAME,
    SimulateOptions,
    _run,
    _tell,
    _write,
    files=(RUNS, COSTS, SUMMARY),
    reads=("plan", "to"),
    depends=_depends,
    check=_check,
    after=("ingest",),
    asks=STREAMS,
    help="""Migrate the real engine on slices of recorded streams, and compare with the plan that stays.

    Reports how long migrations take, what they hold, and what operators cost on these machines. A folder for
    --output gets all runs as Parquet, the summary as simulate.json, and the cost variables as costs.json.
    Exit status 1 where a run gives another output than the plan that stays.
    """,
    examples=(
        "midstream study simulate nycflights13 --data recordings --slice 1d --slices 20 --output found",
        "midstream study simulate query.sql --slice 6h --to plan.json --strategies genmig,moving-states",
    ),
)
