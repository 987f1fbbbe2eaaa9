"""The usual ways to read an equation at a subplan, for the `match` of rules; and what needs no rewriting."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.plans.algebra.plan import Node, Operator


def itself(node: Node) -> Iterable[Node]:
    """The subplan."""
    return [node]


def its_operator(node: Node) -> Iterable[Operator]:
    """The operator on top."""
    return [node.operator]


def first_input(node: Node) -> Iterable[Node]:
    """What is below, or the left side."""
    return node.inputs[:1]


def second_input(node: Node) -> Iterable[Node]:
    """The right side."""
    return node.inputs[1:2]


def first_place(node: Node) -> Iterable[int]:
    """The left side, by its number."""
    return [0]


def second_place(node: Node) -> Iterable[int]:
    """The right side, by its number."""
    return [1]


def as_matched(node: Node, matched: Node) -> Node:
    """What was matched is the right side of the equation."""
    return matched
