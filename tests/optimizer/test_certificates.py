"""A certificate is checked step by step, without the search that found it; one that was changed fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import midstream as ms
from midstream.commands.explaining import assumed_statistics
from midstream.optimizer import optimize
from midstream.optimizer.verification import check_certificate, check_proof
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.operators import Distinct, Filter
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.equivalence.certificate import NORMAL_FORM, Certificate, Step
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.expressions.expressions import Const
from midstream.plans.expressions.operands import col
from midstream.plans.values.verdicts import Answer, Equivalence
from midstream.testing import plans

A, B, C = (stream(name, **{name: "integer", f"{name}2": "integer"}).window(60) for name in "abc")
QUERY = A.join(B, on=[("a", "b")]).join(C, on=[("b", "c")]).filter((col("c2") > 7) & (col("a2") == 1)).plan()
CHOICE = optimize(QUERY, assumed_statistics(QUERY))


@given(plans(depth=4, shared=True))
def test_what_the_optimizer_proves_can_be_checked(plan: Plan) -> None:
    choice = optimize(plan, assumed_statistics(plan), budget=300)
    event(f"changed: {choice.is_better}")
    checked = check_proof(choice.proof)
    assert checked, checked
    assert checked.plans == (plan, choice.plan)


def test_the_certificate_of_a_choice() -> None:
    certificate = CHOICE.proof.certificate
    assert isinstance(certificate, Certificate)
    assert len(certificate.steps) > 2
    checked = check_certificate(certificate, QUERY, CHOICE.plan)
    assert checked
    assert checked.reason == CHOICE.proof.reason


def _another_subplan(node: Node) -> Node:
    return Node(Filter(Const(True)), (node,))


TAMPERED: dict[str, tuple[Callable[[Step], Step], str]] = {
    "rule": (lambda step: replace(step, rule="distinct-below-join"), "it does not turn"),
    "no rule": (lambda step: replace(step, rule="trust-me"), "there is no rule of that name"),
    "direction": (lambda step: replace(step, is_reversed=not step.is_reversed), "it does not turn"),
    "place": (lambda step: replace(step, place=(*step.place, 0)), "another subplan stands in its place"),
    "no place": (lambda step: replace(step, place=(*step.place, 7)), "index out of range"),
    "place from behind": (lambda step: replace(step, place=(-1,)), "another subplan stands in its place"),
    "before": (lambda step: replace(step, before=_another_subplan(step.before)), "another subplan stands"),
    "after": (lambda step: replace(step, after=_another_subplan(step.after)), "it does not turn"),
    "output": (lambda step: replace(step, output="other"), "there is no output other"),
}


@pytest.mark.parametrize("number", range(len(CHOICE.steps)))
@pytest.mark.parametrize(("change", "reason"), TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_certificate_fails(change: Callable[[Step], Step], reason: str, number: int) -> None:
    steps = list(CHOICE.steps)
    steps[number] = change(steps[number])
    if steps[number].is_reversed and steps[number].rule == "join-commutativity":
        return  # it reads the same from the right
    checked = check_certificate(Certificate(tuple(steps)), QUERY, CHOICE.plan)
    assert checked.answer is Answer.UNKNOWN
    assert f"step {number + 1} of the certificate" in checked.reason
    assert reason in checked.reason


@pytest.mark.parametrize("number", range(len(CHOICE.steps)))
def test_a_step_that_is_missing_is_missed(number: int) -> None:
    steps = (*CHOICE.steps[:number], *CHOICE.steps[number + 1 :])
    assert check_certificate(Certificate(steps), QUERY, CHOICE.plan).answer is Answer.UNKNOWN


@given(plans(depth=3), st.data())
def test_no_certificate_proves_what_is_wrong(plan: Plan, data: st.DataObject) -> None:
    """Whatever step of whatever rule is claimed to lead from a plan to one that means something else."""
    other = Plan(Node(Distinct(), (plan.root,)))
    assume(not equivalent(plan, other))
    rule = data.draw(st.sampled_from([NORMAL_FORM, "linked joins", *CHOICE.rules, "distinct-above-join"]))
    for is_reversed in (False, True):
        step = Step(rule, (), logical_plan(plan).root, logical_plan(other).root, is_reversed=is_reversed)
        assert not check_certificate(Certificate((step,)), plan, other)


def test_a_normal_form_is_a_certificate() -> None:
    left, right = A.distinct().filter(col("a") > 3).plan(), A.filter(col("a") > 3).distinct().plan()
    proof = ms.equivalent(left, right)
    assert check_proof(proof) == proof
    assert not check_certificate(proof.certificate, left, B.plan())  # type: ignore[arg-type]


def test_a_proof_without_certificate_must_be_one_of_the_normal_form() -> None:
    left, right = A.distinct().filter(col("a") > 3).plan(), A.filter(col("a") > 3).distinct().plan()
    bare = Equivalence(Answer.PROVED, "believe me", plans=(left, right))
    assert check_proof(bare).answer is Answer.PROVED
    wrong = Equivalence(Answer.PROVED, "believe me", plans=(left, A.plan()))
    assert check_proof(wrong).answer is Answer.UNKNOWN


def test_other_answers_stay_as_they_are() -> None:
    for answer in (ms.equivalent(A.plan(), B.plan()), ms.equivalent([], []), Equivalence(Answer.UNKNOWN)):
        assert check_proof(answer) is answer


def test_a_migration_checks_the_proof() -> None:
    left = ms.stream("s", x="integer").window(5).filter(col("x") > 3)
    engine = ms.Engine(left)
    proof = ms.equivalent(left, left.filter(col("x") > 3))
    assert proof.plans is not None
    engine.migrate(left.filter(col("x") > 3), proof=proof)
    forged = Equivalence(Answer.PROVED, "believe me", plans=(engine.query().plan, left.distinct().plan()))
    with pytest.raises(ms.MigrationRefused, match="step 1 of the certificate, normal form: it does not turn"):
        engine.migrate(left.distinct(), proof=forged)


def test_a_choice_migrates_by_its_certificate() -> None:
    engine = ms.Engine(QUERY)
    engine.migrate(CHOICE)
    assert engine.query().plan == CHOICE.plan
