"""The usual `match` functions of rules, a trivial rewrite, and access to operators that shapes guarantee."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from midstream.plans.algebra.operators import Filter, Join, Matching
from midstream.plans.algebra.plan import Node, Operator
from midstream.plans.expressions.expressions import Expression

Kind = TypeVar("Kind", bound=Operator)


def itself(node: Node) -> Iterable[Node]:
    """The subplan."""
    return [node]


def its_operator(node: Node) -> Iterable[Operator]:
    """The operator on top."""
    return [node.operator]


def first_input(node: Node) -> Iterable[Node]:
    """The only input, or the left side."""
    return node.inputs[:1]


def second_input(node: Node) -> Iterable[Node]:
    """The right side."""
    return node.inputs[1:2]


def part_of_first(node: Node) -> Iterable[Node]:
    """The right side, if its own left input is the left side."""
    left, right = node.inputs
    return [right] if right.inputs[0] == left else []


def first_place(node: Node) -> Iterable[int]:
    """The left side, by its number."""
    return [0]


def second_place(node: Node) -> Iterable[int]:
    """The right side, by its number."""
    return [1]


def as_matched(node: Node, matched: Node) -> Node:
    """The matched subplan is the right side of the equation."""
    return matched


def operator_of(node: Node, kind: type[Kind]) -> Kind:
    """The top operator of a subplan, whose kind the rule's shape guarantees."""
    assert isinstance(node.operator, kind)
    return node.operator


def condition_of(node: Node) -> Expression:
    """The condition of a filter, a join, a semi-join or an anti-join."""
    assert isinstance(node.operator, Filter | Join | Matching)
    return node.operator.condition
