"""What the operator of a node is, whether its plan is logical or physical."""

from __future__ import annotations

from functools import lru_cache

from midstream.plans.algebra.operators import Arrangement, Logical, Source
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Expression


def logical(node: Node) -> Logical:
    """The logical operator of a node, whether its plan is logical or physical."""
    return node.operator.logical if isinstance(node.operator, Physical) else node.operator


def logical_plan(plan: Plan) -> Plan:
    """The plan without choices of implementations, arrangements and Boxes: what it computes, not how it
    runs."""

    def without_choices(node: Node) -> Node:
        operator = logical(node)
        if isinstance(operator, Boxed):
            return logical_plan(Plan(operator.means)).root
        return node.inputs[0] if isinstance(operator, Arrangement) else Node(operator, node.inputs)

    return plan.map(without_choices)


@lru_cache(maxsize=4096)
def logical_node(node: Node) -> Node:
    """The logical node that a physical one carries out."""
    return logical_plan(Plan(node)).root


def expressions(node: Node) -> tuple[Expression, ...]:
    """The expressions of a node's operator, over the columns of its inputs one behind the other."""
    return logical(node).expressions


def reads_stream(node: Node) -> bool:
    """What reads relations alone has given all it has, to whoever asks, before the streams begin."""
    return any(isinstance(logical(below), Source) for below in node.walk())
