"""The stage that replays policies, and recommends settings of the autopilot."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.io.new_file import write_file
from midstream.migration.strategies import find_strategy
from midstream.optimizer.cost.objective import objective_of
from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.serialise import dumps
from midstream.plans.values.errors import ArgumentError, MigrationRefused, StatisticsError
from midstream.scenarios.reports.contents import Picture, Report, Table
from midstream.scenarios.stages.base.advice import advice_from, compared
from midstream.scenarios.stages.base.options import Options, PlanFile
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.stages.base.stage import STREAMS, Outcome, Stage, Work
from midstream.scenarios.stages.base.summaries import Summary, bucket_facts, frame
from midstream.scenarios.stages.policies.grid import grid_of
from midstream.scenarios.streams.recorded.declaration import Study

if TYPE_CHECKING:
    from midstream.autopilot.settings import Settings
    from midstream.scenarios.recordings.recording import Recording
    from midstream.scenarios.stages.policies.stage import PolicyComparison

NAME = "policies"

VERSION = 2
"""The version of the summary; the first had no advice."""

SUMMARY, COURSES, PLAN, AUTOPILOT = "policies.json", "courses.json", "plan.json", "autopilot.json"
"""Files with the costs of policies, the plans' results over time, and the recommended plan and settings."""

SETTINGS = f"with the settings in {AUTOPILOT}"
"""Tells people where the settings of the autopilot are."""


class PoliciesOptions(Options):
    """Options of a replay of policies."""

    plan: PlanFile = None
    grid: Annotated[
        str, BeforeValidator(lambda value: ",".join(map(str, value)) if isinstance(value, list) else value)
    ] = Field(
        default="careful,balanced,eager",
        description="Settings of the autopilot to try: some of careful, balanced, eager; or a JSON file with "
        "settings by name, or with lists of values, of which all combinations are tried.",
    )
    strategy: str = Field(
        default="auto", description="The strategy that migrates: genmig, moving-states, or auto."
    )
    objective: str = Field(
        default="intermediate",
        description="The cost that the autopilot compares plans by, as in `midstream optimize`.",
    )
    charts: list[Annotated[int, Field(ge=1)]] | None = Field(
        default=None, description="The number of parts into which charts cut costs; several are tried."
    )
    repeat: str | None = Field(
        default=None, description="The time after which the best order is repeated; by default a window."
    )
    confirm: bool = Field(
        default=False,
        description="Also advise by the earlier half alone, and run the engine over the later half that way.",
    )


def _grid(request: Request, options: PoliciesOptions) -> dict[str, Settings]:
    place = request.folder / options.grid
    return grid_of(str(place) if Path(options.grid).suffix == ".json" else options.grid)


def _period(request: Request, options: PoliciesOptions) -> int | None:
    return None if options.repeat is None else request.chronons("repeat", options.repeat)


def _check(request: Request, options: PoliciesOptions) -> None:
    request.plan(options.plan)
    _period(request, options)
    for name, check in (
        ("grid", lambda: _grid(request, options)),
        ("strategy", lambda: find_strategy(options.strategy)),
        ("objective", lambda: objective_of(options.objective)),
    ):
        with request.errors_of(name, ArgumentError, MigrationRefused, StatisticsError):
            check()


def _depends(request: Request, options: PoliciesOptions) -> Any:
    grid = {name: one.dumps() for name, one in _grid(request, options).items()}
    plan = dumps(request.plan(options.plan))
    return [request.study.since, request.study.until, plan, grid, repr(units_in_use())]


def _run(work: Work, options: PoliciesOptions) -> tuple[PolicyComparison, Outcome]:
    from midstream.scenarios.stages.policies.confirming import confirm
    from midstream.scenarios.stages.policies.stage import CHARTS, policies

    plan, objective = work.request.plan(options.plan), objective_of(options.objective)

    def compare(recording: Recording, study: Study) -> PolicyComparison:
        return policies(
            recording,
            study,
            plan,
            _grid(work.request, options),
            objective=objective,
            strategy=options.strategy,
            charts=options.charts or CHARTS,
            period=_period(work.request, options),
        )

    recording = work.recording
    work.tell("replaying")
    result = compare(recording, work.study)
    summary = {**_summary(work.study, result), "confirmation": None}
    if options.confirm:
        work.tell("confirming")
        told = confirm(recording, work.study, plan, compare, objective, options.strategy)
        summary["confirmation"] = told.as_dict()
        summary["machine_dependent"] = ["confirmation.runs.seconds"]
    return result, Outcome(summary, {}, work.elements, len(result.judged))


def _summary(study: Study, found: PolicyComparison) -> dict[str, Any]:
    """The cost of each policy, and the recommended settings, as plain data."""
    courses = found.courses
    return {
        "version": VERSION,
        **frame(study, courses.starts),
        "window": courses.window,
        "cost_unit": courses.unit,
        "strategies": list(found.strategies),
        "orders": list(courses.labels),
        "contested": sum(map(courses.is_contested, range(len(courses.starts)))),
        "hindsight": courses.hindsight,
        "policies": [asdict(one) for one in found.judged],
        "front": [one.policy for one in found.front],
        "advice": found.advice.as_dict(),
        "recommended": found.recommended,
        "settings": {name: asdict(one) for name, one in found.grid.items()},
        "moves": {
            name: [
                {"at": move.at, "to": courses.labels[move.to], "strategy": move.strategy} for move in moves
            ]
            for name, moves in found.flights.items()
        },
    }


