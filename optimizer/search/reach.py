"""Plans that can take the place of a running one, and cheaper ones that cannot."""

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
"""Why a plan cannot take the place of the running one; None where it can."""

MOST = 8
"""So many candidates are kept at most."""


@dataclass(frozen=True)
class OutOfReach:
    """A plan that is better than the chosen one, but cannot take the place of the running one, and why."""

    plan: Plan
    cost: PlanCost
    reason: str

    def __str__(self) -> str:
        return f"a plan of {self.cost.total:.4g} µs per chronon is out of reach: {self.reason}"


@dataclass(frozen=True)
class Candidate:
    """A plan, its cost, what it is compared by, and what finds the steps that lead to it."""

    plan: Plan
    cost: PlanCost
    value: float
    derive: Callable[[], tuple[Step, ...]]


class Candidates:
    """The best plans found so far, the best first; of plans that are as good, the first found."""

    def __init__(self) -> None:
        self._kept: list[Candidate] = []

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._kept)

    def add(self, new: Candidate) -> None:
        """Keep a plan, if it is among the best."""
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
    """The first plan that nothing is in the way of, and the best of those before it."""
    best: OutOfReach | None = None
    for candidate in candidates:
        reason = None if obstacle is None else obstacle(candidate.plan)
        if reason is None:
            return candidate, best
        best = best or OutOfReach(candidate.plan, candidate.cost, reason)
    return None, best


def keeping_inputs(rules: Sequence[Rule | Stage], plan: Plan) -> list[Rule | Stage]:
    """The same rules, as far as they leave the inputs of a logical plan as they are, windows and all below:
    around these, whatever means the same can take its place."""
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
    """What subplans stand on: windows, and sources without a window, as the first that are met."""

    def __init__(self) -> None:
        self._known: dict[Node, frozenset[Node]] = {}

    def of(self, node: Node) -> frozenset[Node]:
        if node not in self._known:
            below = (self.of(child) for child in node.inputs)
            is_input = not logical(node).is_snapshot_reducible
            self._known[node] = frozenset([logical_node(node)] if is_input else set().union(*below))
        return self._known[node]
