"""The search for join orders prices as the cost model does, finds what is cheapest, and gives nothing dearer
than it was given."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from solving import solve

from midstream.benchmarks.landscapes import Topology, landscape
from midstream.optimizer import CostModel, Sample, Statistics, StreamStatistics
from midstream.optimizer.cost.estimate import Cut
from midstream.optimizer.rules.linking import linked
from midstream.optimizer.search import join_costs, join_shares
from midstream.optimizer.search.join_costs import JoinCosts, JoinTree
from midstream.optimizer.search.join_orders import JoinOrders, order_joins
from midstream.optimizer.search.join_problem import Alternative, JoinProblem, Shape, problem_of
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.expressions import equality
from midstream.plans.expressions.operands import Operand, col
from midstream.plans.values.snapshots import compare
from midstream.testing import plans, streams_for

FEWER = settings(max_examples=settings().max_examples // 2)


def problem(plan: Plan, statistics: Statistics) -> JoinProblem:
    found = problem_of(plan.root, CostModel(statistics))
    assert found is not None
    return found


def shapes(inputs: Sequence[int]) -> Iterator[Shape]:
    """Every order of some inputs; which side of a join is which is left open."""
    if len(inputs) == 1:
        yield inputs[0]
        return
    first, *rest = inputs
    for chosen in range(2 ** len(rest) - 1):
        one = [first, *(number for bit, number in enumerate(rest) if chosen >> bit & 1)]
        other = [number for bit, number in enumerate(rest) if not chosen >> bit & 1]
        yield from ((left, right) for left in shapes(one) for right in shapes(other))


def written(joins: JoinProblem, shape: Shape) -> tuple[int, Node]:
    """An order as a subplan, by the conditions that each join is the first to be able to check."""
    if isinstance(shape, int):
        return 1 << shape, joins.nodes[shape]
    (one, left), (other, right) = (written(joins, side) for side in shape)
    return one | other, joins.join(one, other, left, right)


def price(joins: JoinProblem, node: Node) -> float:
    return joins.model.price(Plan(node)).total


DISTANCES, LENGTHS = [0.5, 2.0, 10.0, 100.0], [10.0, 100.0, 1000.0]


@st.composite
def joins_with_statistics(draw: st.DrawFn, least: int = 2, most: int = 5) -> tuple[Plan, Statistics]:
    """Streams and constant relations of two columns each, under equalities, orders, ranges, and conditions on
    one of them."""
    size = draw(st.integers(least, most))
    inputs = [_input(f"s{i}", draw(st.integers(0, 9)) == 0) for i in range(size)]
    query = inputs[0]
    for number, one in enumerate(inputs[1:], 1):
        earlier = [f"s{i}_{name}" for i in range(number) for name in "xy"]
        query = query.join(one, on=draw(_condition(earlier, [f"s{number}_x", f"s{number}_y"])))
    # Where values of some columns are known only, estimates depend on the order of the joins.
    are_known = draw(st.integers(0, 3)) > 0
    return query.plan(), Statistics({one.node: draw(_statistics(one, are_known)) for one in inputs})


def _input(name: str, is_constant: bool) -> Stream:
    columns = {f"{name}_x": "integer", f"{name}_y": "integer"}
    return relation(name, columns) if is_constant else stream(name, columns).window(9)


@st.composite
def _condition(draw: st.DrawFn, earlier: list[str], own: list[str]) -> Operand | None:
    parts: list[Operand] = []
    for kind in draw(st.lists(st.sampled_from(["equal"] * 4 + ["less", "near", "single"]), max_size=3)):
        one, other = col(draw(st.sampled_from(earlier))), col(draw(st.sampled_from(own)))
        match kind:
            case "equal":
                parts.append(one.eq(other))
            case "less":
                parts.append(one < other)
            case "near":
                parts.append((one - 1 <= other) & (other <= one + 1))
            case "single":
                parts.append(other < 2)
    condition = None
    for part in parts:
        condition = part if condition is None else condition & part
    return condition


@st.composite
def _statistics(draw: st.DrawFn, one: Stream, is_known: bool) -> StreamStatistics:
    row = st.tuples(*[st.integers(0, 3)] * len(one.schema))
    rows = draw(st.lists(row, min_size=4, max_size=12))
    sample = Sample(one.schema, rows) if is_known else None
    if not one.node.inputs:
        return StreamStatistics(math.inf, math.inf, sample=sample, always=float(len(rows)))
    distance, length = draw(st.sampled_from(DISTANCES)), draw(st.sampled_from(LENGTHS))
    return StreamStatistics(distance, length, draw(st.sampled_from([1, 1, 1, 5])), sample=sample)


@FEWER
@given(joins_with_statistics(most=4))
def test_every_order_costs_what_the_cost_model_says(case: tuple[Plan, Statistics]) -> None:
    joins = problem(*case)
    costs = JoinCosts(joins)
    for shape in shapes(range(len(joins.inputs))):
        (tree,) = costs.of(shape)
        node = costs.node(tree)
        assert node == written(joins, shape)[1] == linked(node)
        assert tree.cost == pytest.approx(price(joins, node), rel=1e-9)
        estimate = joins.model.estimate(node)
        for number in ("rate", "l", "valid", "always"):
            assert getattr(tree.estimate, number) == pytest.approx(getattr(estimate, number), rel=1e-8), (
                number
            )
        assert (tree.estimate.g, tree.shape) == (estimate.g, shape)


@settings(max_examples=max(5, settings().max_examples // 10))
@given(joins_with_statistics(least=4))
def test_the_cheapest_of_all_orders_is_found(case: tuple[Plan, Statistics]) -> None:
    joins = problem(*case)
    found = solve(joins, products="all")
    everything = [price(joins, written(joins, shape)[1]) for shape in shapes(range(len(joins.inputs)))]
    event(f"orders cost the same: {max(everything) <= min(everything) * (1 + 1e-9)}")
    assert found.is_exact
    assert found.cost == pytest.approx(min(everything), rel=1e-9)
    assert price(joins, found.plans[0].node) == pytest.approx(found.cost, rel=1e-9)


@FEWER
@given(joins_with_statistics(), st.integers(0, 40))
def test_what_is_found_costs_no_more_than_what_was_given(case: tuple[Plan, Statistics], budget: int) -> None:
    plan, statistics = case
    joins = problem(plan, statistics)
    found = solve(joins, budget)
    given_cost = price(joins, linked(plan.root))
    assert found.cost <= given_cost * (1 + 1e-9)
    assert found.plans[0].node.schema == plan.root.schema


@FEWER
@given(joins_with_statistics(most=4), st.data())
def test_orders_mean_the_same(case: tuple[Plan, Statistics], data: st.DataObject) -> None:
    plan, statistics = case
    joins = problem(plan, statistics)
    assume(not plan.relations)
    streams = data.draw(streams_for(plan))
    found = solve(joins, data.draw(st.integers(0, 60)))
    assert compare(specified(plan, streams), specified(Plan(found.plans[0].node), streams))


@FEWER
@given(joins_with_statistics(most=4), st.data())
def test_no_plan_of_the_inputs_is_given_up_too_early(
    case: tuple[Plan, Statistics], data: st.DataObject
) -> None:
    """Cheaper plans of an input give more elements, which cost more above: all combinations are compared."""
    joins = problem(*case)
    inputs = tuple((cheap, *data.draw(st.lists(_dearer(cheap), max_size=2))) for (cheap,) in joins.inputs)
    joins = replace(joins, inputs=inputs)
    found = solve(joins, products="all")
    every: list[JoinTree] = []
    for chosen in product(*inputs):
        alone = replace(joins, inputs=tuple((one,) for one in chosen))
        costs = JoinCosts(alone)
        every += [tree for shape in shapes(range(len(chosen))) for tree in costs.of(shape)]
    event(f"plans of the whole: {len(found.trees)}")
    for tree in every:
        kept = [one for one in found.trees if one.cost <= tree.cost * (1 + 1e-9)]
        assert any(one.rate <= tree.rate * (1 + 1e-8) for one in kept)
    for one in found.trees:
        assert any(
            math.isclose(tree.cost, one.cost, rel_tol=1e-8)
            and math.isclose(tree.rate, one.rate, rel_tol=1e-8)
            for tree in every
        )


@FEWER
@given(joins_with_statistics(most=4))
def test_orders_can_be_judged_by_something_else(case: tuple[Plan, Statistics]) -> None:
    """By how much is kept: of a plan the sum of what its operators keep."""

    def kept(node: Node) -> float:
        return joins.model.price(Plan(node)).state

    joins = problem(*case)
    inputs = tuple((replace(one, cost=kept(one.node)),) for (one,) in joins.inputs)
    joins = replace(joins, inputs=inputs, value=lambda estimate: estimate.state)
    found = solve(joins, products="all")
    everything = [kept(written(joins, shape)[1]) for shape in shapes(range(len(inputs)))]
    assert found.cost == pytest.approx(kept(found.plans[0].node), rel=1e-9)
    assert found.cost <= JoinCosts(joins).of(joins.initial or 0)[0].cost
    event(f"the least of all: {found.cost <= min(everything) * (1 + 1e-9)}")
    assert found.cost >= min(everything) * (1 - 1e-9)


NUMBERS = [1e-300, 1e-9, 0.5, 1.0, 1000.0, 1e9, 1e300, math.inf]


@FEWER
@given(plans(depth=2, joins_only=True), st.data())
def test_no_number_is_too_large_or_too_small(plan: Plan, data: st.DataObject) -> None:
    """Empty streams, infinite windows, everything at once, nothing known: a search ends, and is no dearer."""
    streams = {}
    for node in plan.nodes:
        if not node.operator.is_snapshot_reducible:  # type: ignore[union-attr]
            row = st.tuples(*[st.integers(0, 2)] * len(node.schema))
            rows = data.draw(st.one_of(st.none(), st.lists(row, max_size=3)))
            sample = None if rows is None else Sample(node.schema, rows)
            distance, length = (data.draw(st.sampled_from(some)) for some in (NUMBERS, [0.0, *NUMBERS]))
            streams[node] = StreamStatistics(distance, length, sample=sample)
    joins = problem_of(plan.root, CostModel(Statistics(streams)))
    assume(joins is not None)
    assert joins is not None
    found = solve(joins, data.draw(st.sampled_from([0, 3, 1000])))
    event(f"finite: {found.cost < math.inf}")
    (given_plan,) = JoinCosts(joins).of(joins.initial or 0)
    assert 0 <= found.cost <= given_plan.cost * (1 + 1e-9)


@st.composite
def _dearer(draw: st.DrawFn, cheap: Alternative) -> Alternative:
    """The same content in fewer elements that are valid for longer."""
    share = draw(st.sampled_from([0.1, 0.5, 0.9]))
    estimate = cheap.estimate
    cut = Cut.of(estimate.rate * share, estimate.content, estimate.l)
    cost = cheap.cost + draw(st.sampled_from([0.0, 0.01, 1.0]))
    return Alternative(cheap.node, replace(estimate, cut=cut), cost)


def steps(search: Generator[JoinOrders, None, JoinOrders]) -> tuple[list[JoinOrders], JoinOrders]:
    """What a search gives on its way, and in the end."""
    on_the_way = []
    while True:
        try:
            on_the_way.append(next(search))
        except StopIteration as end:
            return on_the_way, end.value


@pytest.mark.parametrize(("budget", "is_exact"), [(100_000, True), (1000, False), (1, False)])
def test_a_search_goes_on_in_slices_and_never_gets_worse(budget: int, is_exact: bool) -> None:
    joins = problem(*landscape("star", 11, seed=3, rows=100))
    on_the_way, found = steps(order_joins(joins, budget))
    assert (found.is_exact, not any(one.is_exact for one in on_the_way)) == (is_exact, True)
    costs = [one.cost for one in (*on_the_way, found)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] == pytest.approx(price(joins, linked(landscape("star", 11, seed=3, rows=100)[0].root)))
    priced = [one.pairs for one in on_the_way]
    assert all(after - before < 400 for before, after in pairwise(priced))
    if budget > 1:
        assert found.pairs <= budget + 400
        assert len(on_the_way) > 10


def test_few_of_many_pairs_are_enough_where_the_others_cost_too_much() -> None:
    """Of a chain of eight there are 3,025 pairs, most of which are dearer than an order that is known."""
    joins = problem(*landscape("chain", 8, seed=0))
    found = solve(joins, 1000)
    assert found.is_exact
    assert found.pairs < 1000
    assert found.cost == solve(joins).cost
    assert not solve(joins, 100).is_exact


@pytest.mark.slow
@pytest.mark.parametrize("budget", [2000, 20_000])
def test_a_budget_of_steps_is_deterministic(budget: int) -> None:
    one, other = (solve(problem(*landscape("star", 14, seed=5, rows=100)), budget) for _ in range(2))
    assert (one.plans, one.pairs, one.cost) == (other.plans, other.pairs, other.cost)


@pytest.mark.parametrize("topology", ["chain", "star", "cycle", "clique"])
def test_beyond_the_budget_what_is_found_is_near_the_best(topology: Topology) -> None:
    """Of seven inputs with all products, there are 966 pairs."""
    ratios = []
    for seed in range(5):
        joins = problem(*landscape(topology, 7, seed, rows=100))
        exact, near = solve(joins), solve(joins, 240)
        assert exact.is_exact
        assert not near.is_exact
        ratios.append(near.cost / exact.cost)
    assert min(ratios) >= 1 - 1e-9
    assert max(ratios) < 1.15


def test_a_product_is_taken_where_it_is_cheaper() -> None:
    """Two small inputs, and a large one that both select from: the large one is met once."""
    large = stream("l", a="integer", b="integer").window(1000)
    small, other = stream("s", x="integer").window(10), stream("o", y="integer").window(10)
    query = large.join(small, on=[("a", "x")]).join(other, on=[("b", "y")])
    statistics = Statistics(
        {
            large.node: StreamStatistics(0.1, 1000.0),
            small.node: StreamStatistics(10.0, 10.0),
            other.node: StreamStatistics(10.0, 10.0),
        },
        {equality("a", "x"): 0.5, equality("b", "y"): 0.5},
    )
    joins = problem(query.plan(), statistics)
    without, auto = solve(joins, products="needed"), solve(joins)
    assert auto.cost < without.cost / 1.4
    assert "product" in {str(side.operator) for side in auto.plans[0].node.inputs}


def test_what_is_no_join_is_no_problem() -> None:
    one = stream("s", x="integer").window(9)
    assert problem_of(one.node, CostModel(Statistics({}))) is None


def test_a_subplan_below_a_projection_is_an_input() -> None:
    a, b, c = (stream(name, {name: "integer"}).window(9) for name in "abc")
    below = a.join(b, on=[("a", "b")]).select("a")
    query = below.join(c, on=[("a", "c")])
    statistics = Statistics({one.node: StreamStatistics(1.0, 9.0) for one in (a, b, c)})
    joins = problem(query.plan(), statistics)
    assert joins.nodes == (below.node, c.node)
    assert solve(joins).cost == pytest.approx(price(joins, query.node))


def test_what_is_forgotten_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long search remembers only so much."""
    remembered = solve(problem(*landscape("star", 9, seed=2, one_key=True, rows=100)), 1500)
    monkeypatch.setattr(join_costs, "MOST_PAIRS", 7)
    monkeypatch.setattr(join_shares, "MOST_SETS", 12)
    forgotten = solve(problem(*landscape("star", 9, seed=2, one_key=True, rows=100)), 1500)
    assert (forgotten.plans, forgotten.pairs) == (remembered.plans, remembered.pairs)
