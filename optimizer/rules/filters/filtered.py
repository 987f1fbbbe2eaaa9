"""A subplan behind a filter, as rules write it."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.readings import condition_of
from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression, conjunction, conjuncts, may_raise

Parts = tuple[Expression, ...]
"""Conditions that stand in one filter, told apart by `and`, in the order in which they are asked."""


def filtered(parts: Iterable[Expression], node: Node) -> Node:
    """A node behind a filter; merged with one that is there already; the node itself for no condition."""
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
    """All of them, together; those that never raise, if there are others."""
    return with_free(parts_of(node))


def with_free(*several: Parts) -> Iterable[Parts]:
    """Parts that are to move together; and of each those that never raise, as these may go where others may
    not."""
    free = (tuple(part for part in parts if not may_raise(part)) for parts in several)
    return [parts for parts in dict.fromkeys([*several, *free]) if parts]


def without(parts: Parts, moved: Iterable[Expression]) -> Parts:
    """The parts that stay."""
    moved = {*moved}
    return tuple(part for part in parts if part not in moved)


def filtered_below(node: Node, matched: Parts) -> Node:
    """Of a filter over an operator: that operator, over inputs behind some parts of the filter's condition;
    the other parts stay above."""
    below = node.inputs[0]
    inputs = tuple(filtered(matched, child) for child in below.inputs)
    return filtered(without(parts_of(node), matched), below.with_inputs(inputs))
