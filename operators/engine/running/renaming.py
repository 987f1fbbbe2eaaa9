"""Plans and nodes with other settings for some levers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from midstream.plans.algebra.operators import Adjustable, Logical
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_lever, logical_node


class Renaming:
    """Plans and nodes with other settings for some levers; each is made once.

    Raises   PlanError where granules do not fit each other.
    """

    def __init__(self, levers: Mapping[Node, Adjustable], carriers: Mapping[Node, Physical]) -> None:
        """`levers` are logical; `carriers` are the running nodes that carry them out."""
        self._levers = levers
        self._carriers = carriers
        self._plans: dict[Plan, Plan] = {}
        self.moved: dict[Node, Node] = {}
        """The new nodes of all nodes seen, inputs before consumers."""

    def plan(self, plan: Plan) -> Plan:
        """A plan with the new settings; the same object if nothing is renamed."""
        if not self._levers and not self._carriers:
            return plan
        if plan not in self._plans:
            for node in plan.nodes:
                self.node(node)
            outputs = {name: self.moved[root] for name, root in plan.outputs.items()}
            self._plans[plan] = Plan(outputs, notes=plan.notes)
        return self._plans[plan]

    def node(self, node: Node) -> Node:
        """A node, and all below, with the new settings; the same object if nothing is renamed."""
        if not self._levers and not self._carriers:
            return node
        if node not in self.moved:
            inputs = tuple(map(self.node, node.inputs))
            operator = self._operator(node)
            unchanged = operator is node.operator
            self.moved[node] = node.with_inputs(inputs) if unchanged else Node(operator, inputs)
        return self.moved[node]

    def _operator(self, node: Node) -> Logical | Physical:
        operator = node.operator
        if node in self._carriers:
            return self._carriers[node]
        if isinstance(operator, Boxed):
            means = self.node(operator.means)
            return operator if means is operator.means else replace(operator, means=means)
        if is_lever(node) and (new := self._levers.get(logical_node(node))) is not None:
            return replace(operator, logical=new) if isinstance(operator, Physical) else new
        return operator
