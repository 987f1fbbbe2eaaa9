"""From a logical plan to a physical one: the choice of an implementation for each operator.

The choice is data: the facts of implementations, each with a precondition. The first one whose precondition
holds is taken; a physical plan may name any other one whose precondition holds.
"""

from __future__ import annotations

from midstream.operators import signs
from midstream.operators.aggregation import aggregate
from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Make
from midstream.operators.joins import join, matching
from midstream.operators.rows import distinct, multisets, stateless
from midstream.operators.windows import arrangements, cql, granularity, sample, time_window, windows
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.implementations import IMPLEMENTATIONS, Implementation, implementation_of
from midstream.plans.algebra.operators import Convert, Form, Leaf, Logical, Split
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_chronon_stream
from midstream.plans.algebra.properties import logical as logical_operator
from midstream.plans.values.errors import PlanError

RUNNING: dict[Implementation, Make] = {
    **stateless.RUNNING,
    **time_window.RUNNING,
    **windows.RUNNING,
    **granularity.RUNNING,
    **sample.RUNNING,
    **cql.RUNNING,
    **arrangements.RUNNING,
    **join.RUNNING,
    **multisets.RUNNING,
    **matching.RUNNING,
    **distinct.RUNNING,
    **aggregate.RUNNING,
    **signs.RUNNING,
}
"""The makers of running operators, by implementation."""


def physical_plan(plan: AnyPlan) -> Plan:
    """Choose an implementation for every operator that has none yet; sources stay as they are.

    Splits and converters are added where an implementation needs them.

    Raises   PlanError where none fits, with the reason.
    """
    chosen = plan_of("physical_plan", plan).map(_choose)
    return Plan({name: _in_form(root, "intervals") for name, root in chosen.outputs.items()})


def physical_node(node: Node) -> Node:
    """Choose implementations for a node within a plan; its output may have any form."""
    return Plan(node).map(_choose).root


def running_operator(node: Node) -> Operator:
    """A new running operator, with empty state, for a node of a physical plan."""
    return RUNNING[implementation_of(node)](node)


def form(node: Node) -> Form:
    """The form of the physical stream that a node of a physical plan gives."""
    return "intervals" if _is_leaf(node) else implementation_of(node).gives


def _choose(node: Node) -> Node:
    if _is_leaf(node):
        return node
    operator, copy = logical_operator(node), 0
    if isinstance(node.operator, Physical):
        candidates: tuple[Implementation, ...] = (implementation_of(node),)
        copy = node.operator.copy
    else:
        candidates = _suitable(operator)
    obstacles = []
    for candidate in candidates:
        fitted = Node(
            Physical(candidate.name, operator, copy), tuple(_fit(child, candidate) for child in node.inputs)
        )
        obstacle = candidate.obstacle(fitted)
        if obstacle is None:
            return fitted
        obstacles.append(obstacle)
    raise PlanError(f"{node.operator}: {'; '.join(dict.fromkeys(obstacles))}", operator=str(node.operator))


def _suitable(operator: Logical) -> tuple[Implementation, ...]:
    candidates = IMPLEMENTATIONS.get(type(operator), ())
    if isinstance(operator, Convert):
        # The opposite converter takes the form that this one must give: fitting its input would never end.
        return tuple(candidate for candidate in candidates if candidate.gives == operator.to)
    return candidates


def _fit(child: Node, consumer: Implementation) -> Node:
    """An input in the form that its consumer needs."""
    child = _in_form(child, consumer.takes)
    # Behind a converter, as it may join chronons to longer intervals.
    if consumer.needs_chronons and not is_chronon_stream(child):
        child = _choose(Node(Split(1), (child,)))
    return child


def _in_form(node: Node, wanted: Form) -> Node:
    return node if form(node) == wanted else _choose(Node(Convert(wanted), (node,)))


def _is_leaf(node: Node) -> bool:
    """True if no implementation is to be chosen: the elements come from outside, or from a Box."""
    return isinstance(node.operator, Leaf | Boxed)
