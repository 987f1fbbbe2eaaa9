"""Estimates for the operators that compare two streams, against what they give on Poisson streams of random
values with a fixed seed, and at the ends of the scale."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.arrivals import interleave
from midstream.engine import Engine
from midstream.optimizer import CostModel, Statistics, price
from midstream.optimizer.cost.comparisons import MANY_ROWS, in_common
from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Content, Cut, Estimate, times
from midstream.optimizer.cost.selectivity import Selectivity
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.implementations import expected_implementation
from midstream.plans.algebra.operators import (
    AntiJoin,
    Difference,
    Intersection,
    Logical,
    MaxUnion,
    SemiJoin,
    StrictDifference,
)
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import equality
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Element

UNTIL, WARM = 9_000, 2_000
"""Streams end, and windows are full, by then."""
Streams = Mapping[str, Sequence[Element]]


def poisson(seed: int, d: float, *sizes: int) -> list[Element]:
    """Rows of uniform values at random instants, on average d chronons apart."""
    rng = random.Random(seed)
    elements: list[Element] = []
    time = rng.expovariate(1 / d)
    while time < UNTIL:
        elements.append((int(time), int(time) + 1, tuple(rng.randrange(size) for size in sizes)))
        time += rng.expovariate(1 / d)
    return elements


S = stream("s", x="integer", y="integer").window(500)
T = stream("t", x="integer", y="integer").window(1500)
U = T.rename({"x": "z", "y": "w"})
BOTH = [("x", "z"), ("y", "w")]
# In windows of 50 and 60 rows: 12 different rows, so that most have partners; 60; and 1000.
VALUES = {"few": (4, 3), "some": (10, 6), "many": (50, 20)}


@dataclass(frozen=True)
class Measured:
    """Of a plan's results: how many are valid on average, and how many start in a chronon."""

    valid: float
    rate: float
    statistics: Statistics


def measure(plan: Plan, streams: Streams) -> Measured:
    results: list[Element] = []
    engine = Engine(plan, results.extend)
    for name, batch in interleave(streams, batch_size=100):
        engine.push(name, batch)
    engine.close()
    time = UNTIL - WARM
    covered = sum(max(0, min(end, UNTIL) - max(start, WARM)) for start, end, _ in results)
    started = sum(WARM <= start < UNTIL for start, _, _ in results)
    return Measured(covered / time, started / time, Statistics.from_observations(engine.observe()))


QUERIES: dict[str, Stream] = {
    "difference": S.difference(T),
    "difference the other way": T.difference(S),
    "strict difference": S.strict_difference(T),
    "intersection": S.intersection(T),
    "max union": S.max_union(T),
    "semi-join": S.semi_join(U, BOTH),
    "anti-join": S.anti_join(U, BOTH),
    "anti-join the other way": U.anti_join(S, BOTH),
    "semi-join by one column": S.semi_join(U, [("x", "z")]),
    "semi-join by an inequality": S.semi_join(U, on=col("x") < col("z") - 8),
}


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", QUERIES)
def test_estimates_are_near_what_is_measured(name: str, values: str) -> None:
    """How many rows are valid is told well; how often results begin, less so: the matches of a left row come
    and go, and cut it, which the estimate leaves out."""
    plan = QUERIES[name].plan()
    streams = {"s": poisson(1, 10, *VALUES[values]), "t": poisson(2, 25, *VALUES[values])}
    measured = measure(plan, streams)
    estimate = price(plan, measured.statistics).operators[plan.root]
    assert estimate.valid == pytest.approx(measured.valid, rel=0.3, abs=4)
    factor = 4 if "join" in name else 2.5
    assert measured.rate / factor - 0.005 <= estimate.rate <= measured.rate * factor + 0.005


@pytest.mark.parametrize("keys", [5, 40, 400])
@pytest.mark.parametrize(("mine", "theirs"), [(200, 600), (400, 400), (600, 150)], ids=str)
@pytest.mark.parametrize("way", ["by key", "by key and range"])
@pytest.mark.parametrize("skewed", [False, True])
def test_the_state_of_a_semi_join_is_near_what_is_held(
    keys: int, mine: int, theirs: int, way: str, skewed: bool
) -> None:
    """Left rows are kept that outlive the end known at their start, also where matches live longer."""
    on = (col("x") == col("z")) & (col("y") <= col("w") + 4) if way == "by key and range" else None
    left, right = stream("s", x="integer", y="integer"), stream("u", z="integer", w="integer")
    query = left.window(mine).semi_join(right.window(theirs), on=[("x", "z")] if on is None else on)
    chance = random.Random(keys)

    def row() -> tuple[int, int]:
        key = int(keys * chance.random() ** (2 if skewed else 1))
        return key, chance.randrange(10)

    held = []
    engine = Engine(query.plan())
    for start in range(0, 4_000, 50):
        for name, number in (("s", 12), ("u", 9)):
            starts = sorted(start + chance.randrange(50) for _ in range(number))
            engine.push(name, [(t, t + 1, row()) for t in starts])
            engine.advance(name, start + 50)
        if start > 1_500:
            held.append(sum(engine.held().values()))
    state = price(query.plan(), engine.statistics()).state
    assert state == pytest.approx(sum(held) / len(held), rel=0.2)


