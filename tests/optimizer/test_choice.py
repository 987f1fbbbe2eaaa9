"""The cheapest of all equivalent plans is chosen, and the given one unless another is cheaper."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from typing import Any

import pytest
from drawn_statistics import statistics_for
from hypothesis import event, given, settings
from hypothesis import strategies as st

from midstream.engine import Engine
from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer import (
    LATENCY,
    MEMORY,
    OUTPUT_RATE,
    CostModel,
    Objective,
    Statistics,
    StreamStatistics,
    enumerate_plans,
    om,
    optimize,
    price,
)
from midstream.optimizer.cost.units import STEPS as UNITS
from midstream.optimizer.cost.units import unit_costs
from midstream.optimizer.rules import ALL_RULES, JOIN_ORDERS, apply
from midstream.optimizer.rules.joins.join_commutativity import JOIN_COMMUTATIVITY
from midstream.optimizer.rules.linking import linked
from midstream.optimizer.search.budget import STEPS, Milliseconds, Steps
from midstream.optimizer.search.choice import Search
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Plan
from midstream.plans.equivalence.certificate import at
from midstream.plans.expressions.expressions import equality
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.plans.values.streams import chronons
from midstream.testing import plans


def integers(name: str, *columns: str) -> Stream:
    return stream(name, dict.fromkeys(columns, "integer")).window(100)


A, B, C, D = integers("a", "x", "y"), integers("b", "z"), integers("c", "u"), integers("d", "v")
POOR = A.join(B, on=[("x", "z")]).join(C, on=[("y", "u")]).plan()
GOOD = A.join(C, on=[("y", "u")]).join(B, on=[("x", "z")], columns=["x", "y", "z", "u"]).plan()
EQUALLY_FAST = {s.node: StreamStatistics(d=5.0, l=100.0) for s in (A, B, C, D)}
RARELY_U = Statistics(EQUALLY_FAST, {equality("x", "z"): 0.5, equality("u", "y"): 0.001})


def test_the_poor_order_is_left_for_the_good_one() -> None:
    choice = optimize(POOR, RARELY_U)
    assert choice.is_better
    assert choice.original == POOR
    assert choice.cost.total < choice.original_cost.total / 2
    assert choice.cost == CostModel(RARELY_U).price(choice.plan)
    assert choice.original_cost == CostModel(RARELY_U).price(POOR)
    joins = [str(node.operator) for node in choice.plan.nodes if isinstance(node.operator, Join)]
    assert joins == ["join u = y", "join x = z"]
    assert choice.is_complete


def test_the_good_order_stays() -> None:
    """Plans that cost the same up to rounding are no reason to change."""
    choice = optimize(GOOD, RARELY_U)
    assert not choice.is_better
    assert choice.plan == GOOD
    assert choice.cost == choice.original_cost
    assert choice.is_complete


@settings(max_examples=settings().max_examples // 2)
@given(plans(depth=2), st.data())
def test_no_plan_costs_less_than_the_chosen_one(plan: Plan, data: st.DataObject) -> None:
    statistics = data.draw(statistics_for(plan))
    choice = optimize(plan, statistics)
    model = CostModel(statistics)
    least = min(model.price(member).total for member in (plan, *enumerate_plans(plan)[:2000]))
    assert choice.cost.total <= least * (1 + 1e-9)
    assert choice.is_complete
    again = optimize(choice.plan, statistics)
    assert again.cost.total <= choice.cost.total * (1 + 1e-9)


@settings(max_examples=settings().max_examples // 2)
@given(plans(depth=3), st.data())
def test_the_steps_lead_to_the_chosen_plan(plan: Plan, data: st.DataObject) -> None:
    """Each is an application of the rule that it names, in the place that it names."""
    choice = optimize(plan, data.draw(statistics_for(plan)))
    event(f"steps: {len(choice.steps)}")
    rules = {rule.name: rule for rule in ALL_RULES}
    current = plan
    for step, after in zip(choice.steps, choice.plans, strict=True):
        assert at(current.outputs[step.output], step.place) == step.before
        assert at(after.outputs[step.output], step.place) == step.after
        one, other = (step.after, step.before) if step.is_reversed else (step.before, step.after)
        assert other == linked(one) if step.rule == "linked joins" else other in apply(rules[step.rule], one)
        current = after
    assert current == choice.plan


def steps_taken(plan: Plan) -> int:
    """How many steps it takes to apply all rules."""
    return next(n for n in range(1, STEPS) if optimize(plan, RARELY_U, budget=n).is_complete)


@pytest.mark.slow
def test_the_budget_is_kept() -> None:
    """So many steps and no more; a further one would find more, or there is none."""
    filtered = Stream(POOR.root).filter((col("x") > 1) & (col("u") > col("z"))).plan()
    needed = steps_taken(filtered)
    assert needed > 3
    for budget in (needed - 1, 1, 0):
        choice = optimize(filtered, RARELY_U, budget=Steps(budget))
        assert not choice.is_complete
        assert choice.cost.total <= choice.original_cost.total
    assert optimize(POOR, RARELY_U, budget=Milliseconds(60_000)) == optimize(POOR, RARELY_U)
    assert not optimize(POOR, RARELY_U, budget=Milliseconds(1e-6)).is_complete


@pytest.mark.parametrize("budget", [-1, 1.5, True, "much", None])
def test_a_budget_that_is_none_is_refused(budget: object) -> None:
    with pytest.raises(ArgumentError, match=r"budget: found .*, expected (a number of|0 or more)"):
        optimize(POOR, RARELY_U, budget=budget)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [0, -5, "soon", math.nan])
def test_milliseconds_are_more_than_none(number: object) -> None:
    with pytest.raises(ArgumentError, match="budget: found"):
        Milliseconds(number)  # type: ignore[arg-type]


def test_a_search_goes_on_where_it_was() -> None:
    search = Search(POOR, RARELY_U)
    assert search.choice.plan == POOR
    costs = []
    while not search.advance(3):
        costs.append(search.choice.cost.total)
    assert costs == sorted(costs, reverse=True)
    assert search.choice == optimize(POOR, RARELY_U)
    assert search.advance()


def test_a_query_with_too_many_plans_gets_the_best_that_was_found() -> None:
    rng = random.Random(5)
    streams = [integers(f"s{i}", f"l{i}", f"r{i}") for i in range(9)]
    query = streams[0]
    for i in range(1, 9):
        query = query.join(streams[i], on=[(f"r{i - 1}", f"l{i}")])
    shares = {equality(f"r{i - 1}", f"l{i}"): rng.random() for i in range(1, 9)}
    statistics = Statistics({s.node: StreamStatistics(10.0, 100.0) for s in streams}, shares)
    choice = optimize(query.plan(), statistics, budget=100)
    assert not choice.is_complete
    assert optimize(query.plan(), statistics).is_complete
    assert choice.cost.total <= choice.original_cost.total


def test_only_the_given_rules_are_used() -> None:
    choice = optimize(POOR, RARELY_U, rules=[JOIN_COMMUTATIVITY])
    assert not choice.is_better
    assert optimize(POOR, RARELY_U, rules=JOIN_ORDERS).is_better


def test_unit_costs_decide() -> None:
    """If only a join's buckets cost something, the filter is best below; if only predicates do, where fewest
    rows arrive."""
    rare = col("x").eq(1)
    query = A.join(B, on=[("x", "z")]).filter(rare)
    statistics = Statistics(EQUALLY_FAST, {equality("x", "z"): 0.001, rare: 0.1})
    free = dict.fromkeys(UNITS, 0.0)
    assert optimize(query.plan(), statistics, units=unit_costs(free | {"bucket": 1.0})).is_better
    assert not optimize(query.plan(), statistics, units=unit_costs(free | {"predicate": 1.0})).is_better


def test_a_condition_stated_too_late_is_a_reason_to_change() -> None:
    """The product of a and b is large, and only the last join says that they must agree."""
    query = A.join(B).join(C, on=[("x", "z"), ("y", "u")])
    choice = optimize(query.plan(), RARELY_U)
    assert choice.is_better
    assert choice.cost.total < choice.original_cost.total / 10


def test_the_given_plan_is_priced_as_it_is_written() -> None:
    """Only its linked form is among the plans, and here that is the best of them."""
    query = A.join(C).join(B, on=[("x", "z"), ("y", "u")]).plan()
    choice = optimize(query, RARELY_U)
    assert len(choice.steps) == 1
    assert choice.is_better
    assert choice.original_cost == CostModel(RARELY_U).price(query)


def test_differences_that_rounding_could_make_are_no_reason_to_change() -> None:
    """The filter drops nothing, and predicates cost next to nothing; below the join there are fewer."""
    all_rows = col("x") >= 0
    query = A.join(B, on=[("x", "z")]).filter(all_rows).plan()
    statistics = Statistics(EQUALLY_FAST, {equality("x", "z"): 1.0, all_rows: 1.0})
    free = dict.fromkeys(UNITS, 0.0)
    costs = [
        {
            price(plan, statistics, unit_costs(free | {"hash": 1.0, "predicate": p})).total
            for plan in enumerate_plans(query)
        }
        for p in (1e-3, 1e-12)
    ]
    assert [len(different) for different in costs] == [2, 2]
    assert optimize(query, statistics, units=unit_costs(free | {"hash": 1.0, "predicate": 1e-3})).is_better
    assert not optimize(
        query, statistics, units=unit_costs(free | {"hash": 1.0, "predicate": 1e-12})
    ).is_better


def test_endless_windows_leave_no_choice() -> None:
    """All orders cost infinitely much in the end."""
    endless = Statistics(
        {node: StreamStatistics(5.0, math.inf) for node in EQUALLY_FAST}, RARELY_U.selectivities
    )
    choice = optimize(POOR, endless)
    assert choice.cost.total == math.inf
    assert not choice.is_better


def test_silent_streams() -> None:
    nothing = Statistics({node: StreamStatistics(math.inf, 0.0) for node in EQUALLY_FAST})
    choice = optimize(POOR, nothing)
    assert choice.cost.total == 0
    assert not choice.is_better


def test_a_physical_plan_is_exchanged_for_a_logical_one() -> None:
    choice = optimize(physical_plan(POOR), RARELY_U)
    assert choice.original == physical_plan(POOR)
    assert choice.plan == optimize(POOR, RARELY_U).plan
    kept = optimize(physical_plan(GOOD), RARELY_U)
    assert kept.plan == physical_plan(GOOD)


def test_an_input_without_statistics() -> None:
    with pytest.raises(StatisticsError, match="no statistics for the input"):
        optimize(POOR, Statistics({}))


def test_an_engine_is_optimized_by_what_it_saw() -> None:
    """a and b agree always, a and c hardly ever."""
    rng = random.Random(2)
    engine = Engine(POOR)
    for t in range(0, 2000, 5):
        engine.push("a", chronons([(t, (1, rng.randrange(1000)))]))
        engine.push("b", chronons([(t, (1,))]))
        engine.push("c", chronons([(t, (rng.randrange(1000),))]))
    choice = engine.optimize()
    assert choice.is_better
    joins = [str(node.operator) for node in choice.plan.nodes if isinstance(node.operator, Join)]
    assert joins == ["join u = y", "join x = z"]


WISHES = [
    MEMORY,
    LATENCY,
    OUTPUT_RATE,
    om(0.4, 0.6),
    Objective(processing=1.0, memory=0.01),
    Objective(state=1.0, latency=0.001),
]


@pytest.mark.parametrize("objective", WISHES, ids=str)
def test_the_choice_is_the_best_by_its_objective(objective: Objective) -> None:
    """Among all orders of three joins, with a filter above or below them."""
    query = Stream(POOR.root).filter(col("x") > 1).plan()
    rng = random.Random(3)
    for _ in range(5):
        streams = {
            s.node: StreamStatistics(d=rng.uniform(0.1, 20.0), l=100.0, g=rng.choice([1, 5]))
            for s in (A, B, C)
        }
        shares = {equality("x", "z"): rng.random(), equality("u", "y"): rng.random() / 10}
        statistics = Statistics(streams, shares | {(col("x") > 1).expression: rng.random()})
        choice = optimize(query, statistics, objective=objective)
        model = CostModel(statistics)
        least = min(objective.of(model.price(plan)) for plan in (query, *enumerate_plans(query)))
        assert objective.of(choice.cost) <= least * (1 + 1e-9)
        assert choice.objective == objective
        assert choice.is_complete
        assert list(choice.plans)[-1:] in ([choice.plan], [])


@pytest.mark.parametrize("objective", [MEMORY, LATENCY], ids=str)
def test_rules_are_applied_until_nothing_new_comes_out_however_many_inputs_meet(objective: Objective) -> None:
    """Orders of six joined inputs are not all compared as whole plans; other rules are tried all the same."""
    inputs = [integers(name, f"{name}k") for name in "abcdef"]
    query = inputs[0]
    for one in inputs[1:]:
        query = query.join(one, on=[("ak", one.schema.names[0])])
    known = {one.node: StreamStatistics(d=5.0, l=100.0) for one in inputs}
    rare = Statistics(known, {col("ak") == 1: 0.01})
    choice = optimize(query.distinct().filter(col("ak") == 1), rare, objective=objective)
    (kept,) = (node for node in choice.plan.nodes if isinstance(node.operator, Filter))
    assert kept.inputs == (inputs[0].node,)


def test_whole_plans_are_compared_within_the_budget() -> None:
    choice = optimize(POOR, RARELY_U, objective=LATENCY, budget=Steps(200))
    assert not choice.is_complete
    assert optimize(POOR, RARELY_U, objective=LATENCY).is_complete


def test_an_objective_is_asked_for() -> None:
    with pytest.raises(ArgumentError, match=r"objective: found 'memory'.*expected an objective"):
        optimize(POOR, RARELY_U, objective="memory")  # type: ignore[arg-type]


PRINT_CHOICE = """
import random
from midstream.optimizer import Sample, Statistics, StreamStatistics, optimize
from midstream.plans.algebra.builder import stream
from midstream.plans.expressions.operands import col

