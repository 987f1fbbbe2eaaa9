"""Plans that can replace a running one, and cheaper ones that cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from midstream.optimizer.cost import PlanCost
from midstream.optimizer.rules import JOIN_ORDERS, Rule, Stage
from midstream.optimizer.search.cheapest import ALIKE
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes, logical, logical_node
from midstream.plans.equivalence.certificate import Step

Obstacle = Callable[[Plan], str | None]
"""Returns the reason why a plan cannot replace the running one, or None if it can."""

MOST = 8
"""Greatest number of candidates that are kept."""


@dataclass(frozen=True)
class OutOfReach:
    """A plan that is better than the chosen one but cannot replace the running one, and the reason."""

    plan: Plan
    cost: PlanCost
    reason: str

    def __str__(self) -> str:
        return f"a plan of {self.cost.total:.4g} µs per chronon is out of reach: {self.reason}"


@dataclass(frozen=True)
class Candidate:
    """A plan, its cost, its value under the objective, and a function that derives the steps to it."""

    plan: Plan
    cost: PlanCost
    value: float
    derive: Callable[[], tuple[Step, ...]]


class Candidates:
    """The best plans found so far, the best first; of equally good plans, the first found."""

    def __init__(self) -> None:
        self._kept: list[Candidate] = []

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._kept)

    def add(self, new: Candidate) -> None:
        """Keep a plan if it is among the best."""
        if any(one.plan == new.plan for one in self._kept):
            return
        place = len(self._kept)
        while place and new.value * ALIKE < self._kept[place - 1].value:
            place -= 1
        self._kept.insert(place, new)
        del self._kept[MOST:]


def first_reachable(
    candidates: Iterable[Candidate], obstacle: Obstacle | None
) -> tuple[Candidate | None, OutOfReach | None]:
    """The first plan without an obstacle, and the best plan before it."""
    best: OutOfReach | None = None
    for candidate in candidates:
        reason = None if obstacle is None else obstacle(candidate.plan)
        if reason is None:
            return candidate, best
        best = best or OutOfReach(candidate.plan, candidate.cost, reason)
    return None, best


def keeping_inputs(rules: Sequence[Rule | Stage], plan: Plan) -> list[Rule | Stage]:
    """Rules, restricted to rewrites that leave the inputs of a logical plan and all below them unchanged.

    Above the inputs, every equivalent plan can replace another.
    """
    fixed = {below for node in input_nodes(plan) for below in node.walk()}
    inputs = _Inputs()

    def kept(rule: Rule) -> Rule:
        if rule in JOIN_ORDERS:
            return rule

        def rewrite(node: Node, matched: Any) -> Node:
            result = node if node in fixed else rule.rewrite(node, matched)
            return result if inputs.of(result) == inputs.of(node) else node

        return replace(rule, rewrite=rewrite)

    return [
        Stage(each.name, tuple(map(kept, each.rules))) if isinstance(each, Stage) else kept(each)
        for each in rules
    ]


class _Inputs:
    """The inputs of subplans: the topmost windows, and sources without a window."""

    def __init__(self) -> None:
        self._known: dict[Node, frozenset[Node]] = {}

    def of(self, node: Node) -> frozenset[Node]:
        if node not in self._known:
            below = (self.of(child) for child in node.inputs)
            is_input = not logical(node).is_snapshot_reducible
            self._known[node] = frozenset([logical_node(node)] if is_input else set().union(*below))
        return self._known[node]
