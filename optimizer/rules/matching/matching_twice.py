"""Leave out a second look-up of the same rows.

    op(p, op(p, L, R), R)     =  op(p, L, R)         for op a semi-join or an anti-join
    op(p, other(p, L, R), R)  =  filter(false, L)    for op one of them, and other the other one

Why      The second look-up keeps what the first one kept, and an operator drops what its opposite keeps.
Gain     One operator with state less, or two.
Source   ours, by (8.16) and erratum 5
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import condition_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Filter, Matching
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import FALSE


def match(node: Node) -> Iterable[Node]:
    """The lower operator, if it looks up the same rows by the same condition."""
    lower, right = node.inputs
    return [lower] if condition_of(lower) == condition_of(node) and lower.inputs[1] == right else []


def rewrite(node: Node, lower: Node) -> Node:
    """The lower operator, or an empty stream."""
    if lower.operator == node.operator:
        return lower
    return Node(Filter(FALSE), lower.inputs[:1])


MATCHING_TWICE = Rule(
    name="matching-twice",
    equation="op(op(L, R), R) = op(L, R)",
    shape=Shape(Matching, Shape(Matching)),
    match=match,
    rewrite=rewrite,
    measure=operators,
)
