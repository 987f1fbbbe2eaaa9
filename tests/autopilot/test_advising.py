"""The optimizer as an advisor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.autopilot.advice import Advisor
from midstream.autopilot.advising import ByOptimizer
from midstream.optimizer import (
    INTERMEDIATE,
    PROCESSING,
    Choice,
    CostModel,
    Objective,
    Statistics,
    StreamStatistics,
    optimize,
)
from midstream.optimizer.cost.model import PlanCost
from midstream.optimizer.cost.objective import LATENCY, OUTPUT_RATE
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.errors import ArgumentError

A, B, C = (ms.stream(name, {f"{name}_x": "integer"}).window(1000) for name in "abc")
FIRST = A.join(B, on=[("a_x", "b_x")]).join(C, on=[("a_x", "c_x")]).plan()


def statistics(a: float, b: float, c: float) -> Statistics:
    """By rates."""
    sources = [stream.node.inputs[0] for stream in (A, B, C)]
    return Statistics(
        {
            node: StreamStatistics(d=1 / rate, l=1.0, distributions={node.schema.names[0]: {1: 0.5, 2: 0.5}})
            for node, rate in zip(sources, (a, b, c), strict=True)
        }
    )


def test_it_is_an_advisor() -> None:
    advisor: Advisor[Plan, Statistics] = ByOptimizer()
    assert advisor.advise(FIRST, statistics(1.0, 1.0, 0.1)) is not None


def test_it_finds_the_cheapest_plan_and_what_it_saves() -> None:
    advice = ByOptimizer(INTERMEDIATE).advise(FIRST, statistics(1.0, 1.0, 0.1))
    assert advice is not None
    best = advice.others[0]
    # Of two values each, half of the pairs agree; a pair that starts together is one.
    assert advice.running == pytest.approx(0.5 * (2 * 1000 - 1))
    assert best.rate == pytest.approx(0.5 * (2 * 1000 - 1) * 0.1)
    assert best.saving == advice.running - best.rate
    assert best.deviation == 0.0  # nothing is told of how sure the statistics are


def test_how_sure_a_saving_is() -> None:
    known = statistics(1.0, 1.0, 0.1)
    others = [statistics(1.0, 1.0, 0.1), statistics(1.2, 1.0, 0.1)]
    advice = ByOptimizer(INTERMEDIATE).advise(FIRST, replace(known, replicates=others))
    assert advice is not None
    best = advice.others[0]
    half = 0.5 * (2 * 1000 - 1)
    # a ⋈ b instead of b ⋈ c: half · (a − c) · b, or of a ⋈ c: half · (b − c) · a
    joined = {*best.plan.root.walk()}
    assert A.join(B, on=[("a_x", "b_x")]).node not in joined
    with_b = any({*node.schema.names} == {"b_x", "c_x"} for node in joined)
    savings = [half * (a - 0.1) if with_b else half * (1.0 - 0.1) * a for a in (1.0, 1.2)]
    assert best.deviation == pytest.approx(abs(savings[0] - savings[1]) / 2)


def test_how_sure_a_saving_is_is_worked_out_from_search_to_search() -> None:
    """In between it is the same share of what the running plan costs, without looking at groups."""
    advisor, known = ByOptimizer(INTERMEDIATE), statistics(1.0, 1.0, 0.1)
    others = [statistics(1.0, 1.0, 0.1), statistics(1.2, 1.0, 0.1)]
    first = advisor.advise(FIRST, replace(known, replicates=others))
    second = advisor.advise(FIRST, replace(statistics(1.0, 2.0, 0.1), replicates=Untouched()))
    assert first is not None and second is not None
    assert first.others[0].deviation > 0
    shares = [advice.others[0].deviation / advice.running for advice in (first, second)]
    assert shares[0] == pytest.approx(shares[1])


class Untouched(list[Statistics]):
    """Groups that nobody may ask for."""

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Statistics]:
        raise AssertionError("there was no search")


def test_the_same_question_has_the_same_answer_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    advisor, known = ByOptimizer(INTERMEDIATE), statistics(1.0, 1.0, 0.1)
    first = advisor.advise(FIRST, known)
    monkeypatch.setattr("midstream.autopilot.advising.optimize", None)
    assert advisor.advise(FIRST, known) is first


def test_a_search_follows_every_fourth_change(monkeypatch: pytest.MonkeyPatch) -> None:
    advisor, searches = ByOptimizer(INTERMEDIATE), 0

    def counted(*arguments: Any, **options: Any) -> Choice:
        nonlocal searches
        searches += 1
        return optimize(*arguments, **options)

    monkeypatch.setattr("midstream.autopilot.advising.optimize", counted)
    for i in range(9):
        advice = advisor.advise(FIRST, statistics(1.0, 1.0, 0.1 + i / 100))
        # Between searches the plan that was found is priced by what is known now.
        assert advice is not None and advice.others[0].rate == pytest.approx(
            0.5 * (2 * 1000 - 1) * (0.1 + i / 100)
        )
    assert searches == 3


def test_plans_that_differ_only_in_sides_are_one() -> None:
    advisor = ByOptimizer(INTERMEDIATE)
    known = statistics(1.0, 1.0, 0.1)
    swapped = A.join(C, on=[("a_x", "c_x")]).join(B, on=[("c_x", "b_x")])
    swapped = swapped.select("a_x", "b_x", "c_x")
    best = C.join(A, on=[("c_x", "a_x")]).join(B, on=[("a_x", "b_x")]).select("a_x", "b_x", "c_x")
    first = advisor.advise(best.plan(), known)
    second = advisor.advise(swapped.plan(), known)
    assert first is not None and second is not None
    plans = [forecast.plan for advice in (first, second) for forecast in advice.others]
    assert best.plan() not in plans and swapped.plan() not in plans


def joined(one: ms.Stream, other: ms.Stream) -> ms.Stream:
    """On the first column of each, in alphabetical order: with sides changed, the operator is the same."""
    names = sorted(one.schema.names + other.schema.names)
    first, second = (min(side.schema.names) for side in (one, other))
    return one.join(other, on=ms.col(min(first, second)) == ms.col(max(first, second)), columns=names)


ORDERS = {
    (one, other): joined(joined(first, second), third).plan()
    for (one, first), (other, second), (_, third) in permutations([("a", A), ("b", B), ("c", C)])
}
"""By which streams are joined first, the one on the left named first."""


@given(st.lists(st.tuples(st.sampled_from(sorted(ORDERS)), st.booleans()), min_size=1, max_size=30))
def test_a_plan_keeps_its_sides(rounds: list[tuple[tuple[str, str], bool]]) -> None:
    """However a search turns the inputs of joins that cost the same: what the autopilot has learned of a plan
    is told of it again."""
    running = ORDERS["a", "b"]
    advisor, named = ByOptimizer(INTERMEDIATE), {frozenset("ab"): running}
    pair = {plan: frozenset(order) for order, plan in ORDERS.items()}
    with pytest.MonkeyPatch.context() as patch:
        for number, (found, moves) in enumerate(rounds):
            patch.setattr(ByOptimizer, "_search", lambda *_, plan=ORDERS[found]: plan)
            advice = advisor.advise(running, statistics(1.0, 1.0 + number, 1.0))
            assert advice is not None
            for other in advice.others:
                assert named.setdefault(pair[other.plan], other.plan) == other.plan
            if moves and advice.others:
                running = advice.others[0].plan


def test_plans_found_before_are_compared_again() -> None:
    advisor = ByOptimizer(INTERMEDIATE)
    first = advisor.advise(FIRST, statistics(1.0, 1.0, 0.1))
    assert first is not None
    running = first.others[0].plan
    second = advisor.advise(running, statistics(1.0, 1.0, 0.1))
    assert second is not None
    assert FIRST in [forecast.plan for forecast in second.others]
    assert all(forecast.saving < 0 for forecast in second.others)


def test_plans_are_forgotten_with_the_query() -> None:
    advisor = ByOptimizer(INTERMEDIATE)
    advisor.advise(FIRST, statistics(1.0, 1.0, 0.1))
    other = A.join(C, on=[("a_x", "c_x")]).plan()
    advice = advisor.advise(other, statistics(1.0, 1.0, 0.1))
    assert advice is None or all(
        set(forecast.plan.root.schema.names) == {"a_x", "c_x"} for forecast in advice.others
    )


def test_so_many_plans_are_remembered() -> None:
    advisor, running = ByOptimizer(INTERMEDIATE, most=2), FIRST
    for rates in ((1.0, 1.0, 0.1), (0.1, 1.0, 1.0), (1.0, 0.1, 1.0), (1.0, 1.0, 0.1)):
        advice = advisor.advise(running, statistics(*rates))
        assert advice is not None and len(advice.others) <= 1
        running = advice.others[0].plan


def test_a_plan_that_is_out_of_reach_is_not_advised() -> None:
    advisor = ByOptimizer(INTERMEDIATE, obstacle=lambda plan: "no" if plan != FIRST else None)
    advice = advisor.advise(FIRST, statistics(1.0, 1.0, 0.1))
    assert advice is not None and advice.others == ()


def test_where_nothing_came_there_is_no_advice() -> None:
    sources = [stream.node.inputs[0] for stream in (A, B, C)]
    silent = Statistics({node: StreamStatistics(d=float("inf"), l=0.0) for node in sources})
    assert ByOptimizer().advise(FIRST, silent) is None
    assert ByOptimizer().advise(FIRST, Statistics({})) is None


def test_bad_arguments() -> None:
    with pytest.raises(ArgumentError):
        ByOptimizer(most=1)
    with pytest.raises(ArgumentError, match="beside"):
        ByOptimizer(beside=frozenset(FIRST.nodes))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        ByOptimizer().advise(FIRST, {})  # type: ignore[arg-type]


PAIRS = A.join(B, on=[("a_x", "b_x")])


def added(plan: Plan, known: Statistics, shared: frozenset[Node]) -> float:
    """The price of what a plan adds beside shared operators."""
    operators = CostModel(known).price(plan).operators.items()
    return PROCESSING.of(PlanCost({node: estimate for node, estimate in operators if node not in shared}))


def test_plans_are_priced_by_what_they_add() -> None:
    """As soon as other operators are shared, plans are priced and looked for again; deviations, too."""
    groups = [statistics(1.0, 1.0, 0.01), statistics(1.2, 1.0, 0.01)]
    known = replace(groups[0], replicates=groups)
    shared: frozenset[Node] = frozenset()
    advisor = ByOptimizer(beside=lambda: shared)
    for _ in range(2):
        advice = advisor.advise(FIRST, known)
        assert advice is not None and advisor.advise(FIRST, known) is advice
        assert advice.running == pytest.approx(added(FIRST, known, shared))
        best = advice.others[0]
        assert best.rate == pytest.approx(added(best.plan, known, shared))
        assert best.saving == pytest.approx(advice.running - best.rate) and best.saving > 0
        savings = [added(FIRST, group, shared) - added(best.plan, group, shared) for group in groups]
        assert best.deviation == pytest.approx(abs(savings[0] - savings[1]) / 2)
        shared = frozenset(PAIRS.node.walk())


def test_the_search_keeps_what_is_shared() -> None:
    """By itself another order is cheaper; beside the join that another query runs it is not."""
    known = statistics(1.0, 1.0, 0.7)
    alone = ByOptimizer().advise(FIRST, known)
    beside = ByOptimizer(beside=lambda: frozenset(PAIRS.node.walk())).advise(FIRST, known)
    assert alone is not None and beside is not None
    assert any(other.saving > 0 for other in alone.others)
    assert not any(other.saving > 0 for other in beside.others)


@pytest.mark.parametrize("objective", [LATENCY, OUTPUT_RATE])
def test_what_does_not_add_up_is_priced_as_a_whole(objective: Objective) -> None:
    known = statistics(1.0, 1.0, 0.1)
    advisors = ByOptimizer(objective), ByOptimizer(objective, beside=lambda: frozenset(PAIRS.node.walk()))
    alone, beside = (advisor.advise(FIRST, known) for advisor in advisors)
    assert alone == beside


def test_a_plan_that_adds_nothing_cannot_be_improved() -> None:
    advisor = ByOptimizer(beside=lambda: frozenset(FIRST.nodes))
    advice = advisor.advise(FIRST, statistics(1.0, 1.0, 0.1))
    assert advice is not None and advice.running == 0 and not advice.others


def test_intermediate_results_of_shared_joins_are_not_counted() -> None:
    """The search does not know them for this objective, but prices do: the other order does not pay."""
    known, shared = statistics(1.0, 1.0, 0.1), frozenset(A.node.walk())
    advisor = ByOptimizer(INTERMEDIATE, beside=lambda: shared)
    alone = advisor.advise(FIRST, known)
    assert alone is not None and alone.others[0].saving > 0
    shared = frozenset(PAIRS.node.walk())
    beside = advisor.advise(FIRST, known)
    assert beside is not None and beside.running == 0 and not beside.others
    back = advisor.advise(alone.others[0].plan, known)
    assert back is not None and [other.rate for other in back.others] == [0.0]
