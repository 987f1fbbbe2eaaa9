"""Rewrites in which operators change places; further inputs of an operator stay its own."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.plans.algebra.plan import Node


def swapped(node: Node, lower: Node) -> Node:
    """The first input of a subplan on top of it.

    op(lower(L, R), S)  ->  lower(op(L, S), R)
    """
    return pulled_up(node, 0)


def pulled_up(node: Node, place: int) -> Node:
    """The input at a place on top of the operator that reads it.

    op(L, lower(R, S))  ->  lower(op(L, R), S)
    """
    lower = node.inputs[place]
    return lower.with_inputs((node.with_input(place, lower.inputs[0]), *lower.inputs[1:]))


def pushed_down(node: Node, place: int) -> Node:
    """The first input on top, with the operator at one of its inputs.

    op(lower(L, R), S)  ->  lower(L, op(R, S))
    """
    lower = node.inputs[0]
    return lower.with_input(place, node.with_input(0, lower.inputs[place]))


def below_each(node: Node, lower: Node) -> Node:
    """The first input on top, with the operator at each of its inputs.

    op(lower(L, R), S)  ->  lower(op(L, S), op(R, S))
    """
    return lower.with_inputs(tuple(node.with_input(0, child) for child in lower.inputs))


def above_each(node: Node, first: Node) -> Node:
    """The operator of all inputs once, on top.

    op(upper(L, S), upper(R, S))  ->  upper(op(L, R), S)
    """
    return first.with_input(0, node.with_inputs(tuple(child.inputs[0] for child in node.inputs)))


def match_same(node: Node) -> Iterable[Node]:
    """The first input, if the others are the same operator, and have the same inputs from the second on."""
    first, *others = node.inputs
    same = (first.operator, first.inputs[1:])
    return [first] if all((each.operator, each.inputs[1:]) == same for each in others) else []
