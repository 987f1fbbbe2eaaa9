"""Two operators of one input each in the other order."""

from __future__ import annotations

from midstream.plans.algebra.plan import Node


def swapped(upper: Node, lower: Node) -> Node:
    """The lower operator on top of the upper one."""
    return Node(lower.operator, (Node(upper.operator, lower.inputs),))
