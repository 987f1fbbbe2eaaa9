"""Swap the sides of a join.

    join(L, R)  =  join(R, L)

Why      A pair of rows is the same pair from either side; the join lists its output columns, so that their
         order stays.
Gain     None by itself, as joins are symmetric; together with associativity it reaches every join order.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[Join]:
    """The join."""
    assert isinstance(node.operator, Join)
    return [node.operator]


def rewrite(node: Node, matched: Join) -> Node:
    """The same join with its sides swapped."""
    left, right = node.inputs
    return Node(matched, (right, left))


JOIN_COMMUTATIVITY = Rule(
    name="join-commutativity",
    equation="join(L, R) = join(R, L)",
    shape=Shape(Join),
    match=match,
    rewrite=rewrite,
    keeps_links=True,
)
