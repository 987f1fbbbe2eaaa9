"""Operators that look up a second input: two look-ups at once, or one after the other."""

from __future__ import annotations

from midstream.plans.algebra.operators import Union
from midstream.plans.algebra.plan import Node


def at_once(node: Node, lower: Node) -> Node:
    """Merge an operator with another one of its kind below it: it looks up the union of both right sides."""
    (rows, left), right = lower.inputs, node.inputs[1]
    return node.with_inputs((rows, Node(Union(), (left, right))))


def one_by_one(node: Node, union: Node) -> Node:
    """Split an operator that looks up a union: one looks up the first input, one above it the others."""
    first, *others = union.inputs
    rest = Node(Union(), tuple(others)) if len(others) > 1 else others[0]
    return node.with_inputs((node.with_inputs((node.inputs[0], first)), rest))
