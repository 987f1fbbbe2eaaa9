"""Subplans that plans share, and their costs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from midstream.optimizer.cost import PlanCost
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_node

Running = Mapping[Node, tuple[str, ...]]
"""Subplans that run already, and the names of the queries that use them."""


@dataclass(frozen=True)
class CommonPart:
    """A maximal subplan that several users share.

    `users` are the names of outputs, if there are several, and of queries for which the subplan already runs.
    `cost` is that of the subplan with all operators below it, in microseconds of processing per chronon. Each
    user but one would have to pay it if it had its own copy.
    """

    node: Node
    users: tuple[str, ...]
    cost: float

    def as_dict(self) -> dict[str, Any]:
        """The part as plain data for JSON."""
        return {"text": str(self.node.operator), "users": list(self.users), "cost": self.cost}

    def __str__(self) -> str:
        return f"{self.node.operator}: {self.cost:.4g} µs per chronon, shared with {', '.join(self.users)}"


def common_parts(
    plan: Plan, cost: PlanCost, running: Running = MappingProxyType({})
) -> tuple[CommonPart, ...]:
    """The priced operators of a plan that several of its outputs share, or that run already.

    Shared operators below a part belong to it. The parts with the most users come first.
    """
    users = _users(plan, cost.operators, running)
    own = 1 if len(plan.outputs) == 1 else 0
    parts = []
    for node, names in users.items():
        readers = (reader for reader in plan.consumers(node) if reader in users)
        if len(names) > 1 and all(users[reader] != names for reader in readers):
            parts.append(CommonPart(node, names[own:], _cost(node, cost)))
    return tuple(sorted(parts, key=lambda part: (-len(part.users), -part.cost)))


def _users(plan: Plan, priced: Mapping[Node, object], running: Running) -> dict[Node, tuple[str, ...]]:
    users: dict[Node, tuple[str, ...]] = {}
    for name, root in plan.outputs.items():
        for node in root.walk():
            if node in priced:
                users[node] = (*users.get(node, ()), name)
    return {node: (*names, *running.get(logical_node(node), ())) for node, names in users.items()}


def _cost(node: Node, cost: PlanCost) -> float:
    return math.fsum(cost.operators[below].cost for below in node.walk() if below in cost.operators)


def added_part(cost: PlanCost, running: Collection[Node]) -> PlanCost:
    """The cost of the operators of a plan that do not run already: what the plan adds beside others.

    `running` holds the logical nodes that run already.
    """
    if not running:
        return cost
    operators = cost.operators.items()
    return PlanCost({node: estimate for node, estimate in operators if logical_node(node) not in running})


def running_in(plans: Mapping[str, Plan]) -> dict[Node, tuple[str, ...]]:
    """All nodes of some plans, each with the names of the plans that have it."""
    names: dict[Node, tuple[str, ...]] = {}
    for name, plan in plans.items():
        for node in plan.nodes:
            names[node] = (*names.get(node, ()), name)
    return names


def labelled(plans: Mapping[str, Plan]) -> tuple[dict[str, dict[str, str]], dict[str, Node]]:
    """Unique labels for the outputs of several queries: by query and output; and the outputs by label."""
    labels: dict[str, dict[str, str]] = {}
    roots: dict[str, Node] = {}
    for name, plan in plans.items():
        for output, root in plan.outputs.items():
            label = name if len(plan.outputs) == 1 else f"{name}, {output}"
            while label in roots:
                label += "'"
            roots[label] = root
            labels.setdefault(name, {})[output] = label
    return labels, roots
