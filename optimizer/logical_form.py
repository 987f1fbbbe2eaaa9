"""Plans without the implementations that were chosen for their operators."""

from __future__ import annotations

from midstream.plans.plan import Node, Plan
from midstream.plans.properties import logical


def logical_plan(plan: Plan) -> Plan:
    """What a plan computes; rules and statistics speak of that, not of how it runs."""
    return plan.map(lambda node: Node(logical(node), node.inputs))
