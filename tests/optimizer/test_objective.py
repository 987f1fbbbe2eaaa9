"""What is wanted of a plan: OM's example, terms of plans, and which of two plans each objective chooses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from midstream.optimizer import (
    INTERMEDIATE,
    LATENCY,
    MEMORY,
    OBJECTIVES,
    OUTPUT_RATE,
    PROCESSING,
    Objective,
    PlanCost,
    Sample,
    Statistics,
    StreamStatistics,
    om,
    price,
)
from midstream.optimizer.cost.estimate import Work
from midstream.optimizer.cost.objective import objective_of
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import StatisticsError

S = stream("s", intervals=True, x="integer", y="integer")
T = stream("t", intervals=True, z="integer", w="integer")

FIRST, SECOND = (col("x") > 1).expression, (col("y") > 1).expression
SECOND_LONG = 1_000_000.0
"""A chronon is a second of OM's, a round lasts for one."""


def om_plan(*conditions: object) -> PlanCost:
    """Filters in a row over 500 elements a second. The first one lets half through and can do 500 a second,
    the second one a tenth of 50."""
    query = S
    for condition in conditions:
        query = query.filter(condition)  # type: ignore[arg-type]
    statistics = Statistics({S.node: StreamStatistics(1 / 500, 1.0)}, {FIRST: 0.5, SECOND: 0.1})
    per_element = {FIRST: SECOND_LONG / 500, SECOND: SECOND_LONG / 50}
    priced = price(query, statistics)
    return PlanCost(
        {
            node: replace(estimate, work=Work(estimate.arriving[0] * per_element[condition], 0.0))
            for (node, estimate), condition in zip(priced.operators.items(), conditions, strict=True)
        }
    )


ONE, TWO = om_plan(FIRST, SECOND), om_plan(SECOND, FIRST)


def om_second(w_r: float, w_m: float) -> Objective:
    return om(w_r, w_m, chronon=SECOND_LONG, round=1)


@pytest.mark.parametrize(("plan", "rate", "memory"), [(ONE, 5.0, 775.0), (TWO, 2.5, 575.0)])
def test_terms_of_oms_example(plan: PlanCost, rate: float, memory: float) -> None:
    """C_r and C_m of Figure 2: 500 in the input buffer and 250 + 25, or 50 + 25, in queues."""
    terms = om_second(1, 1).terms(plan)
    assert terms.rate == pytest.approx(rate)
    assert terms.buffers == pytest.approx(memory)


@pytest.mark.parametrize(("w_r", "w_m", "one", "two"), [(0.1, 0.9, 697.52, 517.54), (20_000, 2, 5550, 9150)])
def test_oms_example_of_two_objectives_gives_both_choices(
    w_r: float, w_m: float, one: float, two: float
) -> None:
    objective = om_second(w_r, w_m)
    assert objective.of(ONE) == pytest.approx(one)
    assert objective.of(TWO) == pytest.approx(two)
    assert min((ONE, TWO), key=objective.of) is (ONE if one < two else TWO)


def test_no_more_than_has_arrived_is_in_the_input_buffer() -> None:
    """λ (λ W / tpr) where the operator keeps up: 100 of 500 a second, for a tenth of the time each."""
    statistics = Statistics({S.node: StreamStatistics(1 / 100, 1.0)}, {FIRST: 0.5})
    ((node, estimate),) = price(S.filter(FIRST), statistics).operators.items()
    plan = PlanCost({node: replace(estimate, work=Work(100 * SECOND_LONG / 500, 0.0))})
    assert om_second(0, 1).terms(plan).buffers == pytest.approx(100 * 100 / 500 + 50)
    assert om_second(0, 1).terms(plan).rate == pytest.approx(50)


def statistics(d: float = 10.0, length: float = 600.0) -> Statistics:
    rows = [(i % 40, i % 5) for i in range(1000)]
    one = StreamStatistics(d, length, sample=Sample(S.schema, rows))
    return Statistics({S.node: one, T.node: replace(one, sample=Sample(T.schema, rows))})


def least(objective: Objective, queries: Sequence[Stream], known: Statistics) -> Stream:
    return min(queries, key=lambda query: objective.of(price(query, known)))


def test_duplicate_elimination_below_a_join_that_pairs_few_keeps_rows_once_more() -> None:
    joined = S.join(T, on=[("x", "z")])
    above, below = joined.distinct(), S.distinct().join(T.distinct(), on=[("x", "z")]).distinct()
    wide = Statistics({node: StreamStatistics(100.0, 600.0) for node in (S.node, T.node)})
    memory = [MEMORY.of(price(query, wide)) for query in (above, below)]
    assert memory[0] < memory[1]
    cost = price(above, wide)
    assert MEMORY.of(cost) == cost.memory == sum(each.bytes for each in cost.operators.values())
    assert PROCESSING.of(cost) == cost.total


