"""Hypothesis strategies for subplans that rules are about, and the check of a rule."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from midstream.optimizer.rules import Rule, Shape, apply
from midstream.optimizer.verification import Subplans, verify_guard, verify_rule
from midstream.plans.algebra.plan import Node
from midstream.plans.values.verdicts import Answer

TRIES = 200
"""How many subplans are drawn at most for one to which a rule applies."""


SEEDS = st.integers(0, 2**32 - 1)
"""A subplan that does not fit together is drawn again, which a seed does without further choices."""


@st.composite
def subplans(draw: st.DrawFn, shape: Shape) -> Node:
    """Small subplans of a shape, over streams of integers with unknown values, keys and references."""
    return Subplans(Random(draw(SEEDS))).of(shape)


@st.composite
def applications(draw: st.DrawFn, rule: Rule) -> tuple[Node, Node]:
    """Subplans to which a rule applies, each with what the rule makes of it."""
    made = Subplans(Random(draw(SEEDS)))
    for _ in range(TRIES):
        node = made.of(rule.shape)
        if results := list(apply(rule, node)):
            return node, draw(st.sampled_from(results))
    raise AssertionError(f"rule {rule.name} applied to none of {TRIES} subplans of its shape")


def check_rule(rule: Rule, *, plans: int = 10, inputs: int = 2_000) -> None:
    """Fail unless a rule holds, and needs each of its guards.

    It is tried as by `verify_rule`; then where one guard after the other refuses it, and there it must be
    wrong, or impossible to carry out.
    """
    check = verify_rule(rule, plans=plans, inputs=inputs)
    assert check, str(check)
    for guard in rule.guards:
        without = verify_guard(rule, guard, plans=30 * plans, inputs=inputs // 4)
        assert without.answer is Answer.REFUTED, f"{without}: is the guard {guard.__name__} needed?"
