"""Helpers of rules for filters and the parts of their conditions."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.readings import condition_of
from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression, conjunction, conjuncts, may_raise

Parts = tuple[Expression, ...]
"""Conjuncts of a filter's condition, in the order of evaluation."""


def filtered(parts: Iterable[Expression], node: Node) -> Node:
    """A node below a filter; merged with an existing filter; the node itself without conditions."""
    parts = list(parts)
    if not parts:
        return node
    if isinstance(node.operator, Filter):
        return Node(Filter(conjunction([node.operator.condition, *parts])), node.inputs)
    return Node(Filter(conjunction(parts)), (node,))


def parts_of(node: Node) -> Parts:
    """The parts of a filter's condition."""
    return tuple(dict.fromkeys(conjuncts(condition_of(node))))


def all_parts(node: Node) -> Iterable[Parts]:
    """All parts together; then those that never raise, if they are fewer."""
    return with_free(parts_of(node))


def with_free(*several: Parts) -> Iterable[Parts]:
    """Sets of parts that are to move together, and of each the parts that never raise.

    The latter may move to places where others may not.
    """
    free = (tuple(part for part in parts if not may_raise(part)) for parts in several)
    return [parts for parts in dict.fromkeys([*several, *free]) if parts]


def without(parts: Parts, moved: Iterable[Expression]) -> Parts:
    """The parts that remain after some have moved."""
    moved = {*moved}
    return tuple(part for part in parts if part not in moved)


def filtered_below(node: Node, matched: Parts) -> Node:
    """Push parts of a filter's condition below the operator under it; the other parts stay above."""
    below = node.inputs[0]
    inputs = tuple(filtered(matched, child) for child in below.inputs)
    return filtered(without(parts_of(node), matched), below.with_inputs(inputs))
