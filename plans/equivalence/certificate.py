"""Certificates: why two plans mean the same, step by step, so that it can be checked without a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from midstream.plans.algebra.plan import Node, Plan

NORMAL_FORM = "normal form"
"""The name of a step whose two subplans have the same normal form."""


@dataclass(frozen=True, slots=True)
class Step:
    """One rule, applied in one place of a plan: there `before` becomes `after`.

    `place` leads from an output to the subplan: the number of an input, then of an input of that, and so on.
    Where `is_reversed` the rule is read from right to left: it makes `before` of `after`.
    """

    rule: str
    place: tuple[int, ...]
    before: Node
    after: Node
    reason: str = ""
    is_reversed: bool = False
    output: str = "out"

    def __str__(self) -> str:
        return f"{self.rule}: {'from right to left, ' if self.is_reversed else ''}{self.reason}"

    @property
    def reversed(self) -> Step:
        """The step back."""
        return replace(self, before=self.after, after=self.before, is_reversed=not self.is_reversed)

    def below(self, *place: int) -> Step:
        """The same step, seen from further up."""
        return replace(self, place=(*place, *self.place))


@dataclass(frozen=True, slots=True)
class Certificate:
    """How a plan becomes another that means the same, both as logical plans; without a step they are equal.

    `check_certificate` tells whether it does so: every step is carried out again, by the rule that it names.
    """

    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        names = dict.fromkeys(step.rule for step in self.steps)
        return f"derived by {', '.join(names)}" if names else "both are the same plan"


def by_normal_form(left: Plan, right: Plan) -> Certificate:
    """That all outputs of two plans have the same normal form."""
    return Certificate(
        tuple(
            Step(
                NORMAL_FORM,
                (),
                root,
                right.outputs[output],
                "both sides are written in one way",
                output=output,
            )
            for output, root in left.outputs.items()
            if root != right.outputs[output]
        )
    )


def at(node: Node, place: Sequence[int]) -> Node:
    """The subplan in a place below a node."""
    for number in place:
        node = node.inputs[number]
    return node


def exchanged(node: Node, place: Sequence[int], after: Node) -> Node:
    """A node with another subplan in a place below it."""
    if not place:
        return after
    number, *rest = place
    return node.with_input(number, exchanged(node.inputs[number], rest, after))


def plans_along(plan: Plan, steps: Iterable[Step]) -> Iterator[Plan]:
    """The plans that steps lead to from one, each after the other."""
    for step in steps:
        root = exchanged(plan.outputs[step.output], step.place, step.after)
        plan = Plan({**plan.outputs, step.output: root})
        yield plan