def estimated(query: Stream, values: str) -> float:
    """How many results are expected to begin in a chronon."""
    streams = {"s": poisson(1, 10, *VALUES[values]), "t": poisson(2, 25, *VALUES[values])}
    return price(query.plan(), measure(query.plan(), streams).statistics).operators[query.node].rate


def test_rows_without_partners_begin_nothing_in_common() -> None:
    """And the fewer partners there are, the more is left of a difference."""
    common, left = ([estimated(QUERIES[q], v) for v in VALUES] for q in ("intersection", "strict difference"))
    assert common == sorted(common, reverse=True)
    assert left == sorted(left)
    assert common[-1] < 0.1 * common[0]
    assert left[0] < 0.1 * left[-1]


@given(st.floats(0, 30), st.floats(0, 30))
def test_what_poisson_numbers_have_in_common(a: float, b: float) -> None:
    """The average minimum, added up over all pairs of numbers."""

    def chances(average: float) -> list[float]:
        found = [math.exp(-average)]
        for k in range(1, 120):
            found.append(found[-1] * average / k)
        return found

    left, right = chances(a), chances(b)
    expected = math.fsum(p * q * min(i, j) for i, p in enumerate(left) for j, q in enumerate(right))
    assert in_common(a, b) == pytest.approx(expected, abs=1e-6)


def test_of_many_the_smaller_number_is_in_common() -> None:
    """Where the sum would take long, it is as near as need be."""
    assert in_common(MANY_ROWS * 2, MANY_ROWS) == MANY_ROWS
    assert in_common(MANY_ROWS, MANY_ROWS / 2) == pytest.approx(MANY_ROWS / 2)
    assert in_common(math.inf, 3.0) == 3.0


NUMBERS = [1e-300, 0.5, 1e9, 1e300, math.inf]
ARRIVING = [
    Estimate(Content(times(1 / d, length), {}), Cut(d, length)) for d in NUMBERS for length in [0.0, *NUMBERS]
]


LEFT, RIGHT = stream("l", intervals=True, x="integer"), stream("r", intervals=True, x="integer")
OTHER = RIGHT.rename({"x": "z"})


def priced_alone(query: Stream, s: Estimate, t: Estimate, share: float) -> Estimate:
    """What is estimated for an operator over inputs of which these numbers are known."""
    selectivity = Selectivity({equality("x", "z"): share})
    return CostModel(Statistics({})).operator(
        Costing(query.node, [s, t], UnitCosts(), selectivity, expected_implementation(query.node))
    )


@pytest.mark.slow
@pytest.mark.parametrize("operator", [Difference(), StrictDifference(), Intersection(), MaxUnion()], ids=str)
@pytest.mark.parametrize("kinds", [0.0, 1.0, 1e300, math.inf])
def test_no_number_is_too_large_to_compare(
    operator: Logical, kinds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Costing, "kinds", lambda case, names: kinds)
    for s in ARRIVING:
        for t in ARRIVING:
            require_numbers(priced_alone(Stream(Node(operator, (LEFT.node, RIGHT.node))), s, t, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("operator", [SemiJoin(), AntiJoin()], ids=str)
@pytest.mark.parametrize("selectivity", [0.0, 1e-300, 0.5, 1.0])
def test_no_number_is_too_large_to_match(operator: SemiJoin | AntiJoin, selectivity: float) -> None:
    """A small selectivity of many rows, which is 0 times infinity as a float, is no number but 0."""
    for s in ARRIVING:
        for t in ARRIVING:
            for way in ("hash", "nested-loops"):
                physical = Physical(f"{way}-{operator.name}", type(operator)(equality("x", "z")))
                query = Stream(Node(physical, (LEFT.node, OTHER.node)))
                require_numbers(priced_alone(query, s, t, selectivity))


def require_numbers(found: Estimate) -> None:
    assert all(number >= 0 for number in (found.d, found.l, found.cost, found.state, found.valid)), found
