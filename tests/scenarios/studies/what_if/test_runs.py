"""Buckets are priced run by run; where runs begin does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyspark")

from midstream.io.time_units import Clock
from midstream.optimizer import INTERMEDIATE, PROCESSING, Statistics, UnitCosts, enumerate_plans
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.scenarios.recordings.counted_joins import CountedJoins
from midstream.scenarios.recordings.inner_joins import InnerJoin
from midstream.scenarios.recordings.orders import group_by_order
from midstream.scenarios.recordings.pricing import (
    TIE,
    InputFacts,
    bucket_statistics,
    compare,
    price_bucket,
)
from midstream.scenarios.stages.what_if.buckets import Buckets
from midstream.scenarios.stages.what_if.candidates import pack, unpack
from midstream.scenarios.stages.what_if.objectives import aim_of
from midstream.scenarios.stages.what_if.past import past_statistics, remembered
from midstream.scenarios.stages.what_if.stage import Pricing, priced_buckets

A, B, C = (stream(name, **{name: "integer"}).window(9) for name in "abc")
PLANS = list(enumerate_plans(A.join(B, on=[("a", "b")]).join(C, on=[("b", "c")]).plan()))
ORDERS = group_by_order(PLANS)
LENGTH = 20
Counted = tuple[dict[int, int], ...]
PAIRS = ((0, 1, "a", "b"), (0, 2, "a", "c"), (1, 2, "b", "c"))
"""The pairs of inputs that some order joins first, with the columns that agree."""
BUCKET = st.tuples(*[st.dictionaries(st.integers(0, 2), st.integers(1, 5), max_size=2)] * 3)


@dataclass(frozen=True)
class Known:
    """Buckets whose facts are the counts of values themselves."""

    length: int = LENGTH

    def read(self, plan: Plan, facts: Any) -> tuple[int, Statistics]:
        """As `Buckets.read`."""
        nodes = input_nodes(plan)
        counts = dict(zip(nodes, facts or ({}, {}, {}), strict=True))
        known = {
            node: InputFacts(sum(of.values()), {node.schema.names[0]: of} if of else {})
            for node, of in counts.items()
        }
        found = bucket_statistics(known, dict.fromkeys(nodes, 9), dict.fromkeys(nodes, 1), self.length)
        return sum(one.count for one in known.values()), found


def pricing(half_life: int, past: int) -> Pricing:
    order_of = {plan: order.number for order in ORDERS for plan in order.plans}
    return Pricing(
        plans=pack(PLANS),
        order_of=[order_of[plan] for plan in range(len(PLANS))],
        aims=[aim_of(text, Clock("s")) for text in ("processing", "memory")],
        buckets=cast(Buckets, Known()),
        half_life=half_life,
        remembered=past,
        units=UnitCosts(),
    )


def in_runs(buckets: Sequence[Counted], length: int, past: int) -> list[tuple[int, int, Any, None]]:
    """What a worker is given: runs of so many buckets, each behind those that are remembered."""
    return [
        (first * LENGTH, i * LENGTH, buckets[i] if any(buckets[i]) else None, None)
        for first in range(0, len(buckets), length)
        for i in range(max(0, first - past), min(len(buckets), first + length))
    ]


@given(st.lists(BUCKET, min_size=1, max_size=6), st.integers(1, 30), st.data())
def test_runs_do_not_matter(buckets: list[Counted], half_life: int, data: st.DataObject) -> None:
    past = remembered(half_life, LENGTH)
    asked = pricing(half_life, past)
    length = data.draw(st.integers(1, len(buckets)))
    whole = list(priced_buckets(in_runs(buckets, len(buckets), past), asked))
    assert list(priced_buckets(in_runs(buckets, length, past), asked)) == whole
    assert [start for start, *_ in whole] == [i * LENGTH for i in range(len(buckets))]
    i = data.draw(st.integers(0, len(buckets) - 1))
    known = [asked.buckets.read(PLANS[0], of)[1] for of in buckets]
    _, count, costs, past_costs = whole[i]
    assert count == sum(sum(of.values()) for of in buckets[i])
    objectives = [aim.objective for aim in asked.aims]
    assert costs == price_bucket(PLANS, known[i], objectives)
    if before := known[max(0, i - past) : i]:
        standing = [PLANS[order.plans[0]] for order in ORDERS]
        assert past_costs == price_bucket(standing, past_statistics(before, half_life, LENGTH), objectives)
    else:
        assert past_costs == [[0.0] * len(ORDERS)] * 2


@given(st.lists(BUCKET, min_size=1, max_size=4), st.integers(1, 30))
def test_without_a_past_hindsight_is_the_same(buckets: list[Counted], half_life: int) -> None:
    whole, without = (
        list(priced_buckets(in_runs(buckets, len(buckets), past), pricing(half_life, past)))
        for past in (remembered(half_life, LENGTH), 0)
    )
    assert [one[:3] for one in without] == [one[:3] for one in whole]
    assert all(one[3] == [[0.0] * len(ORDERS)] * 2 for one in without)


@given(BUCKET, st.lists(st.integers(0, 50), min_size=3, max_size=3))
def test_counted_results_are_those_of_prices(counted: Counted, matched: list[int]) -> None:
    _, known = Known().read(PLANS[0], counted)
    joins = CountedJoins(tuple(InnerJoin(one, other, ((x, y),)) for one, other, x, y in PAIRS), LENGTH)
    rates = joins.rates(PLANS, known, matched)
    (results,) = price_bucket(PLANS, known, [INTERMEDIATE], None, rates)
    for order, number in zip(ORDERS, (0, 2, 1), strict=True):
        for plan in order.plans:
            assert LENGTH * results[plan] == pytest.approx(matched[number])
    (alike,) = price_bucket(PLANS, known, [INTERMEDIATE], None, joins.rates(PLANS, known, [7, 7, 7]))
    assert alike == pytest.approx([7 / LENGTH] * len(PLANS))


@given(BUCKET)
def test_plans_of_an_order_cost_the_same(counted: Counted) -> None:
    _, known = Known().read(PLANS[0], counted)
    (costs,) = price_bucket(PLANS, known, [PROCESSING])
    for order in ORDERS:
        assert [costs[plan] for plan in order.plans] == pytest.approx([costs[order.plans[0]]] * 4, rel=1e-12)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=5), st.integers(1, 99))
def test_regret_is_never_negative(costs: list[float], scale: int) -> None:
    compared = compare(costs, scale)
    assert sum(one.is_choice for one in compared) == 1
    for cost, one in zip(costs, compared, strict=True):
        assert (one.cost, one.spent) == (cost, scale * cost)
        assert one.is_best == (cost <= min(costs) * (1 + TIE))
        assert one.regret >= 0
        assert one.regret == pytest.approx(scale * (cost - min(costs)), rel=1e-6, abs=1e-6)
        assert not one.is_choice or one.is_best


def test_plans_are_packed() -> None:
    assert list(unpack(pack(PLANS))) == PLANS
