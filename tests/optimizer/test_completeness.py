"""A search that says it is complete has left out no cheaper plan of `enumerate_plans`."""

from __future__ import annotations

from itertools import islice

import pytest
from drawn_queries import queries_with_statistics

from midstream.optimizer import CostModel, Statistics, StreamStatistics, enumerate_plans, optimize
from midstream.optimizer.search.cheapest import ALIKE
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.expressions.operands import col
from midstream.testing.seeded import drawn

SHARE = 0.6
"""The least share of complete searches."""
MOST = 200
"""The greatest number of plans of a query that are priced."""


def integers(name: str) -> Stream:
    return stream(name, {f"{name}k": "integer", f"{name}c": "integer"}).window(60)


A, B, C = integers("a"), integers("b"), integers("c")
KNOWN = Statistics({s.node: StreamStatistics(1.0, 60.0) for s in (A, B, C)})


def outcome(seed: int) -> tuple[bool, bool]:
    """True if the search of a drawn query is complete; and if a plan costs less than the chosen one."""
    case = drawn(queries_with_statistics(), seed)
    assert case is not None
    plan, statistics = case
    choice, model = optimize(plan, statistics), CostModel(statistics)
    plans = islice(enumerate_plans(plan, products="auto"), MOST)
    least = min(model.price(each).total for each in plans)
    return choice.is_complete, least * ALIKE < choice.cost.total


@pytest.mark.parametrize(
    ("first", "last"),
    [(0, 25), *(pytest.param(i, i + 95, marks=pytest.mark.slow) for i in range(25, 500, 95))],
)
def test_no_plan_costs_less_than_that_of_a_complete_search(first: int, last: int) -> None:
    outcomes = {seed: outcome(seed) for seed in range(first, last)}
    assert [seed for seed, (complete, is_beaten) in outcomes.items() if complete and is_beaten] == []
    assert sum(complete for complete, _ in outcomes.values()) > SHARE * len(outcomes)


def test_contradicting_filters_above_a_join_leave_nothing_to_join() -> None:
    query = A.join(B, on=[("ak", "bk")]).filter(col("ac") > 500).filter(col("ac") < 200)
    choice = optimize(query, KNOWN)
    assert choice.is_complete
    assert choice.cost.total < choice.original_cost.total / 20
    assert "filter-below-both" in choice.rules


def test_duplicates_are_eliminated_between_joins_of_another_order() -> None:
    """The join of a and c, above which they are eliminated, is not in the query."""
    query = A.join(B, on=[("ak", "bk")]).join(C, on=[("ak", "ck")]).distinct()
    choice, model = optimize(query, KNOWN), CostModel(KNOWN)
    assert choice.is_complete
    least = min(model.price(plan).total for plan in enumerate_plans(query, products="auto"))
    assert choice.cost.total <= least * ALIKE
