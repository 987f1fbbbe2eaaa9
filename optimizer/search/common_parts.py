"""What plans have in common, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass

from midstream.optimizer.cost import PlanCost
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_node

RUNNING = "running"
"""Who has a subplan that runs already."""


@dataclass(frozen=True)
class CommonPart:
    """A subplan that several have, as large as it can be.

    `users` are the outputs that have it, and RUNNING if it runs already. `cost` is what it takes, the
    operators below it with it, in microseconds of processing per chronon: so much each of them but one would
    have to pay besides if it had its own.
    """

    node: Node
    users: tuple[str, ...]
    cost: float

    def __str__(self) -> str:
        return f"{self.node.operator}: {self.cost:.4g} µs per chronon, shared by {', '.join(self.users)}"


def common_parts(plan: Plan, cost: PlanCost, running: Set[Node] = frozenset()) -> tuple[CommonPart, ...]:
    """The operators of a plan, as far as they are priced, that several of its outputs have, or that run
    already; with those below them each as one part. Those that most have come first."""
    users = _users(plan, cost.operators, running)
    parts = []
    for node, names in users.items():
        readers = (reader for reader in plan.consumers(node) if reader in users)
        if len(names) > 1 and all(users[reader] != names for reader in readers):
            parts.append(CommonPart(node, names, _cost(node, cost)))
    return tuple(sorted(parts, key=lambda part: (-len(part.users), -part.cost)))


def _users(plan: Plan, priced: Mapping[Node, object], running: Set[Node]) -> dict[Node, tuple[str, ...]]:
    users: dict[Node, tuple[str, ...]] = {}
    for name, root in plan.outputs.items():
        for node in root.walk():
            if node in priced:
                users[node] = (*users.get(node, ()), name)
    return {
        node: (*names, RUNNING) if logical_node(node) in running else names for node, names in users.items()
    }


def _cost(node: Node, cost: PlanCost) -> float:
    return math.fsum(cost.operators[below].cost for below in node.walk() if below in cost.operators)


def added_cost(cost: PlanCost, running: Set[Node]) -> float:
    """What the operators of a plan take that do not run already."""
    operators = cost.operators.items()
    return math.fsum(estimate.cost for node, estimate in operators if logical_node(node) not in running)
