"""Add or drop a duplicate elimination below an operator that stands under another one.

    distinct(op(L, R))  =  distinct(op(distinct(L), R))  =  distinct(op(L, distinct(R)))

Why      Whether op has a row depends on which rows L and R have, not on their multiplicities. This holds
         for projection, union, join, semi- and anti-join, max-union, intersection and strict difference; it
         does not hold for the difference, and for aggregates only sometimes.
Gain     Added: op has less to do and to keep. Dropped: one operator with state less.
Guard    An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   ours
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.changing_places import pushed_down
from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.faithful import below_tells_no_equal_rows_apart
from midstream.optimizer.rules.readings import first_place
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import (
    AntiJoin,
    Distinct,
    Intersection,
    Join,
    MaxUnion,
    Project,
    SemiJoin,
    StrictDifference,
    Union,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_duplicate_free

ASKS_WHICH = (Project, Union, Join, SemiJoin, AntiJoin, MaxUnion, Intersection, StrictDifference)
"""Operators whose output rows, without their multiplicities, depend only on those of their inputs."""


def match_added(node: Node) -> Iterable[int]:
    """The inputs that may have duplicates."""
    (below,) = node.inputs
    return [place for place, child in enumerate(below.inputs) if not is_duplicate_free(child)]


def rewrite_added(node: Node, place: int) -> Node:
    """The plan with a duplicate elimination at that place."""
    return distinct(pushed_down(node, place))


def match_second(node: Node) -> Iterable[int]:
    """The second place, if there is one."""
    return [1] if len(node.inputs[0].inputs) > 1 else []


def rewrite_dropped(node: Node, place: int) -> Node:
    """The plan without the duplicate elimination at that place."""
    (below,) = node.inputs
    return distinct(below.with_input(place, below.inputs[place].inputs[0]))


INNER_DISTINCT_ADDED = Rule(
    name="inner-distinct-added",
    equation="distinct(op(L, R)) = distinct(op(distinct(L), R))",
    shape=Shape(Distinct, Shape(ASKS_WHICH)),
    match=match_added,
    guards=(below_tells_no_equal_rows_apart,),
    rewrite=rewrite_added,
)

LEFT_DISTINCT_DROPPED = Rule(
    name="left-distinct-dropped",
    equation="distinct(op(distinct(L), R)) = distinct(op(L, R))",
    shape=Shape(Distinct, Shape(ASKS_WHICH, Shape(Distinct))),
    match=first_place,
    guards=(below_tells_no_equal_rows_apart,),
    rewrite=rewrite_dropped,
)

RIGHT_DISTINCT_DROPPED = Rule(
    name="right-distinct-dropped",
    equation="distinct(op(L, distinct(R))) = distinct(op(L, R))",
    shape=Shape(Distinct, Shape(ASKS_WHICH, ANY, Shape(Distinct))),
    match=match_second,
    guards=(below_tells_no_equal_rows_apart,),
    rewrite=rewrite_dropped,
)
