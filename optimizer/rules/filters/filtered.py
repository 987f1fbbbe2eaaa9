"""A subplan behind a filter, as rules write it."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression, conjunction

Parts = frozenset[Expression]
"""Conditions that stand in one filter, told apart by `and`."""


def filtered(parts: Iterable[Expression], node: Node) -> Node:
    """A node behind a filter; merged with one that is there already; the node itself for no condition."""
    parts = list(parts)
    if not parts:
        return node
    if isinstance(node.operator, Filter):
        return Node(Filter(conjunction([*parts, node.operator.condition])), node.inputs)
    return Node(Filter(conjunction(parts)), (node,))
