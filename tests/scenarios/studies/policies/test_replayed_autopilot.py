"""An autopilot without an engine decides what the engine's does, and never knows what is still to come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.autopilot.costs.bill import Move, bill, clairvoyant, split_chronon
from midstream.autopilot.costs.series import CostSeries, Counts
from midstream.autopilot.settings import BALANCED, CAREFUL, EAGER, Settings
from midstream.autopilot.watching import EngineAutopilot
from midstream.engine import Engine
from midstream.operators.engine.measuring.statistics_collector import Collector
from midstream.optimizer import INTERMEDIATE
from midstream.optimizer.online.requirements import requirements
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.values.errors import ArgumentError, MigrationRefused
from midstream.scenarios.recordings.inner_joins import InnerJoin, different, inner_joins
from midstream.scenarios.stages.policies.occupied import Occupied
from midstream.scenarios.stages.policies.replayed_autopilot import (
    Instant,
    ReplayedAutopilot,
    ReplayedMigration,
    Results,
    replay_autopilot,
    strategies_between,
)
from midstream.scenarios.trials.policies.case import Case, Key, one_key
from midstream.scenarios.trials.policies.generated import FEW, MANY, Phase, generated
from midstream.scenarios.trials.policies.on_engine import plan_of

Begun = tuple[int, str, object]
"""When a migration began, what was weighed for it, and the joins below the last one of the plan that it went
to."""

SHAPES = {
    "flips": [Phase(8, values=(FEW, MANY)), Phase(8, values=(MANY, FEW)), Phase(8, values=(FEW, MANY))],
    "burst, then next to nothing": [
        Phase(6, (20, 20, 100)),
        Phase(4, (0.2, 0.2, 0.2)),
        Phase(10, (100, 20, 20), (MANY, FEW)),
    ],
    # More than 40 elements in a cell, of which a sample is drawn.
    "many": [Phase(3, (500, 500, 100), (40, 40)), Phase(3, (500, 100, 500), (40, 40))],
}


@pytest.mark.slow
@pytest.mark.parametrize("is_counted", [False, True])
@pytest.mark.parametrize("strategy", ["genmig", "moving-states", "auto"])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_decides_what_the_engine_decides_and_costs_the_same(
    shape: str, strategy: str, is_counted: bool
) -> None:
    case = generated(shape, SHAPES[shape], 1)
    for settings in (CAREFUL, EAGER) if is_counted else (BALANCED, EAGER):
        moves = agreed(case, settings, strategy, is_counted)
        assert moves or shape != "flips" or settings is CAREFUL


ELEMENTS = st.lists(
    st.tuples(st.integers(0, 90) | st.integers(300, 330), st.sampled_from("abc"), st.integers(0, 1)),
    max_size=60,
)


@pytest.mark.slow
@given(
    ELEMENTS,
    st.sampled_from(["genmig", "moving-states", "auto"]),
    st.integers(1, 9),
    st.sampled_from([0.0, 9.0]),
    st.booleans(),
)
@example(
    [(0, "a", 0)] * 5 + [(42, "c", 0), (0, "b", 0), (71, "a", 0), (88, "a", 0)],
    "moving-states",
    1,
    9.0,
    False,
)
@example([(0, "b", 0), (10, "a", 0)], "auto", 1, 0.0, False)
def test_it_decides_what_the_engine_decides_on_any_streams(
    elements: list[tuple[int, str, int]], strategy: str, looks: int, guard: float, is_counted: bool
) -> None:
    settings = Settings(looks=looks, doubt=0.0, least_saving=0.0, guard=guard)
    agreed(made(elements), settings, strategy, is_counted)


@given(ELEMENTS, st.sampled_from(["genmig", "auto"]), st.integers(1, 9))
@example([(0, "a", 0)] * 6 + [(1, "b", 0), (10, "a", 0)], "genmig", 1)
def test_the_clairvoyant_is_billed_by_the_same_counts(
    elements: list[tuple[int, str, int]], strategy: str, looks: int
) -> None:
    case, settings = made(elements), Settings(looks=looks, doubt=0.0, least_saving=0.0, guard=9.0)
    plan, begun = replay_of(case, settings, strategy, is_counted=True)
    courses = courses_of(case, ReplayedAutopilot(plan, settings, INTERMEDIATE).looks.step)
    least = clairvoyant(courses, strategies_between(courses.plans, strategy))
    assert least.total <= billed(case, plan, settings, begun)
    assert least.total <= min(courses.totals)
    assert bill(courses, least.start, [Move(one.at, one.new, one.strategy) for one in least.moves]) == least
    assert CostSeries.loads(courses.dumps()) == courses
    # The order of plans means nothing, and a part of the time has what lies in it.
    turned = courses.of([2, 1, 0])
    assert clairvoyant(turned, strategies_between(courses.plans, strategy)).total == least.total
    middle = courses.starts[len(courses.starts) // 2]
    later = courses.between(middle, courses.end)
    for plan_number, total in enumerate(courses.totals):
        before = courses.spent(plan_number, courses.starts.start, middle)
        assert later.spent(plan_number, middle, courses.end) == total - before


@given(ELEMENTS, st.integers(1, 9))
@example([(0, "b", 0), (10, "a", 0), (10, "b", 0)], 1)
def test_a_move_costs_the_same_by_looks_and_by_arrivals(
    elements: list[tuple[int, str, int]], looks: int
) -> None:
    """Also where the last element ends at the very instant of the look."""
    case = made(elements)
    replayed = ReplayedAutopilot(plan_of(case, case.orders[0]), Settings(looks=looks), INTERMEDIATE)
    courses = courses_of(case, replayed.looks.step)
    for at in courses.starts[1:]:
        if case.first <= at < case.beyond:
            for strategy in ("genmig", "moving-states"):
                moves = [Move(at, 1, strategy)]
                assert bill(courses, 0, moves).total == bill(case.costs, 0, moves).total


@given(st.lists(st.tuples(st.integers(-20, 60), st.integers(1, 12)), max_size=8), st.integers(1, 9))
def test_all_split_times_are_asked_for(elements: list[tuple[int, int]], step: int) -> None:
    """But for those around which nothing starts, and in which nothing is valid."""
    ends: dict[int, int] = {}
    for start, length in elements:
        cell = start // step * step
        ends[cell] = max(start + length, ends.get(cell, start))
    looks, asked = range(-30 // step * step, 90, step), Occupied(step, ends).asked()
    for at, until_split in zip(looks, Occupied(step, ends).lasting(looks, 12), strict=True):
        for strategy in ("genmig", "moving-states"):
            chronon = split_chronon(strategy, at, until_split)
            assert chronon is not None
            if chronon not in asked:
                assert not any(start <= chronon < start + length for start, length in elements)
                assert not any(at - step <= start < at + step for start, _ in elements)


@pytest.mark.slow
@given(past=ELEMENTS, one=ELEMENTS, other=ELEMENTS, looks=st.integers(1, 9))
def test_the_same_past_with_two_futures_gives_the_same_decisions(
    past: list[tuple[int, str, int]],
    one: list[tuple[int, str, int]],
    other: list[tuple[int, str, int]],
    looks: int,
) -> None:
    def before(future: list[tuple[int, str, int]]) -> list[Begun]:
        elements = past + [(time + 340, name, key) for time, name, key in future]
        begun = flown(made(elements), Settings(looks=looks, doubt=0.0), "moving-states")
        return [one for one in begun if one[0] <= 340]

    # Behind the last element nobody looks, so that both futures begin with an element.
    assert before([(0, "a", 0), *one]) == before([(0, "a", 0), *other])


def test_a_query_without_a_window_has_no_looks() -> None:
    with pytest.raises(ArgumentError, match="found a query without a time window"):
        ReplayedAutopilot(stream("s", x="integer").plan(), BALANCED, INTERMEDIATE)


def test_a_strategy_that_is_not_known_is_refused() -> None:
    with pytest.raises(MigrationRefused, match="by-magic"):
        ReplayedAutopilot(stream("s", x="integer").window(9).plan(), BALANCED, INTERMEDIATE, "by-magic")


def test_strategies_between_plans() -> None:
    plans = [plan_of(made([]), order) for order in made([]).orders]
    assert strategies_between(plans, "auto") == ("moving-states", "genmig")
    assert strategies_between(plans, "genmig") == ("genmig",)
    with pytest.raises(ArgumentError, match="no way by which swap moves"):
        strategies_between(plans, "swap")


def made(elements: list[tuple[int, str, int]]) -> Case:
    """A join of three streams that get these elements; the first one is always there."""
    streams: dict[str, list[tuple[int, Key]]] = {"a": [(0, 0)], "b": [], "c": []}
    for time, name, key in sorted(elements):
        streams[name].append((time, key))
    return one_key("made", 10, 20, streams)


def agreed(case: Case, settings: Settings, strategy: str, is_counted: bool) -> list[Begun]:
    """What is begun with and without an engine: the same, and it costs what the engine counts."""
    plan, begun = replay_of(case, settings, strategy, is_counted)
    pilot = in_engine(case, settings, strategy, is_counted)
    found = [(one.at, weighed(one.strategy), joins_of(plan, one.to)) for one in begun]
    assert found == begun_by(plan, pilot)
    assert billed(case, plan, settings, begun) == pilot.summary["query"]["spent"]
    return found


def flown(case: Case, settings: Settings, strategy: str) -> list[Begun]:
    """What an autopilot without an engine begins."""
    plan, begun = replay_of(case, settings, strategy, is_counted=False)
    return [(one.at, weighed(one.strategy), joins_of(plan, one.to)) for one in begun]


def weighed(strategy: str) -> str:
    """What was weighed. Which of GenMig's variants it is depends on what is alive: only an engine knows."""
    return "genmig" if strategy.startswith("genmig") else strategy


