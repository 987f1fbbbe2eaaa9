"""Rules are tried on what they are about, and what is wrong with one is told."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wrong_rules import WRONG_RULES

from midstream.optimizer.rules import ALL_RULES, ANY, Rule, Shape
from midstream.optimizer.rules.distinct.distinct_below_join import DISTINCT_BELOW_JOIN
from midstream.optimizer.rules.filters.filter_merging import FILTER_MERGING
from midstream.optimizer.rules.measures import operators
from midstream.optimizer.verification import Subplans, verify_guard, verify_rule
from midstream.optimizer.verification.subplans import DRAWN
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import (
    KINDS,
    Arrangement,
    Convert,
    Counting,
    Distinct,
    Filter,
    Join,
    Leaf,
    Matching,
    Source,
    Union,
)
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.values.verdicts import Answer

UNTWICE = Rule(
    "untwice",
    "distinct(distinct(S)) = distinct(S)",
    Shape(Distinct, Shape(Distinct)),
    match=lambda node: [node.inputs[0]],
    rewrite=lambda node, lower: lower,
    measure=operators,
)


def always(node: Node, matched: object) -> bool:
    """There is no reason."""
    return True


def over_a_stream(node: Node, matched: Node) -> bool:
    """It would hold over anything."""
    return isinstance(matched.inputs[0].operator, Leaf)


def test_a_right_rule_holds() -> None:
    check = verify_rule(UNTWICE, plans=5)
    assert check
    assert check.answer is Answer.UNKNOWN
    assert check.plans == 5
    assert str(check) == f"untwice: unknown: it held for 5 plans on {check.inputs:,} inputs"


def test_a_wrong_rule_is_refuted_by_few_elements() -> None:
    undistinct = replace(UNTWICE, shape=Shape(Distinct, Shape(Join)))
    check = verify_rule(undistinct)
    assert check.answer is Answer.REFUTED
    assert not check
    assert check.counterexample is not None
    assert check.counterexample.size <= 3
    assert check.left is not None
    assert check.right is not None
    text = str(check)
    assert text.startswith("untwice: refuted: the sides differ on an input of ")
    assert "left:\n  distinct\n  └─ " in text
    assert "[───)" in text


def test_the_answer_is_the_same_every_time() -> None:
    undistinct = replace(UNTWICE, shape=Shape(Distinct, Shape(Join)))
    assert str(verify_rule(undistinct)) == str(verify_rule(undistinct))
    assert str(verify_rule(undistinct)) != str(verify_rule(undistinct, seed=5))


def test_of_a_rule_that_applies_nowhere_nothing_is_known() -> None:
    check = verify_rule(replace(UNTWICE, guards=(lambda node, matched: False,)))
    assert not check
    assert check.answer is Answer.UNKNOWN
    assert check.reason == "no subplan was found to which it applies"


def test_a_rule_that_cannot_be_carried_out_is_refuted() -> None:
    check = verify_rule(replace(UNTWICE, rewrite=lambda node, lower: Node(Union(), (lower,))))
    assert "rule untwice on <distinct of <distinct" in check.reason
    assert "found 1 inputs, expected two or more" in check.reason
    check = verify_rule(replace(UNTWICE, rewrite=lambda node, lower: lower.inputs[7]))
    assert "it raises IndexError" in check.reason


def test_a_rule_that_does_not_simplify_is_refuted() -> None:
    check = verify_rule(replace(UNTWICE, rewrite=lambda node, lower: Stream(node).distinct().node))
    assert check.answer is Answer.REFUTED
    assert "took its measure from" in check.reason


def test_examples_are_tried_first() -> None:
    distinct = stream("s", intervals=True, x="integer").distinct().distinct()
    dropping = replace(UNTWICE, rewrite=lambda node, lower: lower.inputs[0])
    check = verify_rule(dropping, examples=[distinct.node])
    assert check.left == distinct.plan()


def test_a_search_may_be_ended() -> None:
    check = verify_rule(UNTWICE, seconds=0)
    assert check.reason.startswith("the search was ended after 0 seconds: no subplan")


def test_a_guard_that_is_needed_and_one_that_is_not() -> None:
    guard, _ = DISTINCT_BELOW_JOIN.guards
    check = verify_guard(DISTINCT_BELOW_JOIN, guard)
    assert check.answer is Answer.REFUTED
    assert check.rule == "distinct-below-join where not keeps_rows_apart"
    careful = replace(UNTWICE, guards=(over_a_stream,))
    assert verify_guard(careful, over_a_stream, plans=5)
    assert not verify_guard(replace(UNTWICE, guards=(always,)), always).plans


@pytest.mark.parametrize("kind", DRAWN, ids=lambda kind: kind.__name__)
def test_every_operator_can_be_asked_for(kind: type) -> None:
    shape = Shape(kind, ANY, ANY) if DRAWN[kind] is DRAWN[Join] else Shape(kind)
    assert shape.fits(Subplans(Random(2)).of(shape))


def test_operators_that_are_drawn_are_all_there_are() -> None:
    assert set(DRAWN) == {kind for kind in KINDS.values() if not issubclass(kind, Leaf)} - {Convert}


@pytest.mark.parametrize("kind", [Matching, Counting, Arrangement, Physical])
def test_families_can_be_asked_for(kind: type) -> None:
    drawn = {Subplans(Random(seed)).of(Shape(kind)).operator.name for seed in range(20)}
    assert len(drawn) > 1


@given(st.sampled_from(ALL_RULES), st.integers(0, 999))
def test_subplans_have_the_shape_that_is_asked_for(rule: Rule, seed: int) -> None:
    node = Subplans(Random(seed)).of(rule.shape)
    assert rule.shape.fits(node)
    assert node == Subplans(Random(seed)).of(rule.shape)


def test_subplans_vary() -> None:
    """Rules about keys, equal inputs and unknown values find some."""
    nodes = [Subplans(Random(seed)).of(Shape(Union)) for seed in range(300)]
    assert any(len(set(node.inputs)) == 1 for node in nodes)
    assert any(isinstance(child.operator, Distinct) for node in nodes for child in node.inputs)
    assert any(isinstance(child.operator, Filter) for node in nodes for child in node.inputs)
    assert {len(node.inputs) for node in nodes} == {2, 3}
    assert {column.nullable for node in nodes for column in node.schema} == {True, False}


def test_some_streams_have_keys_and_refer_to_others() -> None:
    """Also such that a join has exactly one partner for each row."""
    nodes = [Subplans(Random(seed)).of(Shape(Join, ANY, ANY)) for seed in range(400)]
    leaves = [[one.operator for one in node.inputs if isinstance(one.operator, Source)] for node in nodes]
    pairs = [(left, right) for left, right in (pair for pair in leaves if len(pair) == 2)]
    assert any(left.references and right.keys for left, right in pairs)
    assert any(left.keys and not right.keys for left, right in pairs)
    assert any(not left.keys and not right.keys for left, right in pairs)


def test_a_merge_that_forgets_a_condition_is_seen() -> None:
    forgetful = replace(FILTER_MERGING, rewrite=lambda node, upper: node.inputs[0])
    check = verify_rule(forgetful)
    assert check.counterexample is not None
    assert check.counterexample.size == 1


def test_there_are_many_wrong_rules() -> None:
    assert len({rule.name for rule in WRONG_RULES}) == len(WRONG_RULES) >= 25


@pytest.mark.parametrize("rule", WRONG_RULES, ids=lambda rule: rule.name)
def test_a_plausible_wrong_rule_is_refuted_with_at_most_four_elements(rule: Rule) -> None:
    check = verify_rule(rule, plans=300, inputs=500)
    assert check.answer is Answer.REFUTED, check
    assert check.counterexample is not None, check
    assert check.counterexample.size <= 4, check
