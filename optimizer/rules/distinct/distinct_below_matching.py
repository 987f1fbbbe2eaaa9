"""Let duplicate elimination change places with what keeps rows or does not.

    distinct(op(L, R))  =  op(distinct(L), R)        for op a semi-join, an anti-join or a strict difference

Why      Equal rows of L are kept all or none, so that it does not matter whether they are one before.
Gain     Below: each row is looked up once. Above: duplicates are sought only of what is kept.
Guard    An expression that tells 0.0 from -0.0, which are equal, is asked of one of them only.
Source   ours, by (8.5), (8.14), (8.16) and erratum 5

A difference gives a row that L has twice and R once, although distinct(L) has no row left then.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.distinct.distinct_in_matching import LOOKS_UP
from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.faithful import asks_equal_rows_alike
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct
from midstream.plans.algebra.plan import Node


def match_below(node: Node) -> Iterable[Node]:
    """The operator below."""
    return node.inputs


def tells_no_equal_rows_apart(node: Node, below: Node) -> bool:
    """Whether the operator asks equal rows alike, of which one is kept."""
    return asks_equal_rows_alike(below)


def rewrite_below(node: Node, below: Node) -> Node:
    """The operator over the left side without duplicates."""
    left, right = below.inputs
    return below.with_inputs((distinct(left), right))


def match_above(node: Node) -> Iterable[Node]:
    """The duplicate elimination of the left side."""
    return node.inputs[:1]


def told_no_equal_rows_apart(node: Node, left: Node) -> bool:
    """Whether the operator asks equal rows alike, of which one is kept."""
    return asks_equal_rows_alike(node)


def rewrite_above(node: Node, left: Node) -> Node:
    """What the operator gives, without duplicates."""
    return distinct(node.with_inputs((left.inputs[0], node.inputs[1])))


DISTINCT_BELOW_MATCHING = Rule(
    name="distinct-below-matching",
    equation="distinct(op(L, R)) = op(distinct(L), R)",
    shape=Shape(Distinct, Shape(LOOKS_UP)),
    match=match_below,
    guards=(tells_no_equal_rows_apart,),
    rewrite=rewrite_below,
)

DISTINCT_ABOVE_MATCHING = Rule(
    name="distinct-above-matching",
    equation="op(distinct(L), R) = distinct(op(L, R))",
    shape=Shape(LOOKS_UP, Shape(Distinct)),
    match=match_above,
    guards=(told_no_equal_rows_apart,),
    rewrite=rewrite_above,
)
