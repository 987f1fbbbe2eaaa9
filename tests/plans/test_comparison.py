"""Whether two plans mean the same: proved, refuted with a counter-example, or unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from legitimate_changes import PROVED, UNKNOWN
from migration_law import ONE_COLUMN, equations
from wrong_changes import WRONG

import midstream as ms
from midstream.optimizer.search import neighbours, with_linked_joins
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.algebra.specification import specified
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER
from midstream.testing import plans

S = ms.stream("s", x="integer").window(9)
F = ms.stream("f", y="float", z="float").window(9)
x, y, z = map(ms.col, "xyz")

OUT_OF_REACH = ("floats put together",)
"""Wrong changes that the search does not refute: two floats that differ by less than it tells apart."""


@pytest.mark.parametrize("name", WRONG)
def test_wrong_changes_are_refuted_by_few_elements(name: str) -> None:
    found = ms.equivalent(*(query.plan() for query in WRONG[name]))
    if name in OUT_OF_REACH:
        assert found.answer is ms.Answer.UNKNOWN
        return
    assert found.answer is ms.Answer.REFUTED and not found, str(found)
    if found.counterexample is not None:
        assert found.counterexample.size <= 6
        assert found.differences


@pytest.mark.parametrize("name", [*PROVED, *UNKNOWN])
def test_legitimate_changes_are_never_refuted(name: str) -> None:
    one, other, *_ = {**PROVED, **UNKNOWN}[name]
    for answer in (ms.equivalent(one, other), ms.equivalent(other, one)):
        assert answer or (name in UNKNOWN and answer.answer is ms.Answer.UNKNOWN), answer


@pytest.mark.parametrize("number", range(len(equations(*ONE_COLUMN))))
def test_equations_are_never_refuted(number: int) -> None:
    one, other = equations(*ONE_COLUMN)[number]
    assert ms.equivalent(one.plan(), other.plan()).answer is not ms.Answer.REFUTED


@given(plans(windows=True, relations=True), st.data())
def test_plans_that_rules_make_are_never_refuted(plan: Plan, data: st.DataObject) -> None:
    found = list(neighbours(with_linked_joins(logical_plan(plan))))
    other = data.draw(st.sampled_from(found)) if found else plan
    assert ms.equivalent(plan, other, steps=40).answer is not ms.Answer.REFUTED


@given(plans(windows=True, relations=True), plans(windows=True, relations=True))
def test_a_counterexample_is_one_by_the_algebra(one: Plan, other: Plan) -> None:
    names = one.schema.names
    aligned = ms.Stream(other.root)
    if [column.type for column in one.schema] != [column.type for column in other.schema]:
        return
    aligned = aligned.select(
        **{name: ms.col(own) for name, own in zip(names, other.schema.names, strict=True)}
    )
    found = ms.equivalent(one, aligned.plan(), steps=40)
    example = found.counterexample
    if example is None:
        assert found.answer is not ms.Answer.REFUTED
        return
    left, right = specified(one, example.streams), specified(aligned.plan(), example.streams)
    assert left != right
    assert (normal_form(example.left), normal_form(example.right)) == (left, right)


def test_the_answer_is_the_same_every_time() -> None:
    pair = S.filter(x > 3).plan(), S.filter(x > 4).plan()
    assert ms.equivalent(*pair) == ms.equivalent(*pair)


def test_python_code_is_never_run_by_the_search() -> None:
    def never(value: int) -> bool:
        raise AssertionError("it was run")

    one = S.filter(ms.opaque(never, ["x"], "boolean"))
    found = ms.equivalent(one.distinct().plan(), one.filter(x > 3).plan())
    assert found.answer is ms.Answer.UNKNOWN
    assert "never(x) is Python code" in found.reason
    first = ms.user_aggregate("first", never, never, never)
    found = ms.equivalent(S.aggregate(n=first("x")).plan(), S.filter(x > 3).aggregate(n=first("x")).plan())
    assert found.answer is ms.Answer.UNKNOWN
    assert ms.equivalent(one.distinct().plan(), one.distinct().distinct().plan())


def test_what_floats_lose_in_another_order_is_no_difference() -> None:
    """(y + z) + 0.1 and y + (z + 0.1) differ in the last digit, which refutes nothing."""
    one, other = F.select(s=(y + z) + 0.1), F.select(s=y + (z + 0.1))
    assert ms.equivalent(one.plan(), other.plan()).answer is ms.Answer.UNKNOWN


def test_the_budget_is_in_steps_and_time_is_a_cap() -> None:
    far = S.aggregate(n=ms.count()), S.aggregate(n=ms.count()).filter(ms.col("n") < 1000)
    one, other = (query.plan() for query in far)
    assert "none of 7 small inputs" in ms.equivalent(one, other, steps=7).reason
    assert ms.equivalent(one, other, steps=0).answer is ms.Answer.UNKNOWN
    assert "ended after 0 seconds" in ms.equivalent(one, other, seconds=0).reason


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (S.select(z=x), "has the columns (x integer) in one, (z integer) in the other"),
        (S.select(x=x * 1.0), "has the columns (x integer) in one, (x float null) in the other"),
        (ms.stream("s", x="integer", y="integer").window(9).select("x"), "source s has the columns"),
    ],
)
def test_plans_whose_rows_can_never_agree(other: ms.Stream, reason: str) -> None:
    found = ms.equivalent(S.plan(), other.plan())
    assert found.answer is ms.Answer.REFUTED
    assert reason in found.reason
    assert found.counterexample is None


def test_a_plan_is_not_compared_with_a_stream() -> None:
    with pytest.raises(ms.PlanError, match="found a Plan and a list, expected two plans or two streams"):
        ms.equivalent(S.plan(), [])


def test_relations_are_inputs_too() -> None:
    table = ms.relation("table", z="integer")
    one = S.join(table, on=[("x", "z")])
    found = ms.equivalent(one.plan(), S.join(table).plan())
    assert found.counterexample is not None
    assert found.counterexample.streams["table"][0][:2] == (BEGINNING, FOREVER)


def test_plans_with_several_outputs_say_which_differs() -> None:
    one = Plan({"all": S.node, "large": S.filter(x > 3).node})
    other = Plan({"all": S.node, "large": S.filter(x > 4).node})
    found = ms.equivalent(one, other)
    assert found.counterexample is not None and found.counterexample.output == "large"
    assert "has the outputs" in ms.equivalent(one, Plan({"all": S.node})).reason
