"""Hypothesis strategies for the subplans of rules, and the check of a rule."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from midstream.optimizer.rules import Rule, Shape, apply
from midstream.optimizer.verification import Subplans, verify_guard, verify_rule
from midstream.plans.algebra.plan import Node
from midstream.plans.values.verdicts import Answer

TRIES = 200
"""The largest number of subplans that are drawn to find one to which a rule applies."""


SEEDS = st.integers(0, 2**32 - 1)
"""Seeds of subplans; a seed redraws a subplan that does not fit together without further choices."""


@st.composite
def subplans(draw: st.DrawFn, shape: Shape) -> Node:
    """Small subplans of a shape, over streams of integers with unknown values, keys and references."""
    return Subplans(Random(draw(SEEDS))).of(shape)


@st.composite
def applications(draw: st.DrawFn, rule: Rule) -> tuple[Node, Node]:
    """Subplans to which a rule applies, each with one of its results."""
    made = Subplans(Random(draw(SEEDS)))
    for _ in range(TRIES):
        node = made.of(rule.shape)
        if results := list(apply(rule, node)):
            return node, draw(st.sampled_from(results))
    raise AssertionError(f"rule {rule.name} applied to none of {TRIES} subplans of its shape")


def check_rule(rule: Rule, *, plans: int = 10, inputs: int = 2_000) -> None:
    """Fail unless a rule holds, and needs each of its guards.

    The rule is tried as by `verify_rule`. Then each guard is dropped in turn, on subplans that it refuses:
    there the rule must be wrong, or impossible to apply.
    """
    check = verify_rule(rule, plans=plans, inputs=inputs)
    assert check, str(check)
    for guard in rule.guards:
        without = verify_guard(rule, guard, plans=30 * plans, inputs=inputs // 4)
        assert without.answer is Answer.REFUTED, f"{without}: is the guard {guard.__name__} needed?"
