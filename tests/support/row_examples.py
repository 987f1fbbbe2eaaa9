"""Subplans that rules are meant for, where those of their shapes seldom are."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign
from random import Random

from midstream.optimizer.rules import Shape
from midstream.optimizer.rules.filters.filter_across import KINDS
from midstream.optimizer.verification import Subplans
from midstream.optimizer.verification.conditions import condition
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import (
    Aggregate,
    Difference,
    Distinct,
    Filter,
    Intersection,
    Join,
    MaxUnion,
    Project,
    StrictDifference,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.expressions import conjunction
from midstream.plans.expressions.operands import col, lit, opaque
from midstream.plans.values.schema import Type

Example = Callable[[Random], Node]

ZEROS = [
    stream(name, {"z": "integer", "y": "integer?"}, intervals=True).select("y", x=(col("z") - 0.5) * 0.0)
    for name in "ab"
]
"""Streams with rows that are equal and not the same: of 0.0 and -0.0."""


def has_a_sign(value: float) -> bool:
    """A function that tells the zeros apart."""
    return copysign(1.0, value) < 0


def filtered(random: Random, rows: Stream) -> Node:
    """Rows under a condition, which may tell the zeros apart. If it does, it stands alone: above an operator
    that keeps one of the zeros, what it gives is not determined."""
    names = [column.name for column in rows.schema if column.type is Type.INTEGER]
    sign = opaque(has_a_sign, ["x"], "boolean", total=True).expression
    others = (condition(random, ["x", *names]), condition(random, names))
    return Node(Filter(random.choice((sign, conjunction(others)))), (rows.node,))


def multisets(random: Random) -> Stream:
    """Two of the streams together."""
    a, b = ZEROS
    return random.choice(
        (a.difference(b), a.strict_difference(b), a.intersection(b), a.max_union(b), a.difference(a))
    )


def grouped(random: Random) -> Stream:
    """One of them, by its columns."""
    return ZEROS[0].group_by(*random.choice((["x"], ["x", "y"]))).aggregate(n=count())


def projected(random: Random) -> Node:
    """A projection above duplicate elimination that keeps all columns and may compute others."""
    columns = {"u": col("x"), "v": col("y"), "w": opaque(has_a_sign, ["x"], "boolean", total=True)}
    kept = random.choice((["u", "v"], ["u", "v", "w"], ["v", "u"]))
    return ZEROS[0].distinct().select(**{name: columns[name] for name in kept}).node


def of(shape: Shape, other: Example | None = None) -> Example:
    """Subplans of a shape, every other one drawn otherwise."""
    return lambda random: other(random) if other and random.random() < 0.5 else Subplans(random).of(shape)


def joined_unions(random: Random) -> Node:
    """Joins with inputs that may be the same, of the same columns or not, under the same condition or not."""
    p, q, r = (stream(name, {"x": "integer?", "y": "integer"}, intervals=True) for name in "pqr")
    s, t = (stream(name, {"z": "integer?"}, intervals=True) for name in "st")
    usual = {"on": [("x", "z")], "columns": ["x", "z"]}
    other = {"on": [("y", "z")], "columns": ["x", "z"]}
    lefts = random.choice(([p, q], [p, q, r], [p, p], [p, q.select("y", "x")], [p, q.select("x")]))
    rights = random.choice(([s, s, s], [s, s, s], [s, t, s]))
    unusual = random.random() < 0.2 and all("y" in left.schema for left in lefts)
    ways = [usual, other if unusual else usual, usual]
    first, *rest = (left.join(right, **way) for left, right, way in zip(lefts, rights, ways, strict=False))
    return first.union(*rest).node


def eliminated(random: Random) -> Node:
    """Joins with what is made of the same rows, so that a row has a match, or with what has a key."""
    rows = stream("s", {"x": "integer?", "y": "integer"}, intervals=True)
    some = random.choice((rows, rows, rows.filter(col("y") == 1)))
    values = random.choice((some, some, rows.filter(col("x") == 1))).select(u=col("x"), v=col("y"))
    other, on = random.choice(
        (
            (values.select("u").distinct(), [("x", "u")]),
            (values.group_by("u").aggregate(n=count()), [("x", "u")]),
            (values.distinct(), [("x", "u"), ("y", "v")]),
            (values.select("u"), [("x", "u")]),
            (stream("t", {"u": "integer?"}, intervals=True).distinct(), [("x", "u")]),
        )
    )
    columns = random.choice((["x", "y"], ["y"], ["u", "y"], ["y", "x"]))
    sides = (some, other) if random.random() < 0.5 else (other, some)
    return (
        sides[0]
        .join(sides[1], on=[pair if sides[0] is some else pair[::-1] for pair in on], columns=columns)
        .node
    )


def divides(value: int) -> bool:
    """A function that raises an error for 0."""
    return 1 % value == 0


def contradicting(random: Random) -> Node:
    """Conditions that exclude each other, and perhaps one that raises an error before they are asked."""
    x = col("x")
    other = random.choice((opaque(divides, ["x"], "boolean"), x == x, ~x.is_null()))
    rows = stream("s", {"x": "integer"}, intervals=True)
    return rows.filter(other & random.choice(((x > 1) & (x < 1), (x > 0) & (x < 2), x.is_null()))).node


def filtered_on_one_side(random: Random) -> Node:
    """An operator on two inputs, of which one is filtered, perhaps by what raises an error."""
    a, b = (stream(name, {"x": "integer"}, intervals=True) for name in "ab")
    x = col("x")
    some = a.filter(random.choice((opaque(divides, ["x"], "boolean"), x == 1, x != 0, (x < 1) | (x > 1))))
    y = b.select(y=x)
    return random.choice(
        (
            some.join(y, on=[("x", "y")]),
            y.join(some, on=[("y", "x")]),
            some.semi_join(y, on=[("x", "y")]),
            y.semi_join(some, on=[("y", "x")]),
            some.anti_join(y, on=[("x", "y")]),
            some.difference(b),
            some.strict_difference(b),
            some.intersection(b),
            b.intersection(some),
        )
    ).node


def with_nothing(random: Random) -> Stream:
    """An operator on inputs of which some are empty."""
    never = random.choice((col("x") < 9, lit(False)))
    a, b = (stream(name, {"x": "integer?"}, intervals=True) for name in "ab")
    empty, y = random.choice((a, b)).filter(lit(False)), b.select(y=col("x"))
    some = random.choice((a, b, empty, a.filter(never)))
    return random.choice(
        (
            lambda: empty.join(y, on=[("x", "y")]),
            lambda: y.join(empty, on=[("y", "x")], columns=["x"]),
            lambda: empty.union(some),
            lambda: empty.anti_join(y, on=[("x", "y")]),
            lambda: y.select(x=col("y")).anti_join(empty.select(z=col("x")), on=[("x", "z")]),
            lambda: some.difference(empty),
            lambda: empty.difference(some),
            lambda: empty.max_union(some),
            lambda: some.intersection(some.filter(never)),
        )
    )()


def unwanted(random: Random) -> Node:
    """The same behind a filter."""
    return with_nothing(random).filter(random.choice((lit(False), col("x") == 1))).node


ROW_EXAMPLES: dict[str, Example] = {
    "filter-below-distinct": of(
        Shape(Filter, Shape(Distinct)), lambda random: filtered(random, ZEROS[0].distinct())
    ),
    "filter-below-multisets": of(
        Shape(Filter, Shape((Difference, StrictDifference, Intersection, MaxUnion))),
        lambda random: filtered(random, multisets(random)),
    ),
    "filter-below-grouping": of(
        Shape(Filter, Shape(Aggregate)), lambda random: filtered(random, grouped(random))
    ),
    "projection-below-distinct": of(Shape(Project, Shape(Distinct)), projected),
    "projection-above-left": of(Shape(Join, Shape(Project, Shape(Join)))),
    "nothing-combined": lambda random: with_nothing(random).node,
    "nothing-wanted": unwanted,
    "contradiction": of(Shape(Filter), contradicting),
    "filter-across": of(Shape(KINDS, Shape(Filter)), filtered_on_one_side),
    "left-join-elimination": eliminated,
    "right-join-elimination": eliminated,
    "join-as-semi-join": of(Shape(Join), eliminated),
    "join-above-union": joined_unions,
    "projection-above-right": of(Shape(Join, Shape((Distinct, Filter)), Shape(Project, Shape(Join)))),
}
"""By rule: how one is drawn."""
