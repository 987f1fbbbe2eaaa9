"""All plans that the rules make of one: how many, which, and that they mean the same."""

from __future__ import annotations

import os
import subprocess
import sys
from math import factorial

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from midstream.driving import run
from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer.rules import JOIN_ORDERS
from midstream.optimizer.rules.filters.filter_below_join import FILTER_BELOW_LEFT, FILTER_BELOW_RIGHT
from midstream.optimizer.rules.joins.join_associativity import JOIN_ASSOCIATIVITY
from midstream.optimizer.rules.joins.join_commutativity import JOIN_COMMUTATIVITY
from midstream.optimizer.search.enumeration import enumerate_plans, neighbours, with_linked_joins
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Join, TimeWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.expressions import Const, conjunction
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ArgumentError, EnumerationLimit
from midstream.plans.values.snapshots import compare, normal_form
from midstream.testing import plans, streams_for

MOST = 200
"""Plans of one, where there may be very many."""
FEWER = settings(max_examples=settings().max_examples // 3)


SIDES = (FILTER_BELOW_LEFT, FILTER_BELOW_RIGHT, JOIN_COMMUTATIVITY)


def integers(name: str, *columns: str) -> Stream:
    return stream(name, dict.fromkeys(columns, "integer")).window(9)


def orders(n: int) -> int:
    """In how many ways n streams can be joined: (2n - 2)! / (n - 1)!"""
    return factorial(2 * n - 2) // factorial(n - 1)


def chain(n: int) -> Stream:
    """s0.y = s1.x, s1.y = s2.x, and so on."""
    streams = [integers(f"s{i}", "x", "y").rename({"x": f"x{i}", "y": f"y{i}"}) for i in range(n)]
    query = streams[0]
    for i in range(1, n):
        query = query.join(streams[i], on=[(f"y{i - 1}", f"x{i}")])
    return query


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_a_chain_of_joins_has_all_orders(n: int) -> None:
    found = enumerate_plans(chain(n).plan(), JOIN_ORDERS)
    assert len(found) == len(set(found)) == orders(n)


A, B, C, D = integers("a", "z", "k"), integers("b", "y"), integers("c", "x"), integers("d", "w")

FOUR_STREAMS = {
    "one class": A.join(B, on=[("z", "y")]).join(C, on=[("y", "x")]).join(D, on=[("x", "w")]),
    "a star, stated last": A.join(B).join(C).join(D, on=[("z", "w"), ("y", "w"), ("x", "w")]),
    "two columns of one input in a class": (
        A.join(B, on=[("z", "y")]).join(C, on=[("k", "x"), ("y", "x")]).join(D)
    ),
    "a class within one input": A.join(B, on=col("z").eq(col("k"))).join(C, on=[("z", "x")]).join(D),
    "products": A.join(B).join(C).join(D),
    "other conditions, stated late": (
        A.join(B)
        .join(C)
        .join(D, on=(col("z") < col("y")) & (col("k") > 3) & (col("y") + col("x") < col("w")))
    ),
    "conditions that read nothing": A.join(B, on=Const(False)).join(C, on=[("y", "x")]).join(D),
    "columns in another order": (
        A.join(B, on=[("z", "y")], columns=["y", "k", "z"]).join(
            C.join(D, columns=["w", "x"]), on=[("y", "x")]
        )
    ),
    "columns dropped on the way": (
        A.join(B, on=[("z", "y")], columns=["y"])
        .join(C, on=[("y", "x")], columns=["x"])
        .join(D, columns=["w"])
    ),
    "a cycle": (
        A.join(B, on=[("z", "y")]).join(C, on=(col("y") < col("x"))).join(D, on=[("x", "w"), ("k", "w")])
    ),
    "below an aggregation": (
        A.join(B, on=[("z", "y")]).join(C, on=[("y", "x")]).join(D).group_by("x").aggregate(n=count())
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("query", FOUR_STREAMS.values(), ids=FOUR_STREAMS)
def test_four_streams_have_all_orders_wherever_one_starts(query: Stream) -> None:
    """However the query states its conditions, and from whichever of the plans one starts."""
    found = enumerate_plans(query.plan(), JOIN_ORDERS)
    assert len(found) == orders(4)
    for member in found[:: len(found) // 7]:
        assert set(enumerate_plans(member, JOIN_ORDERS)) == set(found)


@st.composite
def join_queries(draw: st.DrawFn) -> Stream:
    """Three streams joined in any shape under any conditions, with or without duplicate elimination."""
    parts = [A, B, C]
    while len(parts) > 1:
        left, right = (parts.pop(draw(st.integers(0, len(parts) - 1))) for _ in range(2))
        names = left.schema.names + right.schema.names
        columns = st.sampled_from(names).map(col)
        pairs = st.tuples(columns, columns)
        some = st.one_of(pairs.map(lambda p: p[0] == p[1]), pairs.map(lambda p: p[0] < p[1]))
        conditions = [one.expression for one in draw(st.lists(some, max_size=2))]
        parts.append(left.join(right, on=conjunction(conditions), columns=draw(st.permutations(names))))
    return parts[0].distinct() if draw(st.booleans()) else parts[0]


@FEWER
@given(join_queries(), st.data())
def test_the_set_does_not_depend_on_the_start(query: Stream, data: st.DataObject) -> None:
    found = enumerate_plans(query.plan(), JOIN_ORDERS)
    member = data.draw(st.sampled_from(found))
    assert set(enumerate_plans(member, JOIN_ORDERS)) == set(found)
    if isinstance(query.node.operator, Join):
        assert len(found) == orders(3)


@FEWER
@given(st.one_of(plans(depth=2, forever=False), join_queries().map(Stream.plan)))
def test_no_rule_leads_outside(plan: Plan) -> None:
    found = set(enumerate_plans(plan, JOIN_ORDERS))
    event(f"plans: {min(len(found), 12)}")
    for member in found:
        assert with_linked_joins(member) == member
        assert set(neighbours(member, JOIN_ORDERS)) <= found


@FEWER
@given(plans(depth=2), st.data())
def test_every_enumerated_plan_means_the_same_and_runs(plan: Plan, data: st.DataObject) -> None:
    streams = data.draw(streams_for(plan))
    expected = specified(plan, streams)
    found = enumerate_plans(plan)[:MOST]
    picked = data.draw(st.lists(st.sampled_from(found), max_size=4, unique=True))
    for member in {found[0], found[-1], *picked}:
        assert member.schema == plan.schema
        assert compare(expected, specified(member, streams)), f"{plan}\n{member}"
        assert compare(expected, normal_form(run(member, streams))), f"{plan}\n{member}"


def test_joins_are_linked_anew_when_their_inputs_guarantee_more() -> None:
    """Once the filter has told a that its columns are equal, one equality with b is enough."""
    query = A.join(B, on=[("z", "y"), ("k", "y")]).filter(col("z").eq(col("k")))
    found = enumerate_plans(query.plan(), SIDES)
    joins = {
        str(node.operator) for member in found for node in member.nodes if isinstance(node.operator, Join)
    }
    assert joins == {"join (k = y) and (y = z)", "join k = y"}
    assert len(found) == 4


def test_the_given_plan_comes_first() -> None:
    plan = chain(3).plan()
    assert enumerate_plans(plan)[0] == plan


def test_windows_and_what_is_below_them_stay() -> None:
    plan = chain(3).filter(col("x0") > 1).plan()
    for member in enumerate_plans(plan, SIDES):
        assert set(input_nodes(member)) == set(input_nodes(plan))
        assert all(isinstance(node.operator, TimeWindow) for node in input_nodes(member))


def test_self_joins_share_their_stream() -> None:
    bids = stream("bids", item="integer", bidder="integer").window(9)
    query = (
        bids.alias("p")
        .join(bids.alias("q"), on=[("p.item", "q.item")])
        .join(bids.alias("r"), on=[("q.bidder", "r.bidder")])
    )
    found = enumerate_plans(query.plan(), JOIN_ORDERS)
    assert len(found) == orders(3)
    streams = {"bids": [(t, t + 1, (t % 2, t % 3)) for t in range(0, 24, 4)]}
    expected = specified(query.plan(), streams)
    assert expected
    for plan in found:
        assert sum(isinstance(node.operator, TimeWindow) for node in plan.nodes) == 1
        assert compare(expected, normal_form(run(plan, streams)))


def test_a_subplan_with_two_consumers_is_rewritten_for_both() -> None:
    pair = A.join(B, on=[("z", "y")])
    plan = Plan({"pairs": pair.node, "counts": pair.group_by("y").aggregate(n=count()).node})
    found = enumerate_plans(plan, JOIN_ORDERS)
    assert len(found) == 2
    for member in found:
        assert sum(isinstance(node.operator, Join) for node in member.nodes) == 1


def test_several_outputs_are_rewritten_each() -> None:
    plan = Plan({"one": A.join(B, on=[("z", "y")]).node, "other": C.join(D, on=[("x", "w")]).node})
    found = enumerate_plans(plan, JOIN_ORDERS)
    assert len(found) == 4
    assert all(set(member.outputs) == {"one", "other"} for member in found)


def test_filters_go_below_in_every_combination() -> None:
    """For either side of the join: above or below; and for either order of its sides."""
    query = A.join(B, on=[("z", "y")]).filter((col("k") > 1) & (col("y") < 5))
    assert len(enumerate_plans(query.plan(), SIDES)) == 2 * 2 * 2


def test_only_the_given_rules_are_used() -> None:
    plan = chain(3).plan()
    assert len(enumerate_plans(plan, rules=[])) == 1
    assert len(enumerate_plans(plan, rules=JOIN_ORDERS)) == 12
    assert len(enumerate_plans(plan, rules=[JOIN_COMMUTATIVITY])) == 4
    assert len(enumerate_plans(plan, rules=[JOIN_ASSOCIATIVITY])) == 2


def test_the_limit() -> None:
    plan = chain(3).plan()
    assert len(enumerate_plans(plan, JOIN_ORDERS, limit=12)) == 12
    with pytest.raises(EnumerationLimit, match="more than 11 equivalent plans") as refusal:
        enumerate_plans(plan, JOIN_ORDERS, limit=11)
    assert refusal.value.limit == 11


def test_plans_come_one_by_one() -> None:
    """A join of eight streams has 17 million plans; the first ones are there at once."""
    found = enumerate_plans(chain(8).plan())
    assert len(set(found[:5])) == 5


def test_a_physical_plan_is_enumerated_as_what_it_computes() -> None:
    plan = chain(3).plan()
    assert enumerate_plans(physical_plan(plan), JOIN_ORDERS) == enumerate_plans(plan, JOIN_ORDERS)


PRINT_PLANS = """
from midstream.optimizer import enumerate_plans
from midstream.plans.algebra.builder import stream
from midstream.plans.expressions.operands import col

a, b, c = (stream(n, **{n + m: "integer" for m in "xyz"}).window(9) for n in "abc")
query = a.join(b, on=[("ax", "by"), ("az", "by")]).join(c, on=[("by", "cx"), ("ay", "cz")])
for plan in enumerate_plans(query.filter((col("ax") > 1) & (col("cz") < col("bz"))).distinct().plan()):
    print(repr(plan))
"""


@pytest.mark.slow
def test_the_order_is_the_same_in_every_process() -> None:
    def printed(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PRINT_PLANS]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    one, other = printed("1"), printed("4321")
    assert one == other
    assert one.count("\n") > 50


PRODUCT_FREE = {3: 8, 4: 40, 5: 224}


@pytest.mark.parametrize("n", PRODUCT_FREE)
def test_products_are_left_out_where_they_are_not_needed(n: int) -> None:
    plan = chain(n).plan()
    found = enumerate_plans(plan, JOIN_ORDERS, products="needed")
    assert len(found) == PRODUCT_FREE[n]
    assert set(found) < set(enumerate_plans(plan, JOIN_ORDERS, products="auto"))


def test_where_the_inputs_do_not_belong_together_one_product_is_needed() -> None:
    query = A.join(B, on=[("z", "y")]).join(C).plan()
    for member in enumerate_plans(query, JOIN_ORDERS, products="needed"):
        assert sum(str(node.operator) == "product" for node in member.nodes) == 1


def test_products_are_named() -> None:
    with pytest.raises(ArgumentError, match=r"found 'some'.*, expected 'auto' or 'needed' or 'all'"):
        enumerate_plans(chain(2).plan(), products="some")  # type: ignore[arg-type]
