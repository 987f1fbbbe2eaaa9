"""Push duplicate elimination below a join, or pull it up again.

    distinct(join(L, R))  =  join(distinct(L), distinct(R))        if the join keeps all columns of L and R

Why      A pair occurs as often as the product of its halves' multiplicities; it is there once exactly if each
         half is there once.
Gain     Below: the join pairs each half once. Above: fewer elements to look up where the join is selective.
Guard    Where the join drops a column, two different halves make one pair: distinct(join) gives it once, the
         other side twice.
Source   thesis, (10.6); Example 28.1
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, Join
from midstream.plans.algebra.plan import Node


def match_below(node: Node) -> Iterable[Node]:
    """The join."""
    return [node.inputs[0]]


def rewrite_below(node: Node, matched: Node) -> Node:
    """The join of the inputs without duplicates."""
    return Node(matched.operator, tuple(Node(Distinct(), (child,)) for child in matched.inputs))


def match_above(node: Node) -> Iterable[Node]:
    """The join."""
    return [node]


def rewrite_above(node: Node, matched: Node) -> Node:
    """The join without its duplicates."""
    left, right = (child.inputs[0] for child in node.inputs)
    return Node(Distinct(), (Node(matched.operator, (left, right)),))


def keeps_all_columns(node: Node, matched: Node) -> bool:
    """Whether the join's output has every column of both sides: else two pairs may be the same row."""
    available = {name for child in matched.inputs for name in child.schema.names}
    return available == set(matched.schema.names)


DISTINCT_BELOW_JOIN = Rule(
    name="distinct-below-join",
    equation="distinct(join(L, R)) = join(distinct(L), distinct(R))",
    shape=Shape(Distinct, Shape(Join)),
    match=match_below,
    guards=(keeps_all_columns,),
    rewrite=rewrite_below,
)

DISTINCT_ABOVE_JOIN = Rule(
    name="distinct-above-join",
    equation="join(distinct(L), distinct(R)) = distinct(join(L, R))",
    shape=Shape(Join, each=Shape(Distinct)),
    match=match_above,
    guards=(keeps_all_columns,),
    rewrite=rewrite_above,
)
