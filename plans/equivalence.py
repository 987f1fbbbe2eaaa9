"""Whether two subplans certainly mean the same."""

from __future__ import annotations

from midstream.plans.plan import Node, Plan
from midstream.plans.properties import logical_plan


def same_meaning(one: Node, other: Node) -> bool:
    """Whether two subplans, logical or physical, are known to be snapshot-equivalent."""
    return logical_plan(Plan(one)) == logical_plan(Plan(other))
