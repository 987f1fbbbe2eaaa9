"""The memo: equal subplans are there once, and why they are equal can be told."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import event, given, settings
from hypothesis import strategies as st

from midstream.optimizer.rules import ALL_RULES, ANY, WINDOWS, Rule, Shape, apply, flat
from midstream.optimizer.rules.linking import linked
from midstream.optimizer.search.derivation import without_detours
from midstream.optimizer.search.exploring import Exploration
from midstream.optimizer.search.memo import Memo
from midstream.optimizer.search.simplifying import simplify
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Distinct, Filter, Join, Union
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.equivalence.certificate import Step, at, exchanged
from midstream.plans.expressions.operands import col
from midstream.plans.values.snapshots import compare
from midstream.testing import plans, streams_for

RULES_OF = {rule.name: rule for rule in (*ALL_RULES, *flat(WINDOWS))}
MOST_ROUNDS = 3

A, B, C = (stream(name, **{name: "integer", f"{name}2": "integer"}).window(9) for name in "abc")
PAIRS = A.join(B, on=[("a", "b")])


def follows(step: Step) -> bool:
    """Whether a step is an application of the rule that it names."""
    one, other = (step.after, step.before) if step.is_reversed else (step.before, step.after)
    return other == linked(one) if step.rule == "linked joins" else other in apply(RULES_OF[step.rule], one)


def explored(memo: Memo, rules: tuple[Rule, ...], rounds: int = MOST_ROUNDS) -> None:
    exploration = Exploration(memo, rules)
    for _ in range(rounds):
        for _ in exploration.round():
            pass


def equate(memo: Memo, one: Stream, other: Stream) -> bool:
    return memo.equate(one.node, other.node, [Step("said", (), one.node, other.node)])


def test_equal_subplans_are_there_once() -> None:
    memo = Memo()
    group = memo.group(PAIRS.node)
    again = stream("a", a="integer", a2="integer").window(9).join(B, on=[("a", "b")])
    assert memo.group(again.node) is group
    assert len(memo.groups()) == len(PAIRS.plan().nodes)
    assert A.node in memo
    assert C.node not in memo
    assert list(group.expressions) == [group.node] == [PAIRS.node]


def test_what_is_over_equal_inputs_becomes_equal() -> None:
    """And what is over that, in turn."""
    memo = Memo()
    ours, theirs = A.filter(col("a") > 1), A.filter(col("a") > 2)
    above = [one.distinct().filter(col("a2") > 3) for one in (ours, theirs)]
    groups = [memo.group(one.node) for one in above]
    assert groups[0] is not groups[1]
    assert equate(memo, ours, theirs)
    assert memo.group(above[0].node) is memo.group(above[1].node) is groups[0]
    assert not equate(memo, *above)
    assert len(memo.group(ours.node).expressions) == 2
    assert len(groups[0].expressions) == 1
    assert [str(node.operator) for node in groups[0].expressions] == ["filter a2 > 3"]


def test_what_is_over_groups_that_are_equal_is_there_once() -> None:
    memo = Memo()
    one, other = A.distinct(), A.filter(col("a") > 1)
    unions = [one.union(other), other.union(one), one.union(one)]
    for union in unions:
        memo.group(union.node)
    equate(memo, other, one)
    assert len({memo.group(union.node) for union in unions}) == 1
    assert len(memo.group(unions[0].node).expressions) == 1


def test_a_group_may_be_above_itself() -> None:
    memo = Memo()
    equate(memo, A.distinct().distinct(), A.distinct())
    (group,) = {memo.group(A.distinct().node), memo.group(A.distinct().distinct().node)}
    assert len(group.expressions) == 2
    deep = A.distinct().distinct().distinct().distinct()
    assert memo.group(deep.node) is group
    steps = list(memo.equations.steps(deep.node, A.distinct().node))
    assert len(steps) == 3


def test_steps_of_what_follows_from_several_equations() -> None:
    memo = Memo()
    f, g, h = (A.filter(col("a") > i) for i in range(3))
    equate(memo, f, g)
    equate(memo, h, g)
    before, after = f.union(h).distinct().node, h.union(g).distinct().node
    assert memo.group(before) is memo.group(after)
    root = before
    for step in memo.equations.steps(before, after):
        assert at(root, step.place) == step.before
        root = exchanged(root, step.place, step.after)
    assert root == after


def test_bindings_are_in_every_combination_of_what_a_rule_looks_into() -> None:
    memo = Memo()
    left, right = A.filter(col("a") > 1), B.filter(col("b") > 1)
    join = left.join(right, on=[("a", "b")])
    memo.group(join.node)
    equate(memo, left, A.filter(col("a") > 2))
    equate(memo, left, A.distinct())
    equate(memo, right, B.filter(col("b") > 2))

    def number(shape: Shape) -> int:
        return len(list(memo.bindings(memo.group(join.node).node, shape)))

    assert number(Shape(Join)) == number(ANY) == 1
    assert number(Shape(Join, Shape(Filter))) == 2
    assert number(Shape(Join, Shape(Filter), Shape(Filter))) == 4
    assert number(Shape(Join, Shape((Filter, Distinct)), Shape(Filter))) == 6
    assert number(Shape(Join, each=Shape(Filter))) == 4
    assert number(Shape(Join, Shape(Join))) == number(Shape(Union)) == 0


def test_what_is_rewritten_is_known_and_no_expression() -> None:
    memo = Memo()
    before, after = A.filter(col("a") > 1).filter(col("a2") > 1).node, A.filter(col("a") > 5).node
    memo.rewrite(before, after, [Step("said", (), before, after)])
    assert memo.group(before) is memo.group(after)
    assert list(memo.group(before).expressions) == [after]
    assert [step.rule for step in memo.equations.steps(before, after)] == ["said"]


@settings(max_examples=settings().max_examples // 2)
@given(plans(depth=3, windows=True), st.data())
def test_subplans_of_a_group_mean_the_same_and_steps_lead_from_each_to_each(
    plan: Plan, data: st.DataObject
) -> None:
    memo = Memo()
    memo.group(plan.root)
    explored(memo, tuple(RULES_OF.values()))
    group = data.draw(st.sampled_from([g for g in memo.groups() if len(g.expressions) > 1] or memo.groups()))
    one, other = (data.draw(st.sampled_from(list(group.expressions))) for _ in range(2))
    event(f"expressions: {min(len(group.expressions), 5)}")
    root = one
    for step in memo.equations.steps(one, other):
        assert at(root, step.place) == step.before
        assert follows(step)
        root = exchanged(root, step.place, step.after)
    assert root == other
    assert one.schema == other.schema
    streams = data.draw(streams_for(plan))
    assert compare(specified(Plan(one), streams), specified(Plan(other), streams))


@given(plans(depth=3, windows=True))
def test_every_expression_is_over_what_stands_for_groups(plan: Plan) -> None:
    memo = Memo()
    memo.group(plan.root)
    explored(memo, tuple(RULES_OF.values()))
    for group in memo.groups():
        assert memo.group(group.node) is group
        for expression in group.expressions:
            assert memo.group(expression) is group
            for child in expression.inputs:
                assert memo.group(child).node is child
                assert expression in memo.group(child).readers


def test_rules_are_tried_where_an_input_has_become_what_they_look_for() -> None:
    """The filter can go below the join only when the projection between them has turned out to be idle."""
    idle = PAIRS.select("a", "a2", "b", "b2")
    query = idle.filter(col("a") > 1).node
    memo = Memo()
    memo.group(query)
    explored(memo, (RULES_OF["filter-below-left"],))
    assert len(memo.group(query).expressions) == 1
    equate(memo, idle, PAIRS)
    explored(memo, (RULES_OF["filter-below-left"],))
    assert {type(node.operator) for node in memo.group(query).expressions} == {Filter, Join}


@given(plans(depth=3))
def test_simplifying_ends_where_no_rule_applies(plan: Plan) -> None:
    simplifying = [rule for rule in ALL_RULES if rule.is_simplifying]
    simple, steps = simplify(plan.root, simplifying)
    root = plan.root
    for step in steps:
        assert at(root, step.place) == step.before
        assert follows(step)
        root = exchanged(root, step.place, step.after)
    assert root == simple
    for node in simple.walk():
        assert not any(list(apply(rule, node)) for rule in simplifying)


def test_detours_are_left_out() -> None:
    one, two, three, four = (A.filter(col("a") > i).node for i in range(4))
    way = [one, two, three, two, one, four]
    steps = [Step("r", (), before, after) for before, after in pairwise(way)]
    assert [(step.before, step.after) for step in without_detours(one, steps)] == [(one, four)]
    assert without_detours(one, steps[:4]) == []
