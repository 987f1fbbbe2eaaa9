"""Let duplicate elimination change places with an intersection or a max-union.

    distinct(op(L, R))  =  op(distinct(L), distinct(R))        for op an intersection or a max-union

Why      The smaller of two numbers is positive if both are, the larger if one is.
Gain     Below: each row is compared once. Above: one duplicate elimination instead of two.
Source   ours, by (8.5), (8.12) and (8.13)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, Intersection, MaxUnion
from midstream.plans.algebra.plan import Node

COMPARES = (Intersection, MaxUnion)


def match_below(node: Node) -> Iterable[Node]:
    """The operator below."""
    return node.inputs


def rewrite_below(node: Node, below: Node) -> Node:
    """The operator over inputs without duplicates."""
    return below.with_inputs(tuple(map(distinct, below.inputs)))


def match_above(node: Node) -> Iterable[Node]:
    """The operator."""
    return [node]


def rewrite_above(node: Node, matched: Node) -> Node:
    """What the operator gives, without duplicates."""
    return distinct(node.with_inputs(tuple(child.inputs[0] for child in node.inputs)))


DISTINCT_BELOW_INTERSECTION = Rule(
    name="distinct-below-intersection",
    equation="distinct(op(L, R)) = op(distinct(L), distinct(R))",
    shape=Shape(Distinct, Shape(COMPARES)),
    match=match_below,
    rewrite=rewrite_below,
)

DISTINCT_ABOVE_INTERSECTION = Rule(
    name="distinct-above-intersection",
    equation="op(distinct(L), distinct(R)) = distinct(op(L, R))",
    shape=Shape(COMPARES, each=Shape(Distinct)),
    match=match_above,
    rewrite=rewrite_above,
)
