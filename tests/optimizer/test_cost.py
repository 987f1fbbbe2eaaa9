"""What plans cost in all, and that what should be cheaper is."""

from __future__ import annotations

import math

import pytest

from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer import CostModel, Sample, Statistics, StreamStatistics, price
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.expressions import equality
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import StatisticsError

S = stream("s", x="integer", y="integer").window(60)
T = stream("t", z="integer", w="integer").window(60)
STATISTICS = Statistics(
    {
        S.node: StreamStatistics(10.0, 60.0, sample=Sample(S.schema, [(i % 8, i % 3) for i in range(48)])),
        T.node: StreamStatistics(20.0, 60.0, sample=Sample(T.schema, [(i % 4, i % 2) for i in range(48)])),
    }
)


def cost(query: Stream, statistics: Statistics = STATISTICS) -> float:
    return price(query.plan(), statistics).total


def test_a_plan_costs_what_its_operators_cost() -> None:
    priced = price(S.join(T, on=[("x", "z")]).distinct().plan(), STATISTICS)
    assert len(priced.operators) == 2
    assert priced.total == math.fsum(estimate.cost for estimate in priced.operators.values()) > 0
    assert priced.state == math.fsum(estimate.state for estimate in priced.operators.values()) > 0


def test_inputs_cost_nothing() -> None:
    """Windows, and all below, are the same in every plan that this one is compared with."""
    assert price(S.plan(), STATISTICS).operators == {}
    assert cost(S) == 0


def test_a_shared_subplan_is_paid_for_once() -> None:
    pair = S.join(T, on=[("x", "z")])
    both = Plan({"pairs": pair.node, "counts": pair.aggregate(n=count()).node})
    assert price(both, STATISTICS).total == pytest.approx(cost(pair.aggregate(n=count())))


def test_what_is_below_a_window_is_priced_where_its_sources_are_known() -> None:
    """What was observed of a window tells what it gives, and no more."""
    source = stream("s", x="integer")
    kept = source.filter(col("x") > 1)
    window = kept.window(5).rename({"x": "y"})
    statistics = Statistics(
        {source.node: StreamStatistics(1.0, 1.0), window.node.inputs[0]: StreamStatistics(2.0, 5.0)}
    )
    priced = price(window.join(kept, on=[("x", "y")]).plan(), statistics)
    assert [str(node.operator).split()[0] for node in priced.operators] == [
        "filter",
        "window",
        "project",
        "join",
    ]
    below, windowed, *_ = priced.operators.values()
    assert (windowed.d, windowed.l) == (2.0, 5.0) != (below.d, 5.0)
    assert windowed.cost > 0


def test_an_input_without_statistics() -> None:
    with pytest.raises(StatisticsError, match="no statistics for the input <source t>"):
        price(S.join(T).plan(), Statistics({S.node: StreamStatistics(1.0, 60.0)}))


def test_a_model_knows_what_it_priced_before() -> None:
    model = CostModel(STATISTICS)
    first = model.price(S.join(T, on=[("x", "z")]).plan())
    second = model.price(S.join(T, on=[("x", "z")]).distinct().plan())
    (estimate,) = first.operators.values()
    assert any(known is estimate for known in second.operators.values())


def test_physical_plans_cost_what_their_logical_plans_do() -> None:
    query = S.join(T, on=[("x", "z")]).distinct()
    assert price(physical_plan(query.plan()), STATISTICS).total == cost(query)


def test_a_filter_is_cheaper_below_a_join() -> None:
    rare = col("x").eq(7)
    assert cost(S.filter(rare).join(T, on=[("x", "z")])) < cost(S.join(T, on=[("x", "z")]).filter(rare))


def test_a_filter_that_keeps_all_is_dearer_below_a_selective_join() -> None:
    """Then it only means more work: 1 of 10 elements has a partner."""
    all_rows = col("x") >= 0
    statistics = Statistics(STATISTICS.streams, {equality("x", "z"): 0.01})
    above, below = S.join(T, on=[("x", "z")]).filter(all_rows), S.filter(all_rows).join(T, on=[("x", "z")])
    assert cost(above, statistics) < cost(below, statistics)


def test_an_equality_is_cheaper_inside_a_join() -> None:
    same = col("x").eq(col("z"))
    assert cost(S.join(T, on=same)) < cost(S.join(T).filter(same))


def test_two_filters_are_dearer_than_one() -> None:
    one, other = col("x") > 1, col("y") > 1
    assert cost(S.filter(one & other)) < cost(S.filter(one).filter(other))


def test_duplicate_elimination_is_cheaper_below_a_join_that_multiplies() -> None:
    """Few values, many duplicates: the join pairs each value once."""
    left, right = S.select("y"), T.select("w")
    dense = Statistics(
        {node: StreamStatistics(1.0, 60.0, sample=known.sample) for node, known in STATISTICS.streams.items()}
    )
    above = left.join(right, on=[("y", "w")]).distinct()
    below = left.distinct().join(right.distinct(), on=[("y", "w")])
    assert cost(below, dense) < cost(above, dense) / 2


def test_duplicate_elimination_is_cheaper_above_a_join_that_selects() -> None:
    """Few pairs, each at most once: there is less to look up behind the join."""
    statistics = Statistics(
        {node: StreamStatistics(known.d, 60.0) for node, known in STATISTICS.streams.items()},
        {equality("x", "z"): 0.001},
    )
    above = S.join(T, on=[("x", "z")]).distinct()
    below = S.distinct().join(T.distinct(), on=[("x", "z")])
    assert cost(above, statistics) < cost(below, statistics)
