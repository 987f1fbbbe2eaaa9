"""Regret is arithmetic on costs; plans of one order cost the same."""

from __future__ import annotations

from typing import Any

import pytest

from midstream.optimizer import PROCESSING, enumerate_plans
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.scenarios.recordings.orders import group_by_order
from midstream.scenarios.recordings.pricing import (
    BucketCost,
    InputFacts,
    bucket_statistics,
    compare,
    price_bucket,
    relative,
)


def compared(*costs: float) -> list[BucketCost]:
    return compare(costs, scale=100)


def test_regret_is_the_length_times_what_the_best_plan_saves() -> None:
    costs = compared(0.5, 0.2, 0.3)
    assert [cost.spent for cost in costs] == [50.0, 20.0, 30.0]
    assert [cost.regret for cost in costs] == [30.0, 0.0, pytest.approx(10.0)]
    assert [cost.is_best for cost in costs] == [False, True, False]


def test_the_plan_as_written_is_chosen_among_the_best() -> None:
    costs = compared(0.3, 0.1 + 0.2, 0.4)
    assert [cost.is_best for cost in costs] == [True, True, False]
    assert [cost.is_choice for cost in costs] == [True, False, False]
    assert costs[1].regret == 0.0


def test_nothing_costs_anything_in_an_empty_bucket() -> None:
    assert all(cost.is_best and cost.regret == 0.0 for cost in compared(0.0, 0.0))


def test_relative_regret() -> None:
    assert relative(5.0, 20.0) == 0.25
    assert relative(0.0, 0.0) == 0.0


def three_streams(on: list[tuple[str, str]]) -> Plan:
    a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    return a.join(b, on=on[:1]).join(c, on=on[1:]).group_by("a").aggregate().plan()


@pytest.mark.parametrize("on", [[("a", "b"), ("b", "c")], [("a", "b")]])
def test_plans_of_one_order_cost_the_same(on: list[tuple[str, str]]) -> None:
    plans = enumerate_plans(three_streams(on))
    nodes = input_nodes(plans[0])
    facts = {
        node: InputFacts(10 * (i + 1), {node.schema.names[0]: {1: 10, 2: 10 * i, **{k: 0 for k in range(i)}}})
        for i, node in enumerate(nodes)
    }
    known = bucket_statistics(facts, dict.fromkeys(nodes, 9), dict.fromkeys(nodes, 1), 100)
    (costs,) = price_bucket(plans, known, [PROCESSING])
    orders = group_by_order(plans)
    by_order = [{costs[i] for i in order.plans} for order in orders]
    assert all(max(same) == pytest.approx(min(same), rel=1e-12) for same in by_order)
    assert sorted(i for order in orders for i in order.plans) == list(range(len(plans)))
    assert len(orders) == 3
    assert len({round(min(same), 12) for same in by_order}) == 3


def test_labels_name_the_operators() -> None:
    a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    plan = a.join(b, on=[("a", "b")]).join(c).filter(a["a"] > 7).distinct().plan()
    (order,) = group_by_order([plan])
    assert order.label == "δ(σ((a ⋈ b) × c))"


def test_labels_are_told_apart() -> None:
    a = stream("a", a="integer").window(9)
    low, high = (a.filter(condition).plan() for condition in (a["a"] < 7, a["a"] > 7))
    assert [order.label for order in group_by_order([low, high, low])] == ["σ(a)", "σ(a) #2"]


def test_silent_inputs_and_unknown_values() -> None:
    node = stream("s", x="integer?").window(60).node
    facts: dict[Any, InputFacts] = {node: InputFacts(0, {})}
    silent = bucket_statistics(facts, {node: 60}, {node: 1}, 100)
    assert silent.stream(node).rate == 0.0
    facts = {node: InputFacts(4, {"x": {7: 1}})}
    known = bucket_statistics(facts, {node: 60}, {node: 1}, 100)
    assert known.stream(node).distributions["x"] == {7: 0.25}
