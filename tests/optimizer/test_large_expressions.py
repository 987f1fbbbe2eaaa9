"""Views upon views: what rules make of them grows no faster than their text, and can be compiled."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from midstream.engine import Engine
from midstream.optimizer.rules import ALL_STAGES, apply, flat
from midstream.optimizer.search.proving import equivalent
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import expressions
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.expressions.aggregates import max_
from midstream.plans.expressions.expressions import (
    DEEPEST_EXPRESSION,
    DEEPEST_REPEATED,
    LARGEST_REPEATED,
    Expression,
    is_large,
    walk,
)
from midstream.plans.expressions.operands import Operand, call, case, col

DEPTHS = (5, 10, 20, 40)
X = col("x")


def long_sum() -> Operand:
    """A sum of sixty."""
    total = X
    for _ in range(59):
        total = total + 1
    return total


STEPS: dict[str, Operand] = {
    "clamped": case((X > 100, 100), (X < 0, 0), default=X),
    "added to itself": X + X,
    "read once": call("abs", X + 1),
    "a sum of sixty": long_sum(),
}

TOPS = {
    "a filter": lambda rows: rows.filter(X > 2),
    "two conditions": lambda rows: rows.filter((X > 2) & (X < 1_000)),
    "a grouping": lambda rows: rows.aggregate(most=max_(X)),
    "a join": lambda rows: rows.join(stream("t", y="integer").window(5), on=[("x", "y")]).filter(X > 2),
}


def views(depth: int, step: Operand) -> Stream:
    rows = stream("s", x="integer", z="integer").window(5)
    for _ in range(depth):
        rows = rows.select("z", x=step)
    return rows


def size(plan: Plan) -> int:
    """How many parts the expressions of a plan have."""
    return sum(1 for node in plan.nodes for one in expressions(node) for _ in walk(one))


def made_by_rules(plan: Plan, steps: int) -> list[Plan]:
    """What the rules that come first make of a plan, one step after the other."""
    made = [plan]
    for _ in range(steps):
        current = made[-1]
        further = (
            current.replace(node, result)
            for node in current.nodes
            for rule in flat(ALL_STAGES[:4])
            for result in apply(rule, node)
        )
        if (after := next((plan for plan in further if plan not in made), None)) is None:
            break
        made.append(after)
    return made


def largest(plan: Plan) -> Expression | None:
    every = (one for node in plan.nodes for one in expressions(node))
    return max(every, key=lambda one: sum(1 for _ in walk(one)), default=None)


@pytest.mark.slow
@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("step", STEPS)
def test_what_is_chosen_grows_no_faster_than_the_text(step: str, top: str) -> None:
    """Where a view reads its column once, a condition moves below all views and doubles the plan at most."""
    for depth in DEPTHS:
        plan = TOPS[top](views(depth, STEPS[step])).plan()
        engine = Engine(plan)
        for source in engine.streams:
            engine.push(source, [(t, t + 1, (t, t)[: 2 if source == "s" else 1]) for t in range(10)])
        chosen = engine.optimize()
        assert size(chosen.plan) <= 2 * size(plan) + 20
        assert len(chosen.plan.nodes) <= len(plan.nodes) + 2
        engine.migrate(chosen)
        if depth <= 10:
            assert equivalent(plan, chosen.plan, steps=0)


@pytest.mark.parametrize("step", STEPS)
def test_no_rule_makes_what_is_too_large(step: str) -> None:
    plan = views(6, STEPS[step]).filter(X > 2).plan()
    written = largest(plan)
    assert written is not None and not is_large(written)
    for made in made_by_rules(plan, 20):
        most = largest(made)
        assert most is not None
        assert not is_large(most, LARGEST_REPEATED, DEEPEST_REPEATED), f"{made}"
        assert size(made) <= 2 * size(plan) + 100


@pytest.mark.parametrize("operator", [lambda one: one + X, lambda one: call("concat", one, X)])
def test_the_deepest_expression_that_runs_is_optimized_shown_and_saved(
    operator: Callable[[Operand], Operand],
) -> None:
    value = X
    for _ in range(DEEPEST_EXPRESSION - 1):
        value = operator(value)
    plan = stream("s", x="integer").window(5).select("x", y=value).filter(X > 3).plan()
    engine = Engine(plan)
    engine.push("s", [(t, t + 1, (t,)) for t in range(9)])
    assert engine.optimize().plan != plan
    assert loads(dumps(plan)) == plan
    assert str(plan) and repr(plan)
