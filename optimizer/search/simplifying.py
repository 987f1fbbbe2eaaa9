"""Simplifying: rules whose right side is always better are applied until nothing changes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from midstream.optimizer.rules import Rule, Stage, apply
from midstream.optimizer.rules.linking import LINKED_JOINS, linked
from midstream.optimizer.rules.rule import staged
from midstream.plans.algebra.plan import Node
from midstream.plans.equivalence.certificate import Step

Simplified = tuple[Node, tuple[Step, ...]]
"""What a subplan becomes, and by which steps."""


class Simplifier:
    """Applies simplifying rules, inputs before consumers. What a subplan becomes is found once."""

    def __init__(self, rules: Iterable[Rule], *, raises_alike: bool = False) -> None:
        self.rules = tuple(rules)
        self._raises_alike = raises_alike
        self._known: dict[Node, Simplified] = {}

    def simplify(self, node: Node, stays: Container[Node] = ()) -> Simplified:
        """A subplan to which no rule applies any more, down to those that stay as they are."""
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
    """A subplan with its joins written in the rules' own way."""
    rewritten = linked(node)
    reason = "each join checks what it is the first to be able to check"
    return rewritten, () if rewritten == node else (Step(LINKED_JOINS, (), node, rewritten, reason),)


def simplify(node: Node, rules: Sequence[Rule | Stage], *, raises_alike: bool = False) -> Simplified:
    """A subplan after the simplifying rules of each stage in turn, then after those that stand alone."""
    steps: tuple[Step, ...] = ()
    for stage in staged(rules):
        simplifying = (rule for rule in stage if rule.is_simplifying)
        node, further = Simplifier(simplifying, raises_alike=raises_alike).simplify(node)
        steps += further
    return node, steps