def _write(result: PolicyComparison, outcome: Outcome, folder: Path) -> None:
    from midstream.scenarios.spark.writing import write_json

    write_file(folder / COURSES, result.courses.dumps() + "\n")
    write_file(folder / PLAN, dumps(result.plan))
    write_file(folder / AUTOPILOT, result.settings.dumps() + "\n")
    write_json(outcome.summary, folder / SUMMARY)


def _tell(study: Study, outcome: Outcome) -> Report:
    summary = outcome.summary
    table = Table(
        f"Costs of policies, {summary['cost_unit']} of all plans that ran",
        ("policy", "total", "× best\nfixed", "moves", "switches", "fidelity", "regret", "time, ms"),
        [_row(one, summary["front"]) for one in summary["policies"]],
        note="* marks policies that no other one beats in both cost and moves. Time is processor time by the "
        "cost model, without deciding and what it takes to begin a migration.",
    )
    facts = [
        *bucket_facts(study, summary),
        f"Migrations are made by {' or '.join(summary['strategies'])}. Orders differ in "
        f"{summary['contested']:,} of {summary['buckets']:,} buckets.",
    ]
    advice = advice_from(summary["advice"]).lines(SETTINGS)
    tables, confirmation = [table], summary["confirmation"]
    if confirmation is not None and advice:
        advice.append(_confirmed(study, summary["advice"]["recommended"], confirmation))
        tables.append(_runs(study, confirmation))
    is_equal = confirmation is None or confirmation["is_equal"]
    if not is_equal:
        facts.append("In the later half the runs gave different outputs, which is a fault of Midstream.")
    return Report(facts, advice, tables, [_picture(summary)], holds=is_equal)


def _confirmed(study: Study, recommended: str, found: Summary) -> str:
    """One sentence: if the later half confirms the advice of the earlier half."""
    runs = {run["name"]: run for run in found["runs"]}
    advised, rival = runs[found["advised"]], runs[found["rival"]]
    answer = {
        (True, True): "Confirmed in processor time and in results",
        (True, False): "Confirmed in processor time, but not in results",
        (False, True): "Confirmed in results, but not in processor time",
        (False, False): "Not confirmed",
    }[found["in_time"], found["in_results"]]
    same = "the same" if found["advised"] == recommended else found["advised"]
    time = compared(advised["cost"], rival["cost"], "more than", "less than")
    results = compared(advised["results"], rival["results"], "more", "fewer")
    return (
        f"{answer}: the half before {study.clock.show(found['middle'])} alone advises {same}. Run over the "
        f"later half, {advised['name']} takes {time} {rival['name']} by counted steps, with "
        f"{advised['results']:,} intermediate results, {results}."
    )


def _runs(study: Study, found: Summary) -> Table:
    """The runs of the engine over the later half."""
    rows = [
        (
            f"{run['name']}{', as advised' if run['name'] == found['advised'] else ''}",
            f"{run['results']:,}",
            f"{run['microseconds'] / 1000:,.1f}",
            f"{run['moves']:,}",
            f"{run['seconds'] * 1000:,.1f}",
        )
        for run in found["runs"]
    ]
    return Table(
        f"The engine's runs from {study.clock.show(found['middle'])} on, after advice from before",
        ("way", "intermediate\nresults", "counted\nsteps, ms", "moves", "measured,\nms"),
        rows,
        note="Counted steps are elements and results of operators above windows, priced by the cost "
        "variables in use. What is measured is all processor time of the engine; it depends on this machine, "
        "and decides nothing.",
    )


def _row(one: dict[str, Any], front: list[str]) -> tuple[str, ...]:
    """The row of a policy."""
    return (
        f"{one['policy']}{' *' if one['policy'] in front else ''}",
        f"{one['total']:,.0f}",
        _share(one["of_fixed"], "{:.3f}"),
        f"{one['moves']:,}",
        f"{one['switches']:,}",
        _share(one["fidelity"], "{:.0%}"),
        f"{one['regret']:,.0f}",
        _share(one["microseconds"] and one["microseconds"] / 1000, "{:,.1f}"),
    )


def _share(number: float | None, form: str) -> str:
    return "–" if number is None else form.format(number)


def _picture(summary: dict[str, Any]) -> Picture:
    from midstream.scenarios.stages.policies import pictures

    words = [
        f"{one['policy']}: {one['total']:,.0f} {summary['cost_unit']}, {one['moves']:,} migrations."
        for one in summary["policies"]
    ]
    return Picture(
        "policies",
        "Costs of policies",
        "Each point is a policy: the cost of all plans that ran, over the number of migrations. The line "
        "joins those that no other one beats in both.",
        words,
        partial(pictures.policies, summary),
    )


STAGE = Stage(
    NAME,
    PoliciesOptions,
    _run,
    _tell,
    _write,
    files=(SUMMARY, COURSES, PLAN, AUTOPILOT),
    pictures=("policies",),
    reads=("plan", "grid"),
    depends=_depends,
    check=_check,
    after=("ingest",),
    # Costs have buckets of their own.
    asks=STREAMS,
    help="""Costs of policies of migration on recorded streams, and settings of the autopilot to recommend.

    Replays the engine's autopilot with several settings beside each fixed order, charts, and the cheapest
    course in hindsight. A folder for --output gets policies.json, the plans' results over time as
    courses.json, the recommended plan as plan.json, and the recommended settings as autopilot.json, for
    `midstream run --autopilot`.
    """,
    examples=(
        "midstream study policies nycflights13 --data recordings --output found",
        "midstream study policies query.sql --grid grid.json --strategy genmig --until 2013-07-01",
        "midstream study policies query.sql --data streams --confirm",
    ),
)
