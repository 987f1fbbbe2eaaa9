"""Simplify a comparison of a stream with itself.

    op(S, S)  =  S                    for op an intersection or a max-union
    op(S, S)  =  filter(false, S)     for op a difference or a strict difference

Why      The smaller and the larger of n and n are n, and n - n is 0.
Gain     No state.
Source   ours, by (8.6) and (8.12) to (8.14)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import inputs
from midstream.optimizer.rules.readings import as_matched
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import (
    Difference,
    Filter,
    Intersection,
    MaxUnion,
    StrictDifference,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import FALSE


def match(node: Node) -> Iterable[Node]:
    """The input, if both are the same."""
    left, right = node.inputs
    return [left] if left == right else []


def rewrite_nothing(node: Node, both: Node) -> Node:
    """Nothing of it."""
    return Node(Filter(FALSE), (both,))


SAME_AS_ITSELF = Rule(
    name="same-as-itself",
    equation="op(S, S) = S",
    shape=Shape((Intersection, MaxUnion)),
    match=match,
    rewrite=as_matched,
    measure=inputs,
)

DIFFERENCE_FROM_ITSELF = Rule(
    name="difference-from-itself",
    equation="op(S, S) = filter(false, S)",
    shape=Shape((Difference, StrictDifference)),
    match=match,
    rewrite=rewrite_nothing,
    measure=inputs,
)
