"""Verification of a rule: its two sides are compared on random subplans and small inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from time import monotonic
from typing import Any

from midstream.optimizer.rules.rule import Guard, Rule, apply
from midstream.optimizer.verification.subplans import Subplans
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.equivalence.refutation import smallest
from midstream.plans.equivalence.small_inputs import SmallInputs, Trial
from midstream.plans.equivalence.small_streams import SmallStreams, is_at_one_instant
from midstream.plans.equivalence.trials import Trials, TrialsAtOneInstant, TrialsOverTime
from midstream.plans.values.arguments import listed, require
from midstream.plans.values.errors import PlanError
from midstream.plans.values.verdicts import Answer, CounterExample

PLANS = 50
"""Default number of subplans to which a rule is applied."""

INPUTS = 2_000
"""Default number of small inputs on which both sides are compared, for each subplan."""

DRAWN_INPUTS = 20
"""Number of further, larger inputs, at instants and with values that the plans name."""

TRIES = 40
"""Greatest number of subplans drawn for each one to which the rule is to be applied."""

FURTHER = 12
"""Number of further subplans to try after a refutation, to find a smaller counter-example."""
SMALL = 3
"""Number of elements up to which a counter-example is small enough."""

SEED = 31


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """The result of trying a rule; true if the rule held in all cases.

    A rule is about all plans, so that cases can refute it but never prove it. The answer is `refuted`, or
    `unknown` with the number of cases in which it held; if there are none, the result is false.
    """

    rule: str
    answer: Answer
    reason: str
    plans: int
    """Number of subplans to which the rule was applied."""
    inputs: int
    """Total number of inputs on which its sides were compared."""
    left: Plan | None = None
    """A subplan on which the rule is wrong."""
    right: Plan | None = None
    """The rule's result for it, if it is a plan."""
    counterexample: CounterExample | None = None

    def __bool__(self) -> bool:
        return self.answer is not Answer.REFUTED and self.plans > 0

    def __str__(self) -> str:
        parts = [f"{self.rule}: {self.answer.value}: {self.reason}"]
        for side, plan in (("left", self.left), ("right", self.right)):
            if plan is not None:
                parts.append(f"{side}:\n{_indented(str(plan))}")
        if self.counterexample is not None:
            parts.append(str(self.counterexample))
        return "\n".join(parts)


def verify_rule(
    rule: Rule,
    *,
    plans: int = PLANS,
    inputs: int = INPUTS,
    examples: Iterable[Node] = (),
    seconds: float | None = None,
    seed: int = SEED,
) -> RuleCheck:
    """Try a rule on random subplans of its shape, `examples` first, until it was applied to `plans` of them.

    The two sides are compared on up to `inputs` small inputs, the smallest first. If all operators are
    snapshot-reducible, these are bags of rows of 0, 1 and NULL at one instant, up to three rows an input.
    Otherwise they are streams of up to three elements. All of these are tried if they are no more than
    `inputs`, and some random inputs in addition. It is a difference too if only one side raises an error,
    unless a function raises it on the left: the right side may evaluate it on fewer rows.

    The answer is the same on every machine unless `seconds` ends the search earlier, which its reason tells.

    >>> from midstream.optimizer.rules import Shape
    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.algebra.operators import Distinct, Union
    >>> wrong = Rule(
    ...     "left-out",
    ...     "distinct(union(L, R)) = union(L, R)",
    ...     Shape(Distinct, Shape(Union)),
    ...     match=lambda node: [node.inputs[0]],
    ...     rewrite=lambda node, union: union,
    ... )
    >>> s, t = (stream(name, x="integer", intervals=True) for name in "st")
    >>> print(verify_rule(wrong, examples=[s.union(t).distinct().node]))
    left-out: refuted: the sides differ on an input of 2 elements
    left:
      distinct
      └─ union
         ├─ source s
         └─ source t
    right:
      union
      ├─ source s
      └─ source t
                 0   1
    s      (0,)  [───)
           (0,)  [───)
    left   (0,)  [───)
    right  (0,)  [───)
           (0,)  [───)
    """
    require("verify_rule", rule, Rule, "a rule")
    for name, number in (("plans", plans), ("inputs", inputs), ("seed", seed)):
        require(f"verify_rule: {name}", number, int, "a number")
    if seconds is not None:
        require("verify_rule: seconds", seconds, (int, float), "a number of seconds, or None")
    examples = listed("verify_rule: examples", examples, "a list of nodes")
    for node in examples:
        require("verify_rule: examples", node, Node, "a node of a plan")
    until = None if seconds is None else monotonic() + seconds
    applied = compared = 0
    refuted: list[RuleCheck] = []
    left = plans
    for node in candidates(rule, examples, plans * TRIES, seed):
        if until is not None and monotonic() > until and not refuted:
            return _held(rule, applied, compared, f"the search was ended after {seconds} seconds: ")
        if not left or (until is not None and monotonic() > until):
            break
        try:
            results = list(apply(rule, node))
        except Exception as error:  # whatever is wrong with somebody's rule
            reason = str(error) if isinstance(error, PlanError) else f"it raises {error!r} on {node!r}"
            refuted.append(RuleCheck(rule.name, Answer.REFUTED, reason, applied, compared, Plan(node)))
            break
        for result in results:
            tried, example = compare_sides(Plan(node), Plan(result), inputs, Random(seed + applied))
            compared += tried
            if example is not None:
                if not refuted:
                    left = min(left, FURTHER)
                refuted.append(_refuted(rule, node, result, example, applied, compared))
        if refuted and min(map(_size, refuted)) <= SMALL:
            break
        applied += bool(results)
        left -= bool(results)
    return min(refuted, key=_size) if refuted else _held(rule, applied, compared)


