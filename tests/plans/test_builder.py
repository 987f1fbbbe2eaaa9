"""The builder writes plans as they are meant, and says what is missing where they cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.operators import Aggregate, Filter, Join, Project
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.expressions import Col
from midstream.plans.expressions.operands import col, lit
from midstream.plans.values.errors import ExpressionError, PlanError, SchemaError
from midstream.plans.values.schema import Column, Schema, Type

S = stream("s", x="integer", y="float?")
T = stream("t", z="integer", w="string")


def test_columns_are_declared_in_any_way() -> None:
    schema = Schema((Column("x", Type.INTEGER), Column("y", Type.FLOAT, nullable=True)))
    assert stream("s", schema) == S == stream("s", {"x": "integer", "y": "FLOAT?"})
    assert stream("s", {"x": Type.INTEGER}).schema.names == ("x",)
    assert stream("s", {"odd name": "any"}).schema.names == ("odd name",)
    assert stream("s").schema == Schema(())


def test_a_join_gives_the_left_columns_then_the_right_ones() -> None:
    assert S.join(T).schema.names == ("x", "y", "z", "w")
    assert S.join(T, columns=["w", "x"]).schema.names == ("w", "x")


def test_a_join_says_the_same_in_pairs_and_in_conditions() -> None:
    pairs = S.join(T, on=[("x", "z")])
    assert pairs == S.join(T, on=S["x"].eq(T["z"])) == S.join(T, on=T["z"].eq(S["x"]))
    assert isinstance(pairs.node.operator, Join)
    assert str(S.join(T).node.operator) == str(S.join(T, on=[]).node.operator) == "product"


def test_selecting_keeps_then_computes() -> None:
    assert S.select(col("y"), S["x"]).node == S.select("y", "x").node
    chosen = S.select("y", twice=S["x"] * 2, one=1)
    assert str(chosen.schema) == "(y float null, twice integer, one integer)"
    assert isinstance(chosen.node.operator, Project)


def test_renaming_keeps_the_rest_in_place() -> None:
    assert S.rename({"y": "v"}).schema.names == ("x", "v")
    assert S.alias("a").schema.names == ("a.x", "a.y")
    assert S.rename({"x": "y", "y": "x"}).node.operator == Project((("y", Col("x")), ("x", Col("y"))))


def test_filters_have_one_form() -> None:
    one = S.filter((col("y") > 1) & (col("x") > 1))
    assert one == S.filter((col("x") > 1) & (col("y") > 1))
    assert isinstance(one.node.operator, Filter)


def test_grouping_keeps_the_order_of_its_keys() -> None:
    grouped = S.group_by("y", "x").aggregate(n=count())
    assert grouped.node.operator == Aggregate(("y", "x"), (("n", count()),))
    assert S.aggregate(n=count()).node.operator == Aggregate((), (("n", count()),))


def test_every_method_gives_a_new_stream() -> None:
    before = S.node
    S.window(5).filter(col("x") > 1).distinct().union(S.window(5))
    assert S.node is before


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: S["z"], SchemaError, r"there is no column z in \(x integer, y float null\)"),
        (lambda: S.rename({"z": "x"}), SchemaError, "there is no column z"),
        (lambda: S.rename({"x": "y"}), SchemaError, "column y occurs twice"),
        (lambda: S.select("x", x=col("y")), SchemaError, "column x occurs twice"),
        (lambda: S.select("q"), ExpressionError, "there is no column q"),
        (lambda: S.select(col("x") + 1), PlanError, r"found x \+ 1, expected the name of a column"),
        (lambda: S.select(7), PlanError, "select: found 7, expected the name of a column"),
        (lambda: S.select(z=[1]), ExpressionError, r"found constant \[1\]"),
        (lambda: S.filter(col("z") > 1), ExpressionError, "there is no column z"),
        (lambda: S.filter(col("x")), PlanError, "x is integer, expected a condition"),
        (lambda: S.group_by("q"), SchemaError, "there is no column q"),
        (S.aggregate, PlanError, "found neither keys nor functions"),
        (
            lambda: S.aggregate(n=5),
            PlanError,
            r"aggregate n: found 5, expected an aggregate such as count\(\)",
        ),
        (lambda: S.aggregate(n=count), PlanError, "aggregate n: found <function count"),
        (lambda: S.group_by("x").aggregate(x=count()), SchemaError, "column x occurs twice"),
        (lambda: S.join(S), PlanError, r"join: both sides have a column x; rename one, .* \.alias\(\)"),
        (lambda: S.join(T, on=[("x", "w")]), ExpressionError, "compares string with integer"),
        (lambda: S.join(T, on=[("x", "q")]), ExpressionError, "there is no column q"),
        (lambda: S.join(T, columns=["q"]), SchemaError, "there is no column q"),
        (lambda: S.union(T), PlanError, "union: found inputs .* expected the same names and types"),
        (lambda: S.window(0), PlanError, "found a window of 0"),
        (lambda: stream("s", {"x": "integer"}, y="integer"), SchemaError, "both as a schema and as keywords"),
        (lambda: stream("s", x="number"), SchemaError, "column x: found type 'number', expected one of"),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_written(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("text", ["itemID", "itemid", "ITEMID"])
def test_the_name_of_a_column_is_no_constant(text: str) -> None:
    bids = stream("bids", itemID="integer", price="float")
    message = rf"found w='{text}', which is a column's name; expected col\('itemID'\) .*, or lit\('{text}'\)"
    with pytest.raises(PlanError, match=message):
        bids.select("price", w=text)
    assert bids.select(w=lit(text)) is not None
    assert bids.select(w=5, v=True, u=None, t="lamp").plan().schema.names == ("w", "v", "u", "t")
