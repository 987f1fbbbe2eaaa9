"""Every rule keeps every snapshot, and every guard is needed for that."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from midstream.operators.engine.run import run
from midstream.optimizer.rules import ALL_RULES, ANY, Rule, Shape, apply
from midstream.optimizer.rules.measures import operators
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Distinct, Join, Union
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.expressions import Binary, Col, Const, Expression, conjunction, equality
from midstream.plans.expressions.operands import col, opaque
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Type
from midstream.plans.values.snapshots import compare, normal_form
from midstream.plans.values.streams import Element
from midstream.testing import condition, elements, plans

WRITTEN_RULES = [
    "filter-merging",
    "filter-into-join",
    "filter-below-left",
    "filter-below-right",
    "filter-below-union",
    "distinct-below-join",
    "distinct-above-join",
    "join-commutativity",
    "join-associativity",
]
GUARDED = [rule for rule in ALL_RULES if rule.guards]


@st.composite
def subplans(draw: st.DrawFn, prefix: str) -> Stream:
    """A subplan whose columns have a prefix; sometimes with a filter on top, which a rule may merge with
    another."""
    kind = draw(st.integers(0, 7))
    if kind == 0:
        found = Stream(draw(plans(depth=1)).root).alias(prefix)
    else:
        found = stream(draw(st.sampled_from("pqr")), intervals=True, x="integer", y="integer").alias(prefix)
    if kind == 1:
        found = found.group_by(f"{prefix}.x").aggregate(**{f"{prefix}.n": count()})
    return found.filter(draw(condition(found.schema.names))) if kind == 2 else found


@st.composite
def conditions(draw: st.DrawFn, names: Sequence[str]) -> Expression:
    """Also conditions that read nothing, that only look like tautologies, or that no rule can look into."""
    name = draw(st.sampled_from(names))
    match draw(st.integers(0, 7)):
        case 0:
            return draw(st.sampled_from([Const(True), Const(True), Const(False), Const(None)]))
        case 1:
            return (col(name) == col(name)).expression
        case 2:
            return opaque(is_even, [name], "boolean?").expression
    return draw(condition(names))


def streams_of_few_values(plan: Plan) -> st.SearchStrategy[dict[str, list[Element]]]:
    """Streams whose rows often agree, so that joins find partners and duplicates are there."""
    return st.fixed_dictionaries(
        {
            source.stream: elements(
                st.tuples(*[st.integers(0, 1)] * len(source.columns)),
                chronons=not source.intervals,
                max_size=8,
            )
            for source in plan.sources
        }
    )


def is_even(value: float | None) -> bool | None:
    return None if value is None else value % 2 == 0


@st.composite
def joins(draw: st.DrawFn, left: Stream, right: Stream, *, keeps_all: bool = False) -> Stream:
    """A join of two subplans under random conditions, with random output columns of both."""
    ours, theirs = left.schema.names, right.schema.names
    parts = [
        equality(draw(st.sampled_from(ours)), draw(st.sampled_from(theirs)))
        for _ in range(draw(st.sampled_from([0, 0, 1, 1, 1, 2])))
    ]
    if draw(st.integers(0, 3)) == 0:
        parts.append(draw(conditions(ours + theirs)))
    columns = draw(st.permutations(ours + theirs))
    if not keeps_all:
        kept = {draw(st.sampled_from(ours)), draw(st.sampled_from(theirs))}
        kept |= set(draw(st.lists(st.sampled_from(columns))))
        columns = [name for name in columns if name in kept]
    return left.join(right, on=conjunction(parts), columns=columns)


@st.composite
def filters_over_joins(draw: st.DrawFn, sides: tuple[int, ...]) -> Node:
    """A filter over a join, of which a part reads just these sides."""
    inputs = [draw(subplans("l")), draw(subplans("r"))]
    joined = draw(joins(*inputs))
    visible = [[name for name in side.schema.names if name in joined.schema] for side in inputs]
    if len(sides) == 2:
        part = Binary("<=", *(Col(draw(st.sampled_from(names))) for names in visible))
    else:
        part = draw(condition(visible[sides[0]]))
    others = draw(st.lists(conditions(joined.schema.names), max_size=1))
    return joined.filter(conjunction([part, *others])).node


@st.composite
def filters_over_filters(draw: st.DrawFn) -> Node:
    below = draw(subplans("s"))
    names = below.schema.names
    return below.filter(draw(conditions(names))).filter(draw(conditions(names))).node


@st.composite
def filters_over_unions(draw: st.DrawFn) -> Node:
    inputs = [draw(subplans(prefix)) for prefix in "abc"[: draw(st.integers(2, 3))]]
    width = min(2, *(len(s.schema) for s in inputs))
    alike = [
        s.select(
            **{
                f"u{i}": Col(column.name) if column.type is Type.INTEGER else Const(i)
                for i, column in enumerate(list(s.schema)[:width])
            }
        )
        for s in inputs
    ]
    union = alike[0].union(*alike[1:])
    return union.filter(draw(conditions(union.schema.names))).node


@st.composite
def distincts_over_joins(draw: st.DrawFn) -> Node:
    return draw(joins(draw(subplans("l")), draw(subplans("r")), keeps_all=True)).distinct().node


@st.composite
def joins_over_distincts(draw: st.DrawFn) -> Node:
    left, right = draw(subplans("l")).distinct(), draw(subplans("r")).distinct()
    return draw(joins(left, right, keeps_all=True)).node


@st.composite
def joins_of_two(draw: st.DrawFn) -> Node:
    return draw(joins(draw(subplans("l")), draw(subplans("r")))).node


@st.composite
def joins_of_three(draw: st.DrawFn) -> Node:
    lower = draw(joins(draw(subplans("a")), draw(subplans("b"))))
    return draw(joins(lower, draw(subplans("c")))).node


MATCHING: dict[str, Callable[[], st.SearchStrategy[Node]]] = {
    "filter-merging": filters_over_filters,
    "filter-into-join": lambda: filters_over_joins((0, 1)),
    "filter-below-left": lambda: filters_over_joins((0,)),
    "filter-below-right": lambda: filters_over_joins((1,)),
    "filter-below-union": filters_over_unions,
    "distinct-below-join": distincts_over_joins,
    "distinct-above-join": joins_over_distincts,
    "join-commutativity": joins_of_two,
    "join-associativity": joins_of_three,
}


def test_the_rules_are_those_listed() -> None:
    """A rule without a strategy would go untested."""
    assert [rule.name for rule in ALL_RULES] == WRITTEN_RULES
    assert list(MATCHING) == WRITTEN_RULES


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.name)
@given(data=st.data())
def test_rule_preserves_every_snapshot(rule: Rule, data: st.DataObject) -> None:
    """Both sides mean the same by the specification, on streams with all that is hard, and both run so."""
    node = data.draw(MATCHING[rule.name]())
    results = list(apply(rule, node))
    assert results, f"{rule.name} does not match {node!r}"
    streams = data.draw(streams_of_few_values(Plan(node)))
    expected = specified(Plan(node), streams)
    event(f"something comes out: {bool(expected)}")
    verify(node, streams, expected)
    for result in results:
        assert result.schema == node.schema
        assert compare(expected, specified(Plan(result), streams)), f"{Plan(node)}\n{Plan(result)}"
        verify(result, streams, expected)


def verify(node: Node, streams: dict, expected: dict) -> None:
    """The engine gives what is expected."""
    outcome = compare(expected, normal_form(run(Plan(node), streams)))
    assert outcome, f"{Plan(node)}\n{outcome}"


A = stream("a", intervals=True, x="integer")
B = stream("b", intervals=True, y="integer")
ONE_AND_TWO = {"a": [(0, 9, (1,))], "b": [(0, 9, (1,)), (0, 9, (2,))]}
"""Two elements of b differ only in the column that the joins below drop."""

COUNTER_EXAMPLES: dict[str, tuple[Stream, str]] = {
    "filter-below-left": (A.join(B).filter(B["y"] > 1), "there is no column y in (x integer)"),
    "filter-below-right": (A.join(B).filter(A["x"] > 1), "there is no column x in (y integer)"),
    "distinct-below-join": (
        A.join(B, columns=["x"]).distinct(),
        "(1,) in [0, 9): 1 times on the left, 2 on the right",
    ),
    "distinct-above-join": (
        A.distinct().join(B.distinct(), columns=["x"]),
        "(1,) in [0, 9): 2 times on the left, 1 on the right",
    ),
    "join-associativity": (
        A.join(B, columns=["x"]).join(stream("c", intervals=True, y="integer")),
        "both sides have a column y",
    ),
}
"""By rule: a plan that the guard keeps off, and what goes wrong without it."""


def test_every_guard_has_a_counter_example() -> None:
    assert list(COUNTER_EXAMPLES) == [rule.name for rule in GUARDED]


@pytest.mark.parametrize("rule", GUARDED, ids=lambda rule: rule.name)
def test_guard_is_needed(rule: Rule) -> None:
    query, wrong = COUNTER_EXAMPLES[rule.name]
    assert list(apply(rule, query.node)) == []
    unguarded = replace(rule, guards=())
    try:
        (result,) = apply(unguarded, query.node)
    except PlanError as error:
        assert rule.name in str(error)
        assert wrong in str(error)
    else:
        outcome = compare(specified(query.plan(), ONE_AND_TWO), specified(Plan(result), ONE_AND_TWO))
        assert not outcome
        assert wrong in str(outcome)


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.name)
def test_rule_file_says_what_the_rule_is(rule: Rule) -> None:
    """Equation, reason, gain, guard where there is one, and source stand in the docstring of the module."""
    text = sys.modules[rule.rewrite.__module__].__doc__
    assert text is not None
    left, _, right = rule.equation.partition(" = ")
    assert left.partition("(")[0] in text
    assert right.partition("(")[0] in text
    headings = re.findall(r"^[A-Z][a-z]+(?=  )", text, re.MULTILINE)
    assert headings == ["Why", "Gain", *(["Guard"] if rule.guards else []), "Source"]


def test_a_rule_that_changes_columns_is_named() -> None:
    dropping = Rule(
        "dropping",
        "distinct(S) = project(S)",
        Shape(Distinct),
        match=lambda node: [node],
        rewrite=lambda node, found: Stream(node.inputs[0]).select().node,
    )
    with pytest.raises(PlanError, match=r"rule dropping on .* changed \(x integer\) to \(\)"):
        list(apply(dropping, A.distinct().node))


def test_a_rule_that_changes_nothing_gives_nothing() -> None:
    idle = Rule("idle", "S = S", ANY, match=lambda node: [node], rewrite=lambda node, found: node)
    assert list(apply(idle, A.node)) == []


def test_a_simplifying_rule_must_simplify() -> None:
    growing = Rule(
        "growing",
        "S = distinct(distinct(S))",
        Shape(Distinct),
        match=lambda node: [node],
        rewrite=lambda node, found: Stream(node).distinct().node,
        measure=operators,
    )
    assert growing.is_simplifying
    with pytest.raises(PlanError, match=r"rule growing on .* took its measure from \(2,\) to \(3,\)"):
        list(apply(growing, A.distinct().node))


def test_a_rule_is_tried_only_at_its_shape() -> None:
    """Its match need not look whether it is at the right place."""
    tried: list[Node] = []
    rule = Rule(
        "looking",
        "S = S",
        Shape((Join, Union), each=Shape(Distinct)),
        match=lambda node: tried.append(node) or [],
        rewrite=lambda node, found: node,
    )
    fits = A.distinct().join(B.distinct()).node
    for query in (A, A.distinct(), A.join(B), A.distinct().join(B), Stream(fits), Stream(fits).distinct()):
        assert list(apply(rule, query.node)) == []
    assert tried == [fits]


def test_a_shape_says_nothing_of_other_inputs() -> None:
    shape = Shape(Join, ANY, Shape(Distinct))
    assert shape.fits(A.join(B.distinct()).node)
    assert not shape.fits(A.distinct().join(B).node)
    assert [shape.of_input(place).is_any for place in range(3)] == [True, False, True]


def test_a_rule_reads_as_its_equation() -> None:
    assert str(ALL_RULES[0]) == "filter-merging: filter(p, filter(q, S)) = filter(p and q, S)"