def test_memory_counts_bytes_not_elements() -> None:
    """Without the columns that nobody reads, as many elements are smaller."""
    full = S.join(T, on=[("x", "z")])
    narrow = S.select("x").join(T.select("z"), on=[("x", "z")])
    known = statistics()
    (wide_join,) = price(full, known).operators.values()
    *_, narrow_join = price(narrow, known).operators.values()
    assert narrow_join.state == pytest.approx(wide_join.state)
    assert narrow_join.bytes < wide_join.bytes
    assert least(MEMORY, (full, narrow), known) is narrow
    assert least(Objective(state=1), (full, narrow), known) is full  # they come to the same


def test_latency_is_of_what_waits() -> None:
    """A group waits for the oldest of all; what is held back to become longer waits for that."""
    known = statistics()
    plain, held = S.select("x"), S.select("x").coalesce(500)
    assert least(LATENCY, (held, plain), known) is plain
    few, many = (S.group_by(key).aggregate(n=count()) for key in ("y", "x"))
    delays = [PROCESSING.terms(price(query, known)).latency for query in (plain, few, many)]
    assert delays == sorted(delays)
    assert delays[0] < 10 < 10_000 < delays[1]


def test_a_result_waits_for_the_slower_input() -> None:
    """Of a stream with an element in 1000 chronons, the progress is that old."""
    rare = Statistics({S.node: StreamStatistics(1.0, 500.0), T.node: StreamStatistics(1000.0, 500.0)})
    often = Statistics({S.node: StreamStatistics(1.0, 500.0), T.node: StreamStatistics(1.0, 500.0)})
    waits = [LATENCY.of(price(S.join(T), known)) for known in (often, rare)]
    assert waits[1] > 100 * waits[0]


def test_the_output_rate_falls_where_an_operator_cannot_keep_up() -> None:
    slow = replace(OUTPUT_RATE, chronon=1e-6)
    cost = price(S.join(T, on=[("x", "z")]), statistics())
    assert OUTPUT_RATE.terms(cost).rate == pytest.approx(list(cost.operators.values())[-1].rate)
    assert slow.terms(cost).rate < OUTPUT_RATE.terms(cost).rate / 100


def test_what_is_additive_is_the_sum_of_operators() -> None:
    cost = price(S.distinct().join(T.distinct(), on=[("x", "z")]), statistics())
    for objective in (PROCESSING, MEMORY, Objective(processing=2, memory=0.5, state=3)):
        assert objective.is_additive
        total = math.fsum(map(objective.of_operator, cost.operators.values()))
        assert objective.of(cost) == pytest.approx(total)
    mixed = Objective(processing=2, latency=0.5)
    assert not mixed.is_additive
    assert mixed.of(cost) == pytest.approx(2 * cost.total + 0.5 * LATENCY.of(cost))


def test_a_plan_without_operators_costs_nothing() -> None:
    nothing = price(S, statistics())
    for objective in (PROCESSING, MEMORY, LATENCY):
        assert objective.of(nothing) == 0


@pytest.mark.parametrize("wrong", [{"memory": -1}, {"latency": math.inf}, {"chronon": 0}, {"round": 0}])
def test_weights_are_numbers_of_zero_or_more(wrong: dict[str, float]) -> None:
    with pytest.raises(StatisticsError, match="expected a weight"):
        Objective(**wrong)


def test_intermediate_results_are_those_of_joins_below_others() -> None:
    """Filters and columns taken pass on what others made, and what comes out of the plan is no part."""
    u = stream("u", intervals=True, q="integer", v="integer")
    inner = S.join(T, on=[("x", "z")])
    known = Statistics(
        {
            each.node: StreamStatistics(4.0, 10.0, distributions={each.schema.names[0]: {1: 0.5, 2: 0.5}})
            for each in (S, T, u)
        }
    )
    made = price(inner, known).operators[inner.node].rate
    top = inner.join(u, on=[("x", "q")])
    for query in (
        top,
        top.select("y", "v"),
        inner.filter(col("y") > 1).join(u, on=[("x", "q")]).filter(FIRST),
    ):
        cost = price(query, known)
        assert INTERMEDIATE.of(cost) == INTERMEDIATE.terms(cost).intermediate == pytest.approx(made)
    assert INTERMEDIATE.of(price(inner.select("y"), known)) == 0
    above = top.aggregate(n=count())
    assert INTERMEDIATE.of(price(above, known)) > made  # the upper join is below the aggregation


def test_intermediate_results_have_a_name() -> None:
    assert objective_of("intermediate") == INTERMEDIATE == OBJECTIVES["intermediate"]
    assert objective_of("processing + 2 intermediate") == Objective(processing=1.0, intermediate=2.0)
    assert INTERMEDIATE.is_additive