def _refuted(
    rule: Rule, node: Node, result: Node, example: CounterExample, applied: int, compared: int
) -> RuleCheck:
    elements = "1 element" if example.size == 1 else f"{example.size} elements"
    reason = f"the sides differ on an input of {elements}"
    plans = Plan(node), Plan(result)
    return RuleCheck(rule.name, Answer.REFUTED, reason, applied, compared, *plans, example)


def _size(check: RuleCheck) -> int:
    """The size of a counter-example; a refutation without an input counts as large, as it shows less."""
    return SMALL + FURTHER if check.counterexample is None else check.counterexample.size


def verify_guard(
    rule: Rule,
    guard: Guard,
    *,
    plans: int = PLANS,
    inputs: int = INPUTS,
    examples: Iterable[Node] = (),
) -> RuleCheck:
    """Try a rule where only one of its guards refuses it; the guard is needed if that is refuted."""

    def refuses(node: Node, matched: Any) -> bool:
        return not guard(node, matched)

    others = tuple(other for other in rule.guards if other is not guard)
    name = f"{rule.name} where not {guard.__name__}"
    unguarded = replace(rule, name=name, guards=(*others, refuses), measure=None)
    return verify_rule(unguarded, plans=plans, inputs=inputs, examples=examples)


def candidates(rule: Rule, examples: Iterable[Node], most: int, seed: int) -> Iterator[Node]:
    """Subplans of a rule's shape: the examples, then random ones."""
    yield from examples
    subplans = Subplans(Random(seed))
    for _ in range(most):
        yield subplans.of(rule.shape)


def compare_sides(left: Plan, right: Plan, inputs: int, random: Random) -> tuple[int, CounterExample | None]:
    """Number of inputs on which two plans were compared, and a minimised counter-example if they differ."""
    left, right = logical_plan(left), logical_plan(right)
    number = 0
    for trials, streams in _cases(left, right, inputs, random):
        number += 1
        if trials.differ(streams):
            return number, _made_smaller(left, right, streams)
    return number, None


def _cases(left: Plan, right: Plan, inputs: int, random: Random) -> Iterator[tuple[Trials, Trial]]:
    """Inputs, and the comparison of two plans for each."""
    plans = (left, right)
    over_time = TrialsOverTime(left, right, strict=True)
    trials: Trials = TrialsAtOneInstant(left, right) if is_at_one_instant(plans) else over_time
    for streams in SmallStreams(plans).by_size(inputs, random):
        yield trials, streams
    drawn = SmallInputs(plans)
    for _ in range(DRAWN_INPUTS):
        yield over_time, drawn.draw(random)


def _made_smaller(left: Plan, right: Plan, streams: Trial) -> CounterExample | None:
    search = smallest(streams, SmallInputs((left, right)), TrialsOverTime(left, right, strict=True), INPUTS)
    while True:
        try:
            next(search)
        except StopIteration as end:
            example: CounterExample | None = end.value
            return example


def _held(rule: Rule, applied: int, compared: int, prefix: str = "") -> RuleCheck:
    reason = f"{prefix}it held for {applied:,} plans on {compared:,} inputs"
    if not applied:
        reason = f"{prefix}no subplan was found to which it applies"
    return RuleCheck(rule.name, Answer.UNKNOWN, reason, applied, compared)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
