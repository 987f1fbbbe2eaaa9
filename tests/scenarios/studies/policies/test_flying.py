"""An autopilot without an engine decides what the engine's does, and never knows what is still to come."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.advising import ByOptimizer
from midstream.engine import Engine
from midstream.migration.autopilot.advice import Advice
from midstream.migration.autopilot.settings import BALANCED, EAGER, Settings
from midstream.operators.engine.collecting import Collector
from midstream.optimizer import INTERMEDIATE, Statistics
from midstream.optimizer.online.wanted import wanted
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.values.errors import ArgumentError, MigrationRefused
from midstream.scenarios.policies.case import Case, Key, one_key
from midstream.scenarios.policies.generated import FEW, MANY, Phase, generated
from midstream.scenarios.policies.on_engine import plan_of
from midstream.scenarios.studies.policies.flying import Flight, Instant, fly, ways
from midstream.scenarios.studies.policies.inner_joins import inner_joins

Begun = tuple[int, str, object]
"""When a migration began, by which strategy, and the joins below the last one of the plan that it went to."""

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


@pytest.mark.parametrize("strategy", ["genmig", "moving-states", "auto"])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_decides_what_the_engine_decides(shape: str, strategy: str) -> None:
    case = generated(shape, SHAPES[shape], 1)
    for settings in (BALANCED, EAGER):
        found = flown(case, settings, strategy)
        assert found == with_engine(case, settings, strategy)
        assert found or shape != "flips"


ELEMENTS = st.lists(
    st.tuples(st.integers(0, 90) | st.integers(300, 330), st.sampled_from("abc"), st.integers(0, 1)),
    max_size=60,
)


@given(ELEMENTS, st.sampled_from(["genmig", "moving-states"]), st.integers(1, 9))
@example([(0, "a", 0)] * 5 + [(42, "c", 0), (0, "b", 0), (71, "a", 0), (88, "a", 0)], "moving-states", 1)
def test_it_decides_what_the_engine_decides_on_any_streams(
    elements: list[tuple[int, str, int]], strategy: str, looks: int
) -> None:
    settings = Settings(looks=looks, doubt=0.0, least_saving=0.0, guard=9.0)
    assert flown(made(elements), settings, strategy) == with_engine(made(elements), settings, strategy)


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
        Flight(stream("s", x="integer").plan(), BALANCED, INTERMEDIATE)


def test_a_strategy_that_is_not_known_is_refused() -> None:
    with pytest.raises(MigrationRefused, match="by-magic"):
        Flight(stream("s", x="integer").window(9).plan(), BALANCED, INTERMEDIATE, "by-magic")


def test_ways_between_plans() -> None:
    plans = [plan_of(made([]), order) for order in made([]).orders]
    assert ways(plans, "auto") == ("moving-states", "genmig")
    assert ways(plans, "genmig") == ("genmig",)
    with pytest.raises(ArgumentError, match="no way by which swap moves"):
        ways(plans, "swap")


def made(elements: list[tuple[int, str, int]]) -> Case:
    """A join of three streams that get these elements; the first one is always there."""
    streams: dict[str, list[tuple[int, Key]]] = {"a": [(0, 0)], "b": [], "c": []}
    for time, name, key in sorted(elements):
        streams[name].append((time, key))
    return one_key("made", 10, 20, streams)


def flown(case: Case, settings: Settings, strategy: str) -> list[Begun]:
    """What an autopilot without an engine begins."""
    plan = plan_of(case, case.orders[0])
    flight = Flight(plan, settings, INTERMEDIATE, strategy)
    return [(wish.at, wish.strategy, joins_of(plan, wish.to)) for wish in fly(flight, instants(case, flight))]


class Estimating:
    """The optimizer, without telling its unit: nothing is counted, as nothing is without an engine."""

    def __init__(self, optimizer: ByOptimizer) -> None:
        self._optimizer = optimizer

    def advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        return self._optimizer.advise(running, known)


def with_engine(case: Case, settings: Settings, strategy: str) -> list[Begun]:
    """What the engine's autopilot begins. Time comes to every instant on all streams at once."""
    plan = plan_of(case, case.orders[0])
    engine = Engine(plan)
    advisor = Estimating(ByOptimizer(INTERMEDIATE, obstacle=engine.obstacle))
    pilot = engine.autopilot(advisor, settings=settings, strategy=strategy)
    for time, together in case.instants():
        for name in case.streams:
            engine.advance(name, time)
        for _, name, row in together:
            engine.push(name, [(time, time + 1, row)])
    return [
        (record.at, record.strategy, joins_of(plan, record.decision.to))
        for record in pilot.decisions
        if record.event == "move" and record.at is not None and record.strategy and record.decision
    ]


def joins_of(plan: Plan, to: Plan | None) -> object:
    assert to is not None
    return inner_joins(to, {node: number for number, node in enumerate(input_nodes(plan))})


def instants(case: Case, flight: Flight) -> Iterator[Instant]:
    """What a collector tells."""
    collector = Collector(flight.plan.sources, wanted(flight.plan).columns, flight.step)
    for number, arrivals in groupby(case.arrivals, key=lambda arrival: arrival[0] // flight.step):
        last = 0
        for last, name, row in arrivals:
            collector.take(name, [(last, last + 1, row)], last)
        end = (number + 1) * flight.step
        yield Instant(end, collector.cells(end), last + case.window)
