"""Distribute a join over a union, or merge joins with the same input.

    join(c, union(A, .., Z), R)  =  union(join(c, A, R), .., join(c, Z, R))

Why      A row of the union is a row of one input, with the same partners.
Gain     Distributed: each input can have its own join order. Merged: R is kept once.
Guard    Read from right to left: joins with different conditions, columns or inputs R cannot be merged; and
         inputs with different columns have no union.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import above_each, below_each
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Join, Union
from midstream.plans.algebra.plan import Node


def are_the_same_join(node: Node, first: Node) -> bool:
    """True if the joins have equal conditions and output columns."""
    return all(join.operator == first.operator for join in node.inputs)


def have_the_same_partners(node: Node, first: Node) -> bool:
    """True if the joins have the same right side; otherwise rows would meet other rows than before."""
    return all(join.inputs[1] == first.inputs[1] for join in node.inputs)


def have_the_same_columns(node: Node, first: Node) -> bool:
    """True if the left sides have the same columns in the same order, so that a union of them exists."""
    columns = [[(c.name, c.type) for c in join.inputs[0].schema] for join in node.inputs]
    return all(each == columns[0] for each in columns)


JOIN_BELOW_UNION = Rule(
    name="join-below-union",
    equation="join(c, union(A, B), R) = union(join(c, A, R), join(c, B, R))",
    shape=Shape(Join, Shape(Union)),
    match=first_input,
    rewrite=below_each,
)

JOIN_ABOVE_UNION = Rule(
    name="join-above-union",
    equation="union(join(c, A, R), join(c, B, R)) = join(c, union(A, B), R)",
    shape=Shape(Union, each=Shape(Join)),
    match=first_input,
    guards=(are_the_same_join, have_the_same_partners, have_the_same_columns),
    rewrite=above_each,
)
