"""Swap the sides of a join.

    join(L, R)  =  join(R, L)

Why      A pair of rows is the same pair from either side; the join lists its output columns, so their order
         stays.
Gain     None by itself, as joins are symmetric; together with associativity it reaches every join order.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from midstream.optimizer.rules.readings import itself
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node


def rewrite(node: Node, matched: Node) -> Node:
    """The join with its sides swapped."""
    return node.with_inputs(node.inputs[::-1])


JOIN_COMMUTATIVITY = Rule(
    name="join-commutativity",
    equation="join(L, R) = join(R, L)",
    shape=Shape(Join),
    match=itself,
    rewrite=rewrite,
    keeps_links=True,
)
