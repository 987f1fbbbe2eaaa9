"""The stage that migrates the real engine on slices of the streams, and measures costs of operators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.migration.strategies import STRATEGIES
from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.serialise import dumps
from midstream.scenarios.studies.contents import Report, Table
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.inputs import plan_inputs
from midstream.scenarios.studies.run.request import Request
from midstream.scenarios.studies.run.stage import Options, Outcome, PlanFile, Stage, Work, listed
from midstream.scenarios.studies.simulate.making import grid_of, targets

if TYPE_CHECKING:
    from midstream.scenarios.studies.simulate.grid import Grid
    from midstream.scenarios.studies.simulate.stage import Simulated

NAME = "simulate"

WINDOWS = 6
"""The default length of a slice, as a multiple of the longest window."""


class SimulateOptions(Options):
    """Options of a simulation."""

    plan: PlanFile = None
    to: Annotated[list[str], BeforeValidator(listed)] = Field(
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
    strategies: Annotated[list[str], BeforeValidator(listed)] = Field(
        default=list(STRATEGIES), min_length=1, description="Strategies that migrate; by default all."
    )
    at: Annotated[list[Annotated[float, Field(ge=0, le=1)]], BeforeValidator(listed)] = Field(
        default_factory=list,
        description="The share of a slice at which to migrate, such as 0.5; by default the seed draws one.",
    )
    seed: int = Field(default=1, description="The first seed.")
    seeds: int = Field(default=1, ge=1, description="The number of seeds.")


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


def _grid(request: Request, options: SimulateOptions) -> Grid:
    if unknown := [one for one in options.strategies if one not in STRATEGIES]:
        raise request.error("strategies", f"found {unknown[0]}, expected some of {', '.join(STRATEGIES)}")
    plan = request.plan(options.plan)
    files = [Path(request.folder / one) for one in options.to]
    return grid_of(
        request.study,
        plan,
        targets(request.study, plan, files),
        strategies=tuple(dict.fromkeys(options.strategies)),
        seeds=range(options.seed, options.seed + options.seeds),
        at=tuple(options.at),
    )


def _check(request: Request, options: SimulateOptions) -> None:
    _length(request, options)
    _grid(request, options)


def _depends(request: Request, options: SimulateOptions) -> Any:
    grid = _grid(request, options)
    plans = [dumps(plan) for plan in (grid.plan, *(target.plan for target in grid.targets))]
    return [request.study.since, request.study.until, *plans, repr(units_in_use())]


def _run(work: Work, options: SimulateOptions) -> tuple[Simulated, Outcome]:
    from midstream.scenarios.studies.simulate.report import simulate_summary
    from midstream.scenarios.studies.simulate.stage import simulate

    grid = _grid(work.request, options)
    recording = work.recording
    work.tell("running slices")
    result = simulate(recording, work.study, grid, _length(work.request, options), options.slices)
    summary = simulate_summary(work.study, grid, result)
    return result, Outcome(summary, {}, work.elements, len(result.runs))


def _write(result: Simulated, outcome: Outcome, folder: Path) -> None:
    from midstream.scenarios.studies.simulate.report import write_simulate

    write_simulate(result, outcome.summary, folder)


def _tell(study: Study, outcome: Outcome) -> Report:
    from midstream.scenarios.studies.simulate.report import total_rows

    clock, summary = study.clock, outcome.summary
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
    return Report(facts, (), [table] if rows else [], holds=not wrong)


STAGE = Stage(NAME, SimulateOptions, _run, _tell, _write, depends=_depends, after=("ingest",), check=_check)
