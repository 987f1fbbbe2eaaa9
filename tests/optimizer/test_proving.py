"""Rules prove what the normal form does not, and never what is wrong."""

from __future__ import annotations

from random import Random

import pytest
from derivable_pairs import DERIVABLE
from hypothesis import event, given
from hypothesis import strategies as st
from wrong_changes import WRONG

import midstream as ms
from midstream.optimizer.rules import JOIN_ORDERS, apply
from midstream.optimizer.search.proving import Proving, prove
from midstream.optimizer.verification import check_certificate, check_proof
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.operators import Distinct, Join
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.equivalence.certificate import Certificate
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.equivalence.prover import same_meaning
from midstream.plans.values.verdicts import Answer
from midstream.testing import plans
from midstream.testing.rephrasing import rephrased

NOT_YET = {
    "count as sum of counts",
    "difference with itself",
    "distinct as grouping, counted",
    "no partner of either kind",
}
"""Pairs for which a rule is missing, or is not meant to be."""


def proved(proving: Proving) -> Certificate | None:
    while True:
        try:
            next(proving)
        except StopIteration as end:
            certificate: Certificate | None = end.value
            return certificate


@pytest.mark.parametrize("name", [name for name in DERIVABLE if name not in NOT_YET])
def test_rules_prove_what_the_normal_form_does_not(name: str) -> None:
    left, right = (query.plan() for query in DERIVABLE[name])
    assert not same_meaning(left.root, right.root)
    answer = ms.equivalent(left, right)
    assert answer, answer
    assert check_proof(answer) == answer
    assert isinstance(answer.certificate, Certificate)
    assert answer.reason == str(answer.certificate)
    assert ms.equivalent(right, left)


@pytest.mark.parametrize("name", sorted(NOT_YET))
def test_what_rules_do_not_prove_is_not_refuted(name: str) -> None:
    left, right = DERIVABLE[name]
    assert ms.equivalent(left, right, steps=100).answer is not Answer.REFUTED


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_change_is_not_proved(name: str) -> None:
    left, right = (query.plan() for query in WRONG[name])
    if left.schema == right.schema:
        assert proved(prove(left, right)) is None


@given(plans(depth=3, windows=True), st.data())
def test_what_is_proved_is_not_refuted(plan: Plan, data: st.DataObject) -> None:
    """Of plans that are the same, and of plans that only look like it."""
    other = data.draw(rephrased(plan))
    if data.draw(st.booleans()):
        place = data.draw(st.sampled_from([node for node in other.nodes if node.inputs] or [other.root]))
        other = other.replace(place, Node(Distinct(), (place,)))
    certificate = proved(prove(plan, other, steps=200))
    event(f"proved: {certificate is not None}")
    if certificate is not None:
        assert check_certificate(certificate, plan, other)
        assert equivalent(plan, other, steps=40).answer is not Answer.REFUTED


def chain(n: int) -> Stream:
    streams = [ms.stream(f"s{i}", {f"x{i}": "integer", f"y{i}": "integer"}).window(9) for i in range(n)]
    query = streams[0]
    for i in range(1, n):
        query = query.join(streams[i], on=[(f"y{i - 1}", f"x{i}")])
    return query


@pytest.mark.parametrize("n", [4, 6])
def test_other_orders_of_joins_are_proved_without_a_search(n: int) -> None:
    """200 of them; the normal form takes a few milliseconds each."""
    query, random = chain(n).plan(), Random(n)
    for _ in range(100):
        other = query
        for _ in range(3 * n):
            node = random.choice([node for node in other.nodes if isinstance(node.operator, Join)])
            for result in apply(random.choice(JOIN_ORDERS), node):
                other = other.replace(node, result)
        answer = ms.equivalent(query, other)
        assert answer.reason == "both have the same normal form"


def test_the_budget() -> None:
    left, right = (query.plan() for query in DERIVABLE["granularity and a join"])
    assert proved(prove(left, right)) is not None
    assert proved(prove(left, right, steps=1)) is None


def test_only_the_given_rules_are_used() -> None:
    left, right = (query.plan() for query in DERIVABLE["granularity and a join"])
    assert proved(prove(left, right, rules=[])) is None


def test_an_unknown_answer_says_what_was_tried() -> None:
    left = ms.stream("s", x="integer").window(9)
    right = left.filter(ms.col("x") * ms.col("x") >= 0)
    answer = ms.equivalent(left, right, steps=5)
    assert answer.answer is Answer.UNKNOWN
    assert "no derivation was found, and none of 5 small inputs" in answer.reason


def test_several_outputs_are_proved_each() -> None:
    s = ms.stream("s", x="integer")
    left = Plan({"a": s.window(4).window(3).distinct().node, "b": s.window(1).node})
    right = Plan({"a": s.window(6).distinct().node, "b": s.node})
    answer = ms.equivalent(left, right)
    assert answer
    assert check_proof(answer) == answer
