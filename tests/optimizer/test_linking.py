"""Joins written in one way: equal joins come out equal, and mean what they meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.driving import run
from midstream.optimizer.rules.linking import linked
from midstream.optimizer.search.enumeration import with_linked_joins
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.expressions import Const, Expression, conjunction
from midstream.plans.expressions.operands import col, lit
from midstream.plans.values.snapshots import compare, normal_form
from midstream.testing import plans, streams_for


def integers(name: str, *columns: str) -> Stream:
    return stream(name, dict.fromkeys(columns, "integer"), intervals=True)


A, B, C, D = integers("a", "a", "a2"), integers("b", "b"), integers("c", "c"), integers("d", "d")


def conditions(query: Stream) -> list[str]:
    """The join conditions of a query after linking, from the inputs up."""
    return [str(node.operator) for node in linked(query.node).walk() if isinstance(node.operator, Join)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(
            A.join(B, on=[("a", "b")]).join(C, on=[("b", "c")]),
            ["join a = b", "join a = c"],
            id="the first name stands for its class",
        ),
        pytest.param(
            A.join(B).join(C).join(D, on=[("a", "d"), ("b", "d"), ("c", "d")]),
            ["join a = b", "join a = c", "join a = d"],
            id="equalities go to the first join that can check them, also those that only follow",
        ),
        pytest.param(
            A.join(B, on=[("a", "b")]).join(C, on=[("a", "c"), ("b", "c")]),
            ["join a = b", "join a = c"],
            id="what follows from others is left out",
        ),
        pytest.param(
            A.join(B, on=[("a", "b")]).join(C, on=[("a2", "c"), ("b", "c")]),
            ["join (a = b) and (a2 = b)", "join a = c"],
            id="an input may have two columns of a class: both must be equal to the other side",
        ),
        pytest.param(
            B.join(C).join(A, on=[("a", "b"), ("a2", "c")]),
            ["product", "join (a = b) and (a2 = c)"],
            id="different classes are not mixed",
        ),
        pytest.param(
            B.join(C).join(A, on=col("a").eq(col("a2")) & col("a").eq(col("b"))),
            ["product", "join (a = b) and (a2 = b)"],
            id="also where its own columns are to be equal to each other",
        ),
        pytest.param(
            A.filter(col("a").eq(col("a2"))).join(B, on=[("a", "b"), ("a2", "b")]),
            ["join a = b"],
            id="what an input guarantees need not be checked again",
        ),
        pytest.param(
            A.join(B).join(C, on=(col("a") < col("b")) & (col("b") < col("c")) & (col("a2") > 1)),
            ["join (a < b) and (a2 > 1)", "join b < c"],
            id="other conditions go to the first join that can check them",
        ),
        pytest.param(
            A.join(B, on=Const(False)).join(C),
            ["product", "join False"],
            id="conditions that read nothing go to the outermost join",
        ),
        pytest.param(
            A.join(B, on=col("a").eq(col("b")) & Const(True)), ["join a = b"], id="true is no condition"
        ),
        pytest.param(
            A.join(B, on=[("a", "b")]).distinct().join(C, on=[("b", "c")]),
            ["join a = b", "join a = c"],
            id="what an input guarantees makes one class of two",
        ),
        pytest.param(
            A.join(B).distinct().join(C, on=[("a", "c"), ("b", "c")]),
            ["product", "join (a = c) and (b = c)"],
            id="duplicate elimination separates joins",
        ),
    ],
)
def test_conditions_are_given_out_in_one_way(query: Stream, expected: list[str]) -> None:
    assert conditions(query) == expected


def test_inner_joins_keep_all_columns_in_the_order_of_the_outermost_one() -> None:
    query = A.join(B, columns=["b"]).join(C, columns=["c", "b"])
    outer = linked(query.node)
    assert outer.schema == query.schema
    assert outer.inputs[0].schema.names == ("b", "a", "a2")


def test_an_equality_of_a_column_with_itself_drops_unknown_values() -> None:
    left = stream("l", intervals=True, x="integer?")
    query = left.join(B, on=col("x").eq(col("x"))).join(C, on=col("x").eq(col("x")))
    streams = {"l": [(0, 9, (None,)), (0, 9, (7,))], "b": [(0, 9, (1,))], "c": [(0, 9, (2,))]}
    assert conditions(query) == ["join x = x", "product"]
    assert normal_form(run(Plan(linked(query.node)), streams)) == {(7, 1, 2): ((0, 9, 1),)}


def test_columns_that_cannot_be_compared_are_not_equated_through_one_of_any_type() -> None:
    """x = any and any = y say nothing that x and y alone could be asked."""
    x, y = stream("x", intervals=True, x="string"), stream("y", intervals=True, y="integer")
    z = stream("z", intervals=True, z="any", z2="string")
    query = x.join(y).join(z, on=[("x", "z"), ("y", "z"), ("x", "z2")])
    assert conditions(query) == ["product", "join (x = z) and (x = z2) and (y = z)"]
    assert conditions(x.join(z, on=[("x", "z"), ("z", "z2")])) == ["join (x = z) and (x = z2) and (z = z2)"]


def test_joins_that_hide_a_column_whose_name_occurs_again_stay_apart() -> None:
    again = integers("again", "b")
    query = A.join(B, on=[("a", "b")], columns=["a"]).join(again, on=[("a", "b")])
    assert linked(query.node) == query.node
    hidden_twice = A.join(B, columns=["a"]).join(C.join(again, columns=["c"]))
    assert linked(hidden_twice.node) == hidden_twice.node


def test_a_join_below_a_window_stays_as_it_is() -> None:
    """Windows, and all below them, are not exchanged by a migration."""
    below = stream("s", x="integer").join(
        stream("t", y="integer", x2="integer"), on=[("x", "y"), ("x", "x2")]
    )
    query = below.window(5).join(C)
    assert linked(query.node).inputs[0] is query.node.inputs[0]


@st.composite
def join_trees(draw: st.DrawFn) -> Plan:
    """Joins of two to four streams in any shape, under conditions of all kinds, stated at any of them."""
    names = iter(draw(st.permutations([f"{letter}{i}" for letter in "pqr" for i in range(3)])))
    parts = []
    for i in range(draw(st.integers(2, 4))):
        columns = {
            next(names): draw(st.sampled_from(["integer", "integer", "integer?", "any"])) for _ in "xy"
        }
        parts.append(stream(f"s{i}", dict(columns), intervals=True))
    while len(parts) > 1:
        left, right = (parts.pop(draw(st.integers(0, len(parts) - 1))) for _ in range(2))
        columns = left.schema.names + right.schema.names
        parts.append(
            left.join(right, on=draw(join_conditions(columns)), columns=draw(st.permutations(columns)))
        )
    return parts[0].plan()


@st.composite
def join_conditions(draw: st.DrawFn, columns: tuple[str, ...]) -> Expression:
    column = st.sampled_from(columns).map(col)
    equality = st.tuples(column, column).map(lambda pair: pair[0] == pair[1])
    order = st.tuples(column, column).map(lambda pair: pair[0] < pair[1])
    known = column.map(lambda one: ~one.is_null())
    # Few constants: a join on False or on unknown has no result to compare.
    some = st.one_of(equality, equality, equality, order, known, st.just(lit(True)))
    return conjunction(one.expression for one in draw(st.lists(some, max_size=2)))


@given(join_trees(), st.data())
def test_linking_preserves_every_snapshot(plan: Plan, data: st.DataObject) -> None:
    """Transitive equalities, also of unknown values and of columns that only sometimes can be compared."""
    result = with_linked_joins(plan)
    small = st.one_of(st.integers(0, 1), st.none())
    streams = {
        source.stream: data.draw(
            st.lists(
                st.tuples(
                    *(small if column.nullable else st.integers(0, 1) for column in source.columns)
                ).map(lambda row: (0, 5, row)),
                max_size=4,
            )
        )
        for source in plan.sources
    }
    expected = specified(plan, streams)
    assert compare(expected, specified(result, streams))
    assert compare(expected, normal_form(run(result, streams)))


@given(plans(), st.data())
def test_linking_any_plan_preserves_every_snapshot(plan: Plan, data: st.DataObject) -> None:
    streams = data.draw(streams_for(plan))
    assert compare(specified(plan, streams), specified(with_linked_joins(plan), streams))


@given(plans())
def test_linking_twice_changes_nothing(plan: Plan) -> None:
    once = with_linked_joins(plan)
    assert with_linked_joins(once) == once
    assert once.schema == plan.schema
