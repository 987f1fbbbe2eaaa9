"""What it would have cost to change plans over recorded streams: policies, replayed and judged.

The engine's own autopilot flies over the recorded streams without an engine, by what it would have been told
of each cell of time; what plans cost is counted. So a replay of a year takes minutes, and no result is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from midstream.migration.autopilot.settings import Settings
from midstream.optimizer import INTERMEDIATE, Objective, enumerate_plans
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.errors import ArgumentError, EnumerationLimit, PlanError
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.inputs import PlanInput, plan_inputs
from midstream.scenarios.studies.orders import group_by_order
from midstream.scenarios.studies.policies.bill import Bill, Move
from midstream.scenarios.studies.policies.counting import count_courses, inner_joins_of
from midstream.scenarios.studies.policies.courses import Courses
from midstream.scenarios.studies.policies.flights import fly_all
from midstream.scenarios.studies.policies.flying import Flight, Wish, ways
from midstream.scenarios.studies.policies.inner_joins import InnerJoin
from midstream.scenarios.studies.policies.judging import Judged, front, judge, recommended
from midstream.scenarios.studies.recording import Recording

CHARTS = (4, 10)
"""In so many parts charts cut what plans cost, unless told otherwise."""

LIMIT = 20_000
"""So many plans are looked at; they stand for few orders."""


@dataclass(frozen=True)
class Found:
    """What policies cost.

    courses       what each plan costs over time
    grid          the settings that were tried, by name
    flights       by name, the moves of an autopilot with these settings
    judged        all policies
    front         those beside which none costs less with no more moves
    least         the clairvoyant's bill
    recommended   the name of the settings that cost least
    strategies    by which migrations were made
    """

    courses: Courses
    grid: Mapping[str, Settings]
    flights: Mapping[str, tuple[Move, ...]]
    judged: tuple[Judged, ...]
    front: tuple[Judged, ...]
    least: Bill
    recommended: str
    strategies: tuple[str, ...]

    @property
    def settings(self) -> Settings:
        """The recommended ones."""
        return self.grid[self.recommended]


def policies(
    recording: Recording,
    study: Study,
    plan: Plan,
    grid: Mapping[str, Settings],
    *,
    objective: Objective = INTERMEDIATE,
    strategy: str = "auto",
    charts: Sequence[int] = CHARTS,
    period: int | None = None,
) -> Found:
    """Replay all policies from a plan on.

    The bucket of courses is the shortest time from look to look; the recording's does not matter.

    objective   by which the autopilot's optimizer compares plans
    strategy    how migrations are made: `auto`, or the name of a strategy
    charts      in so many parts charts cut what plans cost
    period      after so many chronons the policy that repeats what was best looks; by default a window

    Cost     See `fly_all` and `count_courses`.
    Raises   PlanError where the plan does not fit the streams, or what its orders cost cannot be counted;
             ArgumentError where there is but one order, no element, or no setting.
    """
    plan = logical_plan(plan)
    inputs = plan_inputs(plan, study.streams)
    if not recording.starts:
        raise ArgumentError(f"policies: found no element of study {study.name}, expected some to replay")
    if not grid:
        raise ArgumentError("policies: found no settings, expected one or more")
    plans, labels = _orders(plan, inputs)
    flights = [Flight(plan, settings, objective, strategy) for settings in grid.values()]
    step, window = min(flight.step for flight in flights), flights[0].window
    wishes = fly_all(recording, study, plan, inputs, grid, objective, strategy)
    plans, labels = _with_found(plans, labels, wishes, inputs)
    courses = count_courses(recording, study, plans, labels, inputs, window, step)
    numbers = {joins: number for number, joins in enumerate(inner_joins_of(plans, inputs))}
    moves = {name: _moves(found, numbers, inputs) for name, found in wishes.items()}
    strategies = ways(plans, strategy)
    buckets = max(1, (window if period is None else period) // step)
    judged, least = judge(courses, moves, strategies, buckets, charts)
    best = recommended(judged, list(grid))
    return Found(courses, grid, moves, judged, tuple(front(judged)), least, best, strategies)


def _orders(plan: Plan, inputs: Sequence[PlanInput]) -> tuple[list[Plan], list[str]]:
    """A plan for each way to join that the rules lead to, the given one first."""
    try:
        plans = enumerate_plans(plan, limit=LIMIT)
    except EnumerationLimit as error:
        raise PlanError(f"policies: {error}; found a query with too many plans to replay") from error
    chosen: dict[tuple[InnerJoin, ...], tuple[Plan, str]] = {}
    for order in group_by_order(plans):
        one = plans[order.plans[0]]
        (joins,) = inner_joins_of([one], inputs)
        chosen.setdefault(joins, (one, order.label))
    if len(chosen) < 2:
        raise ArgumentError(
            "policies: found one order of joins only, expected several, as a join of three streams has"
        )
    return [one for one, _ in chosen.values()], [label for _, label in chosen.values()]


def _with_found(
    plans: Sequence[Plan],
    labels: Sequence[str],
    wishes: Mapping[str, Sequence[Wish]],
    inputs: Sequence[PlanInput],
) -> tuple[list[Plan], list[str]]:
    """Also those plans that an autopilot has found, and enumeration has not."""
    found = list(dict.fromkeys(wish.to for one in wishes.values() for wish in one))
    known = dict(zip(inner_joins_of(plans, inputs), zip(plans, labels, strict=True), strict=True))
    for one, joins in zip(found, inner_joins_of(found, inputs), strict=True):
        known.setdefault(joins, (one, f"found {len(known) - len(plans) + 1}"))
    return [one for one, _ in known.values()], [label for _, label in known.values()]


def _moves(
    wishes: Sequence[Wish], numbers: Mapping[tuple[InnerJoin, ...], int], inputs: Sequence[PlanInput]
) -> tuple[Move, ...]:
    to = [numbers[joins] for joins in inner_joins_of([wish.to for wish in wishes], inputs)]
    return tuple(
        Move(wish.at, number, wish.strategy, wish.until_split)
        for wish, number in zip(wishes, to, strict=True)
    )
