"""An operator that asks a second input: two of them at once, or one after the other."""

from __future__ import annotations

from midstream.plans.algebra.operators import Union
from midstream.plans.algebra.plan import Node


def at_once(node: Node, lower: Node) -> Node:
    """Of an operator over another one of its kind: one, which asks the union of what both do."""
    (rows, left), right = lower.inputs, node.inputs[1]
    return node.with_inputs((rows, Node(Union(), (left, right))))


def one_by_one(node: Node, union: Node) -> Node:
    """Of an operator that asks a union: one that asks its first input, and above it one that asks the
    others."""
    first, *others = union.inputs
    rest = Node(Union(), tuple(others)) if len(others) > 1 else others[0]
    return node.with_inputs((node.with_inputs((node.inputs[0], first)), rest))