names = "abcdefghij"
streams = {n: stream(n, **{n + m: "integer" for m in "xyz"}).window(9) for n in names}
rng = random.Random(7)
known = {
    s.node: StreamStatistics(
        rng.uniform(1, 9), 9.0, sample=Sample(s.schema, [tuple(rng.choices(range(9), k=3)) for _ in "x" * 50])
    )
    for s in streams.values()
}
query = streams["a"]
for one, other in zip(names, names[1:]):
    query = query.join(streams[other], on=[(one + rng.choice("xyz"), other + rng.choice("xyz"))])
query = query.filter((col("ax") > 1) & (col("cz") < col("bz")) & (col("dy") > col("jx"))).distinct()
for budget in (30_000, 300):
    choice = optimize(query, Statistics(known), budget=budget)
    print(repr(choice.plan), choice.cost.total, choice.considered, choice.is_complete)
    for step in choice.steps:
        print(step, step.place)
"""


@pytest.mark.slow
def test_the_choice_is_the_same_in_every_process() -> None:
    def printed(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PRINT_CHOICE]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    one, other = printed("1"), printed("4321")
    assert one == other
    assert one.count("\n") > 20


@pytest.mark.parametrize("rules", [["filter-merging"], "filter-merging", 3])
def test_what_is_no_rule_is_told(rules: Any) -> None:
    with pytest.raises(ArgumentError, match=r"rules: found .*, expected a"):
        optimize(POOR, RARELY_U, rules=rules)
