"""Plans of the positive-negative approach, and the operators that run them."""

from __future__ import annotations

from midstream.operators.base.running import Running
from midstream.operators.signs import (
    aggregate,
    converters,
    distinct,
    join,
    matching,
    multisets,
    stateless,
    windows,
)
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.operators import CountWindow, PartitionedWindow, TimeWindow
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan

RUNNING: Running = {
    **windows.RUNNING,
    **stateless.RUNNING,
    **join.RUNNING,
    **distinct.RUNNING,
    **aggregate.RUNNING,
    **multisets.RUNNING,
    **matching.RUNNING,
    **converters.RUNNING,
}
"""The operators on signed streams, and the converters."""


def signed_plan(plan: AnyPlan) -> Plan:
    """The plan with a signed implementation chosen for every operator that has one.

    Nodes below a window, and choices that were made, stay: signs begin at the windows, which take raw
    streams. Converters are added when the plan becomes physical: above sources without a window, around
    operators without a signed implementation, and at the outputs.

    Source   thesis, 14.1 and 17.3

    >>> from midstream.operators.engine.running.planner import physical_plan
    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", price="integer").window(60)
    >>> print(physical_plan(signed_plan(bids.filter(bids["price"] > 10).select("item").distinct().plan())))
    signs-to-intervals to intervals
    └─ signed-distinct
       └─ signed-map item
          └─ signed-filter price > 10
             └─ signed-time-window 60
                └─ source bids
    """
    plan = plan_of("signed_plan", plan)
    kinds = TimeWindow | CountWindow | PartitionedWindow
    raw = [child for node in plan.nodes if isinstance(node.operator, kinds) for child in node.inputs]
    below = {node for child in raw for node in child.walk()}
    return plan.map(lambda node: node if node in below else _signed(node))


def _signed(node: Node) -> Node:
    operator = node.operator
    if isinstance(operator, Physical):
        return node
    for candidate in IMPLEMENTATIONS.get(type(operator), ()):
        chosen = Node(Physical(candidate.name, operator), node.inputs)
        if candidate.gives == "signs" and candidate.obstacle(chosen) is None:
            return chosen
    return node
