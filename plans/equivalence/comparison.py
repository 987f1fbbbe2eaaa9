"""Comparison of two plans, by normal form, or by a search for an input on which they differ."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from time import monotonic
from typing import Any

from midstream.plans.algebra.builder import AnyPlan, plan_in
from midstream.plans.algebra.operators import Relation, Source
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.equivalence.certificate import by_normal_form
from midstream.plans.equivalence.prover import Meanings
from midstream.plans.equivalence.refutation import STEPS, callables, search
from midstream.plans.values import snapshots
from midstream.plans.values.arguments import read_once, require, require_distinct_iterators
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import Element
from midstream.plans.values.verdicts import Answer, Equivalence

Comparing = Generator[None, None, Equivalence]
"""A comparison that pauses after each step of the search, and returns the answer."""

Prover = Callable[[Plan, Plan], Generator[None, None, Hashable | None]]
"""A search for a certificate that two logical plans are equivalent, step by step."""


def equivalent(
    left: AnyPlan | Iterable[Element],
    right: AnyPlan | Iterable[Element],
    *,
    steps: int = STEPS,
    seconds: float | None = None,
    prover: Prover | None = None,
) -> Equivalence:
    """Compare two streams, or two plans, snapshot by snapshot.

    Two streams are compared by their normal forms: the answer is proved or refuted, with the differences. Two
    plans are proved equivalent by the normal form of plans, or by the `prover`, which is asked next. Else at
    most `steps` small inputs are tried, and an input on which the plans differ refutes equivalence. Otherwise
    the answer is unknown. The answer is the same on every machine, unless the search ends early after
    `seconds`; its reason then says so.

    Cost     O(n log n) for two streams. For two plans about a millisecond, and as much for each step.
    Raises   PlanError where a plan is compared with a stream; ArgumentError for an iterator at its end.

    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.expressions.operands import col
    >>> print(equivalent([(1, 5, "a")], [(1, 9, "a"), (2, 3, "a")]))
    not equivalent, 2 differences:
      'a' in [2, 3): 1 times on the left, 2 on the right
      'a' in [5, 9): 0 times on the left, 1 on the right
    >>> s = stream("s", x="integer").window(9)
    >>> print(equivalent(s.distinct().filter(col("x") > 3).plan(), s.filter(col("x") > 3).distinct().plan()))
    proved: both have the same normal form
    >>> print(equivalent(s.filter(col("x") > 3).plan(), s.filter(col("x") > 4).plan()))
    refuted: a search found an input of 1 element on which they differ
                 0   1   9
    s      (4,)  [───)
    left   (4,)  [───────)
    right  nothing
    """
    of_left, of_right = plan_in(left), plan_in(right)
    if of_left is None and of_right is None:
        sides: dict[str, Any] = {"left": left, "right": right}
        require_distinct_iterators("equivalent", sides)
        return snapshots.equivalent(
            *(
                read_once(f"equivalent: {name}", side) if isinstance(side, Iterator) else side
                for name, side in sides.items()
            )
        )
    if of_left is None or of_right is None:
        raise PlanError(
            f"found a {type(left).__name__} and a {type(right).__name__}, expected two plans or two streams"
        )
    require("equivalent: steps", steps, int, "a number of inputs to try")
    if seconds is not None:
        require("equivalent: seconds", seconds, (int, float), "a number of seconds, or None")
    until = None if seconds is None else monotonic() + seconds
    comparing = compare(of_left, of_right, steps, prover)
    while (answer := next_answer(comparing)) is None:
        if until is not None and monotonic() > until:
            return Equivalence(
                Answer.UNKNOWN, f"the search was ended after {seconds} seconds", plans=(of_left, of_right)
            )
    return answer


def next_answer(comparing: Comparing) -> Equivalence | None:
    """Take one more step; the answer, if this step completes the comparison."""
    try:
        next(comparing)
    except StopIteration as end:
        answer: Equivalence = end.value
        return answer
    return None


def compare(left: Plan, right: Plan, steps: int = STEPS, prover: Prover | None = None) -> Comparing:
    """Compare two plans step by step, as `equivalent` does."""
    plans = (left, right)
    one, other = logical_plan(left), logical_plan(right)
    if unlike := _unlike(one, other):
        return Equivalence(Answer.REFUTED, unlike, plans=plans)
    meanings = Meanings()
    if all(meanings.are_same(root, other.outputs[output]) for output, root in one.outputs.items()):
        return Equivalence(
            Answer.PROVED,
            "both have the same normal form",
            plans=plans,
            certificate=by_normal_form(one, other),
        )
    if prover is not None and (certificate := (yield from prover(one, other))) is not None:
        return Equivalence(Answer.PROVED, str(certificate), plans=plans, certificate=certificate)
    if called := list(dict.fromkeys([*callables(one), *callables(other)])):
        reason = f"{', '.join(called)} is Python code, which a search must not run"
        return Equivalence(Answer.UNKNOWN, reason, plans=plans)
    example = yield from search(one, other, steps)
    if example is None:
        underived = "" if prover is None else ", no derivation was found"
        tried = f"none of {steps:,} small inputs tells them apart"
        reason = f"they have different normal forms{underived}, and {tried}"
        return Equivalence(Answer.UNKNOWN, reason, plans=plans)
    counted = "1 element" if example.size == 1 else f"{example.size} elements"
    return Equivalence(
        Answer.REFUTED,
        f"a search found an input of {counted} on which they differ",
        snapshots.equivalent(example.left, example.right).differences,
        example,
        plans,
    )


def _unlike(one: Plan, other: Plan) -> str:
    """The first difference in outputs, columns or streams; empty if the plans can be compared."""
    if set(one.outputs) != set(other.outputs):
        return f"one has the outputs {', '.join(one.outputs)}, the other {', '.join(other.outputs)}"
    for output, root in one.outputs.items():
        has, had = root.schema, other.outputs[output].schema
        if [(c.name, c.type) for c in has] != [(c.name, c.type) for c in had]:
            right = has.put_right(had, "the other")
            return f"the output {output} has the columns {has} in one, {had} in the other{right}"
    ours: tuple[Source | Relation, ...] = (*one.sources, *one.relations)
    declared = {str(leaf): leaf for leaf in ours}
    leaves: tuple[Source | Relation, ...] = (*other.sources, *other.relations)
    for leaf in leaves:
        if declared.get(str(leaf), leaf) != leaf:
            return f"{leaf} has the columns {declared[str(leaf)].columns} in one, {leaf.columns} in the other"
        own = declared.get(str(leaf), leaf)
        if isinstance(leaf, Source) and isinstance(own, Source) and (unlike := own.unlike_unit(leaf)):
            return unlike
    return ""
