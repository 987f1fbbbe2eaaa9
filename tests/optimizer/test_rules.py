"""The laws that every rule keeps: it holds, its guards are needed, and it is as it says it is.

All rules of all stages are tested. Who adds a rule adds it there, and here only if the subplans that it is
meant for are hard to come by at random (EXAMPLES).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from random import Random
from types import ModuleType

import pytest
from bag_examples import BAG_EXAMPLES
from hypothesis import settings
from row_examples import ROW_EXAMPLES

from midstream.arrivals import interleave
from midstream.engine import Engine
from midstream.optimizer.rules import ALL_RULES, ALL_STAGES, ANY, RULES, Rule, Shape, apply, flat
from midstream.optimizer.rules.faithful import asks_equal_rows_alike
from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.rule import Guard
from midstream.optimizer.verification import Subplans, verify_guard, verify_rule
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Distinct, Join, Union
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.equivalence.small_inputs import SmallInputs, Trial
from midstream.plans.equivalence.trials import are_close
from midstream.plans.values.errors import FunctionError, IntervalError, PlanError, TieError
from midstream.plans.values.snapshots import NormalForm, normal_form
from midstream.plans.values.streams import Element
from midstream.plans.values.verdicts import Answer

EXHAUSTIVE = int(os.environ.get("MIDSTREAM_RULE_PLANS") or 4)
"""On how many plans the two sides of a rule are compared on all small inputs."""
INPUTS = int(os.environ.get("MIDSTREAM_RULE_INPUTS") or 40 * settings.default.max_examples)
"""On how many small inputs each of them is compared."""
RUNNING = int(os.environ.get("MIDSTREAM_RULE_CASES") or 50)
"""On how many random cases the two sides of a rule are run."""

EXAMPLES: dict[str, Callable[[Random], Node]] = {**BAG_EXAMPLES, **ROW_EXAMPLES}
"""By rule: subplans that it is meant for, if those of its shape seldom are."""

EVERY_RULE = flat(ALL_STAGES)

GUARDS = [(rule, guard) for rule in EVERY_RULE for guard in rule.guards]

A = stream("a", intervals=True, x="integer")
B = stream("b", intervals=True, y="integer")


def subplans(rule: Rule, random: Random, number: int) -> Iterator[Node]:
    """Subplans to which a rule may apply."""
    draw = EXAMPLES.get(rule.name)
    made = Subplans(random)
    return (draw(random) if draw else made.of(rule.shape) for _ in range(number))


def examples(rule: Rule) -> list[Node]:
    return list(subplans(rule, Random(3), 40 * EXHAUSTIVE)) if rule.name in EXAMPLES else []


def test_names_are_unique() -> None:
    assert len({rule.name for rule in EVERY_RULE}) == len(EVERY_RULE)
    assert flat(RULES) == ALL_RULES


@pytest.mark.parametrize("rule", EVERY_RULE, ids=lambda rule: rule.name)
def test_rule_holds_on_all_small_inputs(rule: Rule) -> None:
    """Also, by `apply`, it keeps the columns and their types, and lowers its measure."""
    check = verify_rule(rule, plans=EXHAUSTIVE, inputs=INPUTS, examples=examples(rule))
    assert check, check
    assert check.plans == EXHAUSTIVE, check


@pytest.mark.slow
@pytest.mark.parametrize("rule", EVERY_RULE, ids=lambda rule: rule.name)
def test_rule_holds_while_running(rule: Rule) -> None:
    """The engine gives the same for both sides, and what is specified, whatever is drawn."""
    random = Random(7)
    cases = 0
    for node in subplans(rule, random, 60 * RUNNING):
        for result in apply(rule, node):
            if not Plan(node).sources or not Plan(result).sources:
                continue  # nothing would ever arrive
            if not all(map(asks_equal_rows_alike, node.walk())):
                continue  # the engine asks each of several equal rows, the specification one for all
            streams = SmallInputs([Plan(node), Plan(result)]).draw(random)
            try:
                expected = specified(Plan(node), streams)
                outcome = outcome_of(node, streams)
            except (TieError, IntervalError, PlanError, FunctionError):
                continue  # rows that must not be, are valid for ever below a window, or make a function fail
            other = outcome_of(result, streams)
            assert are_close(expected, outcome), told(rule, node, result, streams)
            assert are_close(expected, other), told(rule, node, result, streams)
            cases += 1
        if cases >= RUNNING:
            return
    pytest.fail(f"{rule.name} was applied in {cases} of {RUNNING} cases: give it EXAMPLES")


def told(rule: Rule, node: Node, result: Node, streams: Trial) -> str:
    """A case, to be read."""
    return f"{rule}\n{Plan(node)}\n{Plan(result)}\n{streams}"


def outcome_of(node: Node, streams: Trial) -> NormalForm:
    """What the engine gives for one side, which may do without a stream that the other one reads."""
    plan = Plan(node)
    results: list[Element] = []
    relations = {one.relation: streams[one.relation] for one in plan.relations}
    engine = Engine(plan, results.extend, relations=relations)
    for name, batch in interleave({source.stream: streams[source.stream] for source in plan.sources}):
        engine.push(name, batch)
    engine.close()
    return normal_form(results)


@pytest.mark.parametrize(("rule", "guard"), GUARDS, ids=lambda x: getattr(x, "__name__", None) or x.name)
def test_guard_is_needed(rule: Rule, guard: Guard) -> None:
    """Where it refuses, and the others do not, the rule is wrong, or cannot even be carried out."""
    check = verify_guard(rule, guard, plans=300, inputs=400, examples=examples(rule))
    assert check.answer is Answer.REFUTED, check
    assert check.counterexample is None or check.counterexample.size <= 4, check


@pytest.mark.parametrize(("rule", "guard"), GUARDS, ids=lambda x: getattr(x, "__name__", None) or x.name)
def test_guard_has_a_name_and_a_reason(rule: Rule, guard: Guard) -> None:
    assert guard.__name__ not in ("guard", "<lambda>"), rule.name
    assert guard.__doc__, f"{rule.name}: {guard.__name__} does not say why"


def file_of(rule: Rule) -> ModuleType:
    """The module in a room of rules that makes the rule, of which it may take functions from others."""
    rooms = [name for name in sys.modules if re.fullmatch(r"midstream\.optimizer\.rules\.\w+\.\w+", name)]
    (file,) = (
        sys.modules[name] for name in rooms if any(v is rule for v in vars(sys.modules[name]).values())
    )
    return file


@pytest.mark.parametrize("rule", EVERY_RULE, ids=lambda rule: rule.name)
def test_rule_file_says_what_the_rule_is(rule: Rule) -> None:
    """Equation, reason, gain, guards if any, and source stand in the docstring of the module."""
    text = file_of(rule).__doc__
    assert text is not None
    left, _, right = rule.equation.partition(" = ")
    assert left.partition("(")[0] in text
    assert right.partition("(")[0] in text
    headings = re.findall(r"^[A-Z][a-z]+(?=  )", text, re.MULTILINE)
    assert [heading for heading in headings if heading != "Guard"] == ["Why", "Gain", "Source"]
    if rule.guards:
        assert "Guard" in headings


def test_a_rule_that_changes_columns_is_named() -> None:
    dropping = Rule(
        "dropping",
        "distinct(S) = project(S)",
        Shape(Distinct),
        match=lambda node: [node],
        rewrite=lambda node, matched: Stream(node.inputs[0]).select().node,
    )
    with pytest.raises(PlanError, match=r"rule dropping on .* changed \(x integer\) to \(\)"):
        list(apply(dropping, A.distinct().node))


def test_a_rule_that_changes_nothing_gives_nothing() -> None:
    idle = Rule("idle", "S = S", ANY, match=lambda node: [node], rewrite=lambda node, matched: node)
    assert list(apply(idle, A.node)) == []


def test_a_simplifying_rule_must_simplify() -> None:
    growing = Rule(
        "growing",
        "S = distinct(distinct(S))",
        Shape(Distinct),
        match=lambda node: [node],
        rewrite=lambda node, matched: Stream(node).distinct().node,
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
        rewrite=lambda node, matched: node,
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
