"""Policies of changing plans, replayed over recorded streams and judged.

The engine's own autopilot is replayed without an engine, on the statistics of each cell of time that it
would have received; the costs of plans are counted. So a replay of a year takes minutes, and no result is
made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame

from midstream.autopilot.accounts import counts
from midstream.autopilot.costs.bill import Bill, Move
from midstream.autopilot.costs.series import CostSeries
from midstream.autopilot.settings import Settings
from midstream.optimizer import INTERMEDIATE, Objective, enumerate_plans
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.errors import ArgumentError, EnumerationLimit, PlanError
from midstream.scenarios.recordings.counted_joins import countable
from midstream.scenarios.recordings.inner_joins import InnerJoin, different
from midstream.scenarios.recordings.orders import group_by_order
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.stages.base.advice import Advice, Alternative
from midstream.scenarios.stages.policies.counting import count_courses
from midstream.scenarios.stages.policies.judging import (
    PolicyBill,
    autopilot_policy,
    fixed_policy,
    front,
    judge,
    recommended,
)
from midstream.scenarios.stages.policies.modelling import model_courses
from midstream.scenarios.stages.policies.occupied import Occupied, chronons
from midstream.scenarios.stages.policies.replayed_autopilot import ReplayedAutopilot, strategies_between
from midstream.scenarios.stages.policies.replays_on_spark import replay_autopilots
from midstream.scenarios.stages.policies.splits import count_splits, occupied
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import PlanInput, plan_inputs

CHARTS = (4, 10)
"""The default numbers of parts into which charts divide the costs of plans."""

LIMIT = 20_000
"""The most plans that are made; they stand for few orders."""

MOST = 32
"""The most orders among which the clairvoyant chooses; its work grows with the square of their number."""


@dataclass(frozen=True)
class PolicyComparison:
    """The costs of policies, and the recommended settings.

    courses       each plan's intermediate results over time
    processing    each plan's processor time over time
    grid          the settings that were tried, by name
    flights       by name, the moves of an autopilot with these settings
    judged        all policies
    front         those that no other one beats by costing less with no more moves
    least         the clairvoyant's bill
    recommended   the name of the settings to take
    strategies    those that made the migrations
    """

    courses: CostSeries
    processing: CostSeries
    grid: Mapping[str, Settings]
    flights: Mapping[str, tuple[Move, ...]]
    judged: tuple[PolicyBill, ...]
    front: tuple[PolicyBill, ...]
    least: Bill
    recommended: str
    strategies: tuple[str, ...]

    @property
    def settings(self) -> Settings:
        """The recommended settings, if the autopilot is to decide."""
        return self.grid[self.recommended]

    @cached_property
    def advice(self) -> Advice:
        """The way to run the query: an order that stays, or the autopilot with the recommended settings."""
        flown = autopilot_policy(self.recommended)
        fixed = {fixed_policy(label): label for label in self.courses.labels}
        found = {one.policy: one for one in self.judged if one.microseconds is not None}
        alternatives = [
            Alternative(label, found[policy].microseconds or 0.0, found[policy].total, is_given=not number)
            for number, (policy, label) in enumerate(fixed.items())
        ]
        pilot = found[flown]
        alternatives.append(Alternative(flown, pilot.microseconds or 0.0, pilot.total, pilot.moves))
        return Advice(tuple(alternatives))

    @property
    def plan(self) -> Plan:
        """The recommended order to begin with; that is the one as written where the autopilot decides."""
        chosen = self.advice.chosen
        return self.courses.plans[0 if chosen.changes else self.courses.labels.index(chosen.name)]


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
) -> PolicyComparison:
    """Replay all policies from a plan on.

    Costs of plans are counted where their intermediate results are those of joins of two inputs, as in all
    orders of three streams, in buckets of the shortest time from look to look. Otherwise the cost model
    estimates them, window by window. The recording's buckets do not matter.

    objective   by which the autopilot's optimizer compares plans
    strategy    how migrations are made: `auto`, or the name of a strategy
    charts      the numbers of parts into which charts divide the costs of plans
    period      the chronons after which the policy that repeats the last best plan looks; by default a window

    Cost     See `replay_autopilots` and `count_courses`.
    Raises   PlanError where the plan does not fit the streams, or has too many equivalent ones;
             ArgumentError where there is but one order, no element, or no setting.
    """
    plan = logical_plan(plan)
    inputs = plan_inputs(plan, study.streams)
    if not recording.starts:
        raise ArgumentError(f"policies: found no element of study {study.name}, expected some to replay")
    if not grid:
        raise ArgumentError("policies: found no settings, expected one or more")
    known = _all_plans(plan)
    orders = _orders(known, inputs)
    if len(orders.plans) < 2:
        raise ArgumentError(
            "policies: found one order of joins only, expected several, as a join of three streams has"
        )
    looks = [ReplayedAutopilot(plan, settings, objective, strategy).looks for settings in grid.values()]
    steps, window = sorted({one.step for one in looks}), looks[0].window
    with ExitStack() as stack:
        grids: dict[int, Occupied] = {}
        joins: tuple[InnerJoin, ...] = ()
        counted: DataFrame | None = None
        if orders.joins is not None:
            grids, joins = occupied(recording, inputs, steps), different(orders.joins)
            counted = count_splits(recording, study, joins, inputs, chronons(grids)).persist()
            stack.callback(counted.unpersist)
        results = None if counted is None or not counts(objective) else (joins, counted)
        wishes = replay_autopilots(recording, study, plan, inputs, grid, objective, strategy, results)
        # An autopilot may find plans that enumeration does not.
        orders = _orders([*known, *dict.fromkeys(wish.to for one in wishes.values() for wish in one)], inputs)
        processing, courses = model_courses(recording, study, orders.plans, orders.labels, window)
        if orders.joins is not None:
            if not {*joins}.issuperset(needed := different(orders.joins)):
                joins = needed
                counted = count_splits(recording, study, joins, inputs, chronons(grids))
            courses = count_courses(
                recording, orders.plans, orders.labels, orders.joins, window, grids, joins, counted
            )
    moves = {
        name: tuple(
            Move(wish.at, orders.numbers[wish.to], wish.strategy, wish.until_split) for wish in of_one
        )
        for name, of_one in wishes.items()
    }
    courses, processing, moves = _shortened(courses, processing, moves)
    strategies = strategies_between(courses.plans, strategy)
    buckets = max(1, (window if period is None else period) // courses.bucket)
    judged, least = judge(courses, moves, strategies, buckets, charts, processing)
    best = recommended(judged, grid)
    return PolicyComparison(
        courses, processing, grid, moves, judged, tuple(front(judged)), least, best, strategies
    )


@dataclass(frozen=True)
class _Orders:
    """Plans, each of which stands for those that cost the same.

    joins     their joins below others; None where the intermediate results of one cannot be counted
    numbers   by plan, of all plans, the one that stands for it
    """

    plans: tuple[Plan, ...]
    labels: tuple[str, ...]
    joins: tuple[tuple[InnerJoin, ...], ...] | None
    numbers: Mapping[Plan, int]


def _all_plans(plan: Plan) -> list[Plan]:
    """All plans that the rules make of a plan, the given one first."""
    try:
        return list(enumerate_plans(plan, limit=LIMIT))
    except EnumerationLimit as error:
        raise PlanError(f"policies: {error}; found a query with too many plans to replay") from error


def _orders(plans: Sequence[Plan], inputs: Sequence[PlanInput]) -> _Orders:
    """Plans by the joins below others, where these can be counted, else by their order."""
    orders = group_by_order(plans)
    first = [plans[order.plans[0]] for order in orders]
    joins = countable(first, inputs)
    keys: Sequence[object] = joins if joins is not None else range(len(orders))
    kept: dict[object, int] = {}
    for i, key in enumerate(keys):
        kept.setdefault(key, i)
    place = {key: number for number, key in enumerate(kept)}
    return _Orders(
        tuple(first[i] for i in kept.values()),
        tuple(orders[i].label for i in kept.values()),
        None if joins is None else tuple(joins[i] for i in kept.values()),
        {plans[i]: place[key] for order, key in zip(orders, keys, strict=True) for i in order.plans},
    )


def _shortened(
    courses: CostSeries, processing: CostSeries, moves: Mapping[str, tuple[Move, ...]]
) -> tuple[CostSeries, CostSeries, dict[str, tuple[Move, ...]]]:
    """The costs and moves of fewer plans: the given one, those that an autopilot ran, and the cheapest."""
    numbers = range(len(courses.plans))
    cheapest = [
        number
        for both in zip(
            sorted(numbers, key=processing.totals.__getitem__),
            sorted(numbers, key=courses.totals.__getitem__),
            strict=True,
        )
        for number in both
    ]
    ran = [move.to for of_one in moves.values() for move in of_one]
    kept = list(dict.fromkeys([0, *ran, *cheapest]))[: max(MOST, len({0, *ran}))]
    if len(kept) == len(courses.plans):
        return courses, processing, dict(moves)
    kept.sort()
    place = {number: i for i, number in enumerate(kept)}
    return (
        courses.of(kept),
        processing.of(kept),
        {name: tuple(replace(move, to=place[move.to]) for move in of_one) for name, of_one in moves.items()},
    )
