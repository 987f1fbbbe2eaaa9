"""Certificates: derivations of one plan from an equivalent one, which can be checked without a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from midstream.plans.algebra.plan import Node, Plan

NORMAL_FORM = "normal form"
"""The name of a step between two subplans with the same normal form."""


@dataclass(frozen=True, slots=True)
class Step:
    """One application of a rule in a plan: `before` becomes `after`.

    `place` is the path from an output to the subplan: the number of an input, then of an input of that input,
    and so on. If `is_reversed`, the rule is applied from right to left: it turns `after` into `before`.
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
        """The step in the opposite direction."""
        return replace(self, before=self.after, after=self.before, is_reversed=not self.is_reversed)

    def below(self, *place: int) -> Step:
        """This step with its place relative to a node further up."""
        return replace(self, place=(*place, *self.place))


@dataclass(frozen=True, slots=True)
class Certificate:
    """The steps that turn one logical plan into an equivalent one; equal plans need no step.

    `check_certificate` checks it: it applies every step again, by the rule that the step names.
    """

    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        names = dict.fromkeys(step.rule for step in self.steps)
        return f"derived by {', '.join(names)}" if names else "both are the same plan"


def by_normal_form(left: Plan, right: Plan) -> Certificate:
    """A certificate that all outputs of two plans have the same normal form."""
    return Certificate(
        tuple(
            Step(
                NORMAL_FORM,
                (),
                root,
                right.outputs[output],
                "both sides have the same normal form",
                output=output,
            )
            for output, root in left.outputs.items()
            if root != right.outputs[output]
        )
    )


def at(node: Node, place: Sequence[int]) -> Node:
    """The subplan at a place below a node."""
    for number in place:
        node = node.inputs[number]
    return node


def exchanged(node: Node, place: Sequence[int], after: Node) -> Node:
    """A node with another subplan at a place below it."""
    if not place:
        return after
    number, *rest = place
    return node.with_input(number, exchanged(node.inputs[number], rest, after))


def plans_along(plan: Plan, steps: Iterable[Step]) -> Iterator[Plan]:
    """The plans that result from each step in turn."""
    for step in steps:
        root = exchanged(plan.outputs[step.output], step.place, step.after)
        plan = Plan({**plan.outputs, step.output: root})
        yield plan
