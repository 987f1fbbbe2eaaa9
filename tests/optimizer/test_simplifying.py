"""Simplifying rules together: they come to an end, keep what plans mean, and make derived streams flat."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer import MEMORY, CostModel, Sample, Statistics, StreamStatistics, optimize
from midstream.optimizer.rules import JOIN_ORDERS, JOINS, PRUNING, RULES, apply, flat
from midstream.optimizer.rules.filters.implied_condition import IMPLIED_CONDITION
from midstream.optimizer.search.enumeration import enumerate_plans
from midstream.optimizer.search.simplifying import Simplifier, simplify
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.operands import col, lit
from midstream.plans.values.snapshots import compare
from midstream.testing import plans, streams_for

EVERY = (*RULES, *JOINS, *PRUNING)


def integers(name: str, *columns: str) -> Stream:
    return stream(name, dict.fromkeys(columns, "integer")).window(9)


def simple(query: Stream | Plan) -> Node:
    node, _ = simplify((query if isinstance(query, Plan) else query.plan()).root, RULES)
    return node


A, B, C = integers("a", "k", "x"), integers("b", "l", "y"), integers("c", "m", "z")
PAIRS = A.join(B, on=[("k", "l")])


@given(plans(depth=3, windows=True), st.data())
def test_they_come_to_an_end_and_keep_every_snapshot(plan: Plan, data: st.DataObject) -> None:
    """Also those that only proofs and the choice of small rows use."""
    streams = data.draw(streams_for(plan))
    result = Plan(simplify(plan.root, EVERY)[0])
    assert compare(specified(plan, streams), specified(result, streams)), f"{plan}\n{result}"
    again, steps = simplify(result.root, EVERY[-1:])
    assert (again, steps) == (result.root, ())


@given(plans(depth=3))
def test_they_come_to_an_end_in_whatever_order_they_are_applied(plan: Plan) -> None:
    """In a search the rules of all stages are applied together."""
    Simplifier(rule for rule in flat(EVERY) if rule.is_simplifying).simplify(plan.root)


@given(plans(depth=3))
def test_no_join_takes_columns_that_it_does_not_read(plan: Plan) -> None:
    """But for those that a filter reads which stands between it and another join."""
    result = Plan(simplify(plan.root, EVERY)[0])
    for node in result.nodes:
        if isinstance(node.operator, Join) and not any(isinstance(c.operator, Filter) for c in node.inputs):
            schemas = tuple(child.schema for child in node.inputs)
            read = logical(node).columns_read(frozenset(node.schema.names), schemas)
            for schema, names in zip(schemas, read, strict=True):
                assert len(schema) == 1 or {*schema.names} <= names


DERIVED = {
    "renamed": PAIRS.select(d=col("k"), u=col("x")).join(C, on=[("d", "m")]).select("u", "z"),
    "renamed twice": (
        PAIRS.select(d=col("k"), v=col("x")).select(e=col("d"), u=col("v")).join(C, on=[("e", "m")])
    ).select("u", "z"),
    "on the right": C.join(PAIRS.select(d=col("k"), u=col("x")), on=[("m", "d")]).select("u", "z"),
    "computed, not compared": (
        PAIRS.select(d=col("k"), u=col("x") + 1).join(C, on=[("d", "m")]).select(u=col("u") - 1, z=col("z"))
    ),
}


@pytest.mark.parametrize("query", DERIVED.values(), ids=DERIVED)
def test_a_derived_stream_is_joined_in_every_order(query: Stream) -> None:
    flat = PAIRS.join(C, on=[("k", "m")]).select(u=col("x"), z=col("z"))
    assert len(enumerate_plans(Plan(simple(query)), JOIN_ORDERS)) == 12
    assert len(enumerate_plans(Plan(simple(flat)), JOIN_ORDERS)) == 12


def test_a_projection_of_one_input_stays_where_it_makes_rows_smaller() -> None:
    query = A.select(d=col("k")).join(B, on=[("d", "l")]).plan()
    assert simple(query) == query.root


def test_a_filter_that_passes_nothing_stands_above_another_one() -> None:
    """That nothing comes from below is known, but FALSE is as short as a condition can be."""
    rows = stream("s", x="integer").filter(lit(False)).select(u=lit(0)).filter(lit(False))
    assert not list(apply(IMPLIED_CONDITION, rows.node))


def test_a_column_that_is_computed_and_compared_is_looked_up() -> None:
    query = PAIRS.select(d=col("k") + 1).join(C, on=[("d", "m")]).plan()
    assert simple(query) == query.root


NAMES = ("dest", "carrier", "flight", "tail", "delay", "air", "distance")


def test_rows_of_joins_take_half_the_memory_where_one_column_is_wanted() -> None:
    """Of seven; with more of them the gain is less."""
    random = Random(1)
    airports = [stream(n, {f"{n}.{c}": "integer" for c in NAMES}).window(100) for n in ("ewr", "jfk", "lga")]
    rows = [tuple(random.randint(0, 100) for _ in NAMES) for _ in range(200)]
    statistics = Statistics(
        {one.node: StreamStatistics(d=5.0, l=100.0, sample=Sample(one.schema, rows)) for one in airports}
    )
    ewr, jfk, lga = airports
    joined = ewr.join(jfk, on=[("ewr.dest", "jfk.dest")]).join(lga, on=[("ewr.dest", "lga.dest")])
    memory = []
    for count in (1, 3, 7):
        plan = joined.select(*[f"ewr.{name}" for name in NAMES[:count]]).plan()
        chosen = optimize(plan, statistics, rules=(*RULES, *PRUNING), objective=MEMORY).plan
        memory.append(CostModel(statistics).price(chosen).memory / CostModel(statistics).price(plan).memory)
    assert memory[0] <= 0.5
    assert memory == sorted(memory)
