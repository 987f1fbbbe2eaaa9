"""Change the order of intersections and of max-unions.

    op(L, R)             =  op(R, L)                 for op an intersection or a max-union
    op(op(L, R), S)      =  op(L, op(R, S))

Why      The smallest and the largest of several numbers do not depend on their order.
Gain     The smaller intermediate result; and equal subplans become visible.
Guard    An intersection has the columns of its left side, which may be known where those of the right side
         may be unknown. An intersection of a max-union cannot be reordered.
Source   ours, by (8.12) and (8.13)
"""

from __future__ import annotations

from midstream.optimizer.rules.readings import first_input, itself
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Intersection, MaxUnion
from midstream.plans.algebra.plan import Node

COMPARING = (Intersection, MaxUnion)


def keeps_columns(node: Node, matched: Node) -> bool:
    """True if the columns stay the same: an intersection has those of its left side."""
    return rewrite_swapped(node, matched).schema == node.schema


def rewrite_swapped(node: Node, matched: Node) -> Node:
    """With the sides swapped."""
    return node.with_inputs(node.inputs[::-1])


def are_alike(node: Node, lower: Node) -> bool:
    """True if both are intersections, or both max-unions."""
    return node.operator == lower.operator


def rewrite_turned(node: Node, lower: Node) -> Node:
    """The operator that compares the second and the third input first."""
    (left, right), third = lower.inputs, node.inputs[1]
    return node.with_inputs((left, lower.with_inputs((right, third))))


COMPARING_COMMUTATIVITY = Rule(
    name="comparing-commutativity",
    equation="op(L, R) = op(R, L)",
    shape=Shape(COMPARING),
    match=itself,
    guards=(keeps_columns,),
    rewrite=rewrite_swapped,
)

COMPARING_ASSOCIATIVITY = Rule(
    name="comparing-associativity",
    equation="op(op(L, R), S) = op(L, op(R, S))",
    shape=Shape(COMPARING, Shape(COMPARING)),
    match=first_input,
    guards=(are_alike,),
    rewrite=rewrite_turned,
)