def replay_of(
    case: Case, settings: Settings, strategy: str, is_counted: bool
) -> tuple[Plan, list[ReplayedMigration]]:
    """The plan that runs first, and the migrations of a replay."""
    plan = plan_of(case, case.orders[0])
    joins = different(joins_of(plan, plan_of(case, order)) for order in case.orders)
    replayed = ReplayedAutopilot(plan, settings, INTERMEDIATE, strategy, joins if is_counted else None)
    came = list(instants(case, replayed))
    return plan, list(replay_autopilot(replayed, with_results(case, replayed, came) if is_counted else came))


def with_results(case: Case, replayed: ReplayedAutopilot, told: list[Instant]) -> list[Instant]:
    """The same, with what joins gave, counted pair by pair; where nothing has changed, nothing is told."""
    assert replayed.joins is not None
    of_joins = {joins_of(replayed.plan, plan_of(case, order)): i for i, order in enumerate(case.orders)}
    orders = [of_joins[join,] for join in replayed.joins]
    by_end = {instant.end: instant for instant in told}
    before = case.first - 1
    for chronon in sorted(grid_of(case, replayed.looks.step).asked()):
        started = [case.costs.spent(order, before + 1, chronon + 1) for order in orders]
        ended = [sum(before < end <= chronon for _, end in case.costs.results[order]) for order in orders]
        if any(started) or any(ended):
            end = (chronon // replayed.looks.step + 1) * replayed.looks.step
            instant = by_end.get(end, Instant(end, [], None))
            by_end[end] = replace(instant, results=[*instant.results, Results(chronon, started, ended)])
        before = chronon
    return [by_end[end] for end in sorted(by_end)]


def billed(case: Case, plan: Plan, settings: Settings, begun: list[ReplayedMigration]) -> float:
    """What it costs, by the bill of what it begins; elements are counted pair by pair."""
    numbers = {joins_of(plan, plan_of(case, order)): i for i, order in enumerate(case.orders)}
    moves = [Move(one.at, numbers[joins_of(plan, one.to)], one.strategy, one.until_split) for one in begun]
    return bill(courses_of(case, ReplayedAutopilot(plan, settings, INTERMEDIATE).looks.step), 0, moves).total


def grid_of(case: Case, step: int) -> Occupied:
    """In which cells something starts."""
    return Occupied(step, {time // step * step: time + case.window for time, _ in case.instants()})


def courses_of(case: Case, step: int) -> CostSeries:
    """What all orders cost, look by look, and in the chronons in which they may take turns."""
    starts, grid = range(case.first // step * step, case.beyond, step), grid_of(case, step)
    asked = tuple(sorted(grid.asked()))
    costs, orders = case.costs, range(len(case.orders))
    return CostSeries(
        starts,
        case.window,
        "intermediate results",
        tuple(plan_of(case, order) for order in case.orders),
        tuple(map(str, case.orders)),
        tuple(tuple(costs.spent(i, start, start + step) / step for start in starts) for i in orders),
        grid.lasting(starts, case.window),
        Counts(
            asked,
            tuple(tuple(costs.spent(i, case.first, chronon + 1) for chronon in asked) for i in orders),
            tuple(tuple(costs.alive(i, chronon) for chronon in asked) for i in orders),
        ),
    )


def begun_by(plan: Plan, pilot: EngineAutopilot) -> list[Begun]:
    """What an engine's autopilot has begun."""
    return [
        (record.at, weighed(record.strategy), joins_of(plan, record.decision.to))
        for record in pilot.decisions
        if record.event == "move" and record.at is not None and record.strategy and record.decision
    ]


def in_engine(case: Case, settings: Settings, strategy: str, is_counted: bool) -> EngineAutopilot:
    """What flew, by counts or by estimates. Time comes to every instant on all streams at once."""
    plan = plan_of(case, case.orders[0])
    engine = Engine(plan)
    unbounded = replace(settings, budget=None)
    pilot = engine.autopilot(objective=INTERMEDIATE, settings=unbounded, strategy=strategy)
    if not is_counted:  # nothing is counted, as nothing is without an engine
        (watched,) = pilot._watched.values()
        assert watched._parts is not None
        watched._parts = replace(watched._parts, accounts=None)
    for time, together in case.instants():
        for name in case.streams:
            engine.advance(name, time)
        for _, name, row in together:
            engine.push(name, [(time, time + 1, row)])
    engine.close()
    return pilot


def joins_of(plan: Plan, to: Plan | None) -> tuple[InnerJoin, ...]:
    assert to is not None
    found = inner_joins(to, {node: number for number, node in enumerate(input_nodes(plan))})
    assert found is not None
    return found


def instants(case: Case, replayed: ReplayedAutopilot) -> Iterator[Instant]:
    """What a collector tells."""
    collector = Collector(replayed.plan.sources, requirements(replayed.plan).columns, replayed.looks.step)
    for number, arrivals in groupby(case.arrivals, key=lambda arrival: arrival[0] // replayed.looks.step):
        last = 0
        for last, name, row in arrivals:
            collector.take(name, [(last, last + 1, row)], last)
        end = (number + 1) * replayed.looks.step
        yield Instant(end, collector.cells(end), last + case.window)
