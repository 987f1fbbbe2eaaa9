"""Every implementation has a formula, and the planner prefers none that costs more than another."""

from __future__ import annotations

import math

import pytest

from midstream.operators.engine.running.planner import RUNNING, physical_plan
from midstream.optimizer import Statistics, StreamStatistics, price
from midstream.optimizer.cost.outputs import OUTPUTS
from midstream.optimizer.cost.work import WORK
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.implementations import IMPLEMENTATIONS, Implementation
from midstream.plans.algebra.operators import KINDS, OverTime, SnapshotReducible
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.expressions import TRUE, Expression, equality

S = stream("s", intervals=True, x="integer", y="integer")
T = stream("t", intervals=True, x="integer", y="integer")
U = T.rename({"x": "z", "y": "w"})

EQUAL = equality("x", "z")
NEAR = (S["x"] >= U["z"] - 5) & (S["x"] <= U["z"] + 5)
SUM = (S["x"] + U["z"]).eq(7)
QUERIES = {
    "filter": S.filter(S["x"] > 7),
    "project": S.select("x"),
    "union": S.union(T),
    "join, equal": S.join(U, on=[("x", "z")]),
    "join, equal and less": S.join(U, on=S["x"].eq(U["z"]) & (S["y"] < U["w"])),
    "join, near": S.join(U, on=NEAR),
    "join, other": S.join(U, on=SUM),
    "semi-join, equal": S.semi_join(U, on=[("x", "z")]),
    "semi-join, other": S.semi_join(U, on=NEAR),
    "anti-join, equal": S.anti_join(U, on=[("x", "z")]),
    "anti-join, other": S.anti_join(U, on=NEAR),
    "distinct": S.distinct(),
    "aggregate": S.group_by("x").aggregate(n=count()),
    "difference": S.difference(T),
    "strict difference": S.strict_difference(T),
    "intersection": S.intersection(T),
    "max union": S.max_union(T),
}
USUAL = [(1.0, 100, 1e-4), (1.0, 100, 0.1), (0.01, 1000, 0.01), (1.0, 10_000, 1e-6), (1.0, 10_000, 1e-3)]
"""Elements in a chronon, how many are valid together, and what share of pairs are results. The planner knows
no statistics. Where less is valid, a list may be cheaper than an order or a table; where an element has more
than about 20 results, what waits at the input is cheaper than what waits at the output."""


def facts() -> list[Implementation]:
    return [one for options in IMPLEMENTATIONS.values() for one in options]


def test_every_implementation_has_a_running_class() -> None:
    assert set(RUNNING) == set(facts())


def test_every_formula_that_is_named_is_there_and_every_one_that_is_there_is_named() -> None:
    assert {one.formula for one in facts()} == set(WORK)
    kinds = [kind for kind in KINDS.values() if issubclass(kind, SnapshotReducible | OverTime)]
    assert {kind.formulas for kind in kinds} == set(OUTPUTS)


def test_queries_of_every_operator_with_a_choice() -> None:
    chosen = {kind for kind, options in IMPLEMENTATIONS.items() if issubclass(kind, SnapshotReducible)}
    asked = {type(query.node.operator) for query in QUERIES.values()}
    assert {kind.name for kind in chosen - asked} == {"split", "coalesce", "convert"}


def cost(query: Stream, implementation: str | None, statistics: Statistics) -> float | None:
    """What a query costs that is run by an implementation, or by that which the planner prefers; with the
    converters that it needs. None where it cannot run."""
    root = query.node
    if implementation is not None:
        named = Node(Physical(implementation, root.operator), root.inputs)
        (fact,) = (one for one in IMPLEMENTATIONS[type(root.operator)] if one.name == implementation)
        if fact.obstacle(named) is not None:
            return None
        root = named
    return price(physical_plan(Plan(root)), statistics).total


@pytest.mark.parametrize(("rate", "valid", "share"), USUAL)
@pytest.mark.parametrize("name", QUERIES)
def test_no_implementation_is_cheaper_than_the_preferred_one(
    name: str, rate: float, valid: float, share: float
) -> None:
    query = QUERIES[name]
    parts: dict[Expression, float] = {EQUAL: share, SUM.expression: share}
    parts |= dict.fromkeys(NEAR.expression.parts(), math.sqrt(share))
    one = StreamStatistics(1 / rate, valid / rate)
    statistics = Statistics({S.node: one, T.node: one}, parts, {"x": {i: 0.1 for i in range(10)}})
    preferred = cost(query, None, statistics)
    assert preferred is not None
    for other in IMPLEMENTATIONS[type(query.node.operator)]:
        found = cost(query, other.name, statistics)
        assert found is None or preferred <= found * (1 + 1e-9), other.name


def test_a_band_join_is_not_priced_as_nested_loops() -> None:
    """Where a list has few elements, it is cheaper."""
    query = S.join(U, on=NEAR)
    for valid, is_cheaper in ((1000, True), (10, False)):
        statistics = Statistics({one.node: StreamStatistics(1.0, valid) for one in (S, T)}, {TRUE: 1.0})
        band, loops = (cost(query, name, statistics) for name in ("band-join", "nested-loops-join"))
        assert band is not None and loops is not None
        assert (band < loops) is is_cheaper
