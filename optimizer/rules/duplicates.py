"""What rules ask and say of duplicates."""

from __future__ import annotations

from midstream.plans.algebra.operators import Distinct
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import keys


def is_set(node: Node) -> bool:
    """Whether a subplan is known to give no row twice at any instant: it has a key."""
    return bool(keys(node))


def distinct(node: Node) -> Node:
    """A subplan without its duplicates."""
    return Node(Distinct(), (node,))
