"""Duplicate elimination, as rules write it."""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import below_each
from midstream.plans.algebra.operators import Distinct
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_duplicate_free


def distinct(node: Node) -> Node:
    """A subplan without its duplicates."""
    return Node(Distinct(), (node,))


def is_of_a_set(node: Node, matched: object) -> bool:
    """True if the first input has no duplicates."""
    return is_duplicate_free(node.inputs[0])


def keeps_rows_apart(node: Node, below: Node) -> bool:
    """True if an operator makes no duplicates of distinct rows: its output over distinct inputs has none."""
    return is_duplicate_free(below_each(node, below))


def has_no_duplicates(node: Node, matched: Node) -> bool:
    """True if a subplan has no duplicates; otherwise they are results."""
    return is_duplicate_free(node)
