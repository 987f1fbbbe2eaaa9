"""Duplicate elimination, as rules write it."""

from __future__ import annotations

from midstream.plans.algebra.operators import Distinct
from midstream.plans.algebra.plan import Node


def distinct(node: Node) -> Node:
    """A subplan without its duplicates."""
    return Node(Distinct(), (node,))
