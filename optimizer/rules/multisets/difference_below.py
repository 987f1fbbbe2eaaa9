"""Let a difference and what puts streams together change places.

    minus(op(L, R), S)  =  op(minus(L, S), minus(R, S))

for op a max-union or an intersection, and, if minus is a strict difference, a union.

Why      What is larger stays so when the same is taken away from both. A strict difference keeps all rows of
         a kind or none, wherever they come from.
Gain     Below: less to keep above. Above: S is read once.
Guard    From a union, a difference takes a row of S once; below it, once from each side.
Source   ours, by (8.3), (8.6) and (8.12) to (8.14)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.multisets.differences_merging import DIFFERENCES
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Difference, Intersection, MaxUnion, Union
from midstream.plans.algebra.plan import Node

TOGETHER = (Union, MaxUnion, Intersection)


def match_below(node: Node) -> Iterable[Node]:
    """What is below the difference."""
    return node.inputs[:1]


def takes_from_each(node: Node, below: Node) -> bool:
    """Whether taking from each side takes no more: from both sides of a union, a difference takes twice."""
    return not (isinstance(node.operator, Difference) and isinstance(below.operator, Union))


def rewrite_below(node: Node, below: Node) -> Node:
    """The difference of each side."""
    taken = node.inputs[1]
    return below.with_inputs(tuple(node.with_inputs((child, taken)) for child in below.inputs))


def match_above(node: Node) -> Iterable[Node]:
    """The first difference, if all are from the same."""
    first, *others = node.inputs
    same = (first.operator, first.inputs[1])
    return [first] if all((each.operator, each.inputs[1]) == same for each in others) else []


def took_from_each(node: Node, first: Node) -> bool:
    """Whether taking from all together takes no less: from a union, a difference takes once."""
    return takes_from_each(first, node)


def rewrite_above(node: Node, first: Node) -> Node:
    """One difference above."""
    together = node.with_inputs(tuple(child.inputs[0] for child in node.inputs))
    return first.with_inputs((together, first.inputs[1]))


DIFFERENCE_BELOW = Rule(
    name="difference-below",
    equation="minus(op(L, R), S) = op(minus(L, S), minus(R, S))",
    shape=Shape(DIFFERENCES, Shape(TOGETHER)),
    match=match_below,
    guards=(takes_from_each,),
    rewrite=rewrite_below,
)

DIFFERENCE_ABOVE = Rule(
    name="difference-above",
    equation="op(minus(L, S), minus(R, S)) = minus(op(L, R), S)",
    shape=Shape(TOGETHER, each=Shape(DIFFERENCES)),
    match=match_above,
    guards=(took_from_each,),
    rewrite=rewrite_above,
)
