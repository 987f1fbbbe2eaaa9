"""A subplan behind a filter, as rules write it."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.readings import condition_of
from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression, conjunction, conjuncts

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


def parts_of(node: Node) -> Parts:
    """The parts of a filter's condition."""
    return frozenset(conjuncts(condition_of(node)))


def all_parts(node: Node) -> Iterable[Parts]:
    """All of them, together."""
    return [parts_of(node)]


def filtered_below(node: Node, matched: Parts) -> Node:
    """Of a filter over an operator: that operator, over inputs behind some parts of the filter's condition;
    the other parts stay above."""
    below = node.inputs[0]
    inputs = tuple(filtered(matched, child) for child in below.inputs)
    return filtered(parts_of(node) - matched, below.with_inputs(inputs))
