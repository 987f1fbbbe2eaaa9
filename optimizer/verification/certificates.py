"""Checks of certificates: each step is carried out again, by the rule that it names, without any search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from midstream.optimizer.rules import ALL_STAGES, Rule, Stage, apply, flat
from midstream.optimizer.rules.linking import LINKED_JOINS, linked
from midstream.optimizer.rules.raising import asks_no_more
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.equivalence.certificate import (
    NORMAL_FORM,
    Certificate,
    Step,
    at,
    by_normal_form,
    exchanged,
)
from midstream.plans.equivalence.prover import Meanings
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.verdicts import Answer, Equivalence


def check_certificate(
    certificate: Certificate, left: Plan, right: Plan, *, rules: Sequence[Rule | Stage] = ALL_STAGES
) -> Equivalence:
    """Check that a certificate proves two plans equivalent: proved, or unknown with the reason.

    Each step must name one of the `rules`, which is applied again at the step's place and must give the
    step's result there; or the normal form. The last step must lead to the right plan.

    Cost     O(steps × plan).

    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.equivalence.comparison import equivalent
    >>> s = stream("s", x="integer").window(9)
    >>> left, right = s.distinct().filter(s["x"] > 3).plan(), s.filter(s["x"] > 3).distinct().plan()
    >>> certificate = equivalent(left, right).certificate
    >>> print(check_certificate(certificate, left, right))
    proved: derived by normal form
    >>> print(check_certificate(certificate, left, s.plan()))
    unknown: the certificate leads to another plan
    """
    require("check_certificate", certificate, Certificate, "a certificate")
    current, goal = logical_plan(left), logical_plan(right)
    by_name = {rule.name: rule for rule in flat(rules)}
    for number, step in enumerate(certificate.steps, 1):
        try:
            wrong = _wrong(step, current, by_name)
        except (MidstreamError, IndexError, ValueError) as error:
            wrong = str(error)
        if wrong:
            reason = f"step {number} of the certificate, {step.rule}: {wrong}"
            return Equivalence(Answer.UNKNOWN, reason, plans=(left, right))
        root = exchanged(current.outputs[step.output], step.place, step.after)
        current = Plan({**current.outputs, step.output: root})
    if logical_plan(current) != goal:
        return Equivalence(Answer.UNKNOWN, "the certificate leads to another plan", plans=(left, right))
    return Equivalence(Answer.PROVED, str(certificate), plans=(left, right), certificate=certificate)


def check_proof(proof: Equivalence, *, rules: Sequence[Rule | Stage] = ALL_STAGES) -> Equivalence:
    """Check the certificate of a proof; other answers are returned unchanged.

    A proof whose certificate does not show it becomes unknown. Without a certificate, the normal form is
    tried.
    """
    if proof.answer is not Answer.PROVED or proof.plans is None:
        return proof
    left, right = proof.plans
    if not isinstance(left, Plan) or not isinstance(right, Plan):
        return proof
    certificate = proof.certificate
    if not isinstance(certificate, Certificate):
        certificate = by_normal_form(logical_plan(left), logical_plan(right))
    checked = check_certificate(certificate, left, right, rules=rules)
    return replace(proof, certificate=certificate) if checked else checked


def _wrong(step: Step, plan: Plan, rules: Mapping[str, Rule]) -> str:
    """The reason why a step is wrong; empty if it is right."""
    if step.output not in plan.outputs:
        return f"there is no output {step.output}"
    if min(step.place, default=0) < 0 or at(plan.outputs[step.output], step.place) != step.before:
        return "another subplan stands in its place"
    if not asks_no_more(step.after, step.before):
        return "it may evaluate an expression that raises on further rows"
    left, right = (step.after, step.before) if step.is_reversed else (step.before, step.after)
    if _leads(step.rule, left, right, rules):
        return ""
    if step.rule not in (*rules, LINKED_JOINS, NORMAL_FORM):
        return "there is no rule of that name"
    return f"it does not turn {left!r} into {right!r}"


def _leads(name: str, left: Node, right: Node, rules: Mapping[str, Rule]) -> bool:
    if name == NORMAL_FORM:
        return Meanings().are_same(left, right)
    if name == LINKED_JOINS:
        return linked(left) == right
    return name in rules and right in apply(rules[name], left)
