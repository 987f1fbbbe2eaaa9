"""Simplifying: apply rules whose right side is always better until nothing changes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from midstream.optimizer.rules import Rule, Stage, apply
from midstream.optimizer.rules.linking import LINKED_JOINS, linked
from midstream.optimizer.rules.rule import staged
from midstream.plans.algebra.plan import Node
from midstream.plans.equivalence.certificate import Step

Simplified = tuple[Node, tuple[Step, ...]]
"""The result for a subplan, and the steps that lead to it."""


class Simplifier:
    """Applies simplifying rules, inputs before consumers; the result for a subplan is computed once."""

    def __init__(self, rules: Iterable[Rule], *, raises_alike: bool = False) -> None:
        self.rules = tuple(rules)
        self._raises_alike = raises_alike
        self._known: dict[Node, Simplified] = {}

    def simplify(self, node: Node, stays: Container[Node] = ()) -> Simplified:
        """A subplan to which no rule applies any more, down to the nodes in `stays`."""
        if not self.rules or node in stays:
            return node, ()
        if node not in self._known:
            self._known[node] = self._simplify(node, stays)
        return self._known[node]

    def _simplify(self, node: Node, stays: Container[Node]) -> Simplified:
        steps: list[Step] = []
        inputs = []
        for number, child in enumerate(node.inputs):
            simple, below = self.simplify(child, stays)
            inputs.append(simple)
            steps += (step.below(number) for step in below)
        node = node.with_inputs(tuple(inputs))
        for rule in self.rules:
            for result in apply(rule, node, raises_alike=self._raises_alike):
                simple, further = self.simplify(result, stays)
                return simple, (*steps, Step(rule.name, (), node, result, rule.equation), *further)
        return node, tuple(steps)


def link(node: Node) -> Simplified:
    """A subplan with its joins in the rules' standard form."""
    rewritten = linked(node)
    reason = "each join checks the conditions that it is the first to be able to check"
    return rewritten, () if rewritten == node else (Step(LINKED_JOINS, (), node, rewritten, reason),)


def simplify(node: Node, rules: Sequence[Rule | Stage], *, raises_alike: bool = False) -> Simplified:
    """A subplan after the simplifying rules of each stage in turn, then after those without a stage."""
    steps: tuple[Step, ...] = ()
    for stage in staged(rules):
        simplifying = (rule for rule in stage if rule.is_simplifying)
        node, further = Simplifier(simplifying, raises_alike=raises_alike).simplify(node)
        steps += further
    return node, steps
