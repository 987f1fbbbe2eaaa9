"""Several queries are optimized together: what they share is paid once, what runs already is not paid."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import pytest

from midstream.optimizer import CostModel, Statistics, StreamStatistics, enumerate_plans, optimize
from midstream.optimizer.cost.objective import MEMORY
from midstream.optimizer.rules import SHARING, Rule, Shape
from midstream.optimizer.rules.filters.filter_below_join import FILTER_BELOW_LEFT, FILTER_BELOW_RIGHT
from midstream.optimizer.rules.filters.filter_below_projection import FILTER_BELOW_PROJECTION
from midstream.optimizer.rules.filters.filter_into_join import FILTER_INTO_JOIN
from midstream.optimizer.rules.joins.join_commutativity import JOIN_COMMUTATIVITY
from midstream.optimizer.rules.projections.projections_merging import PROJECTIONS_MERGING
from midstream.optimizer.rules.sharing.join_columns import all_columns, chosen
from midstream.optimizer.search.choice import Choice
from midstream.optimizer.search.combining import combine
from midstream.optimizer.search.common_part import added_part
from midstream.optimizer.search.products import is_product
from midstream.optimizer.search.simplifying import Simplifier
from midstream.optimizer.search.together import SearchTogether
from midstream.optimizer.verification import check_certificate
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import equality
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.verdicts import Answer


def integers(name: str, *columns: str) -> Stream:
    return stream(name, dict.fromkeys(columns, "integer")).window(100)


A, B, C, D = integers("a", "x", "y"), integers("b", "z", "w"), integers("c", "u"), integers("d", "v")
AB = A.join(B, on=[("x", "z")])

PAIRS = {
    "the same join, its inputs swapped, and a filter above one": (
        AB.filter(col("y") > col("w")),
        B.join(A, on=[("z", "x")]),
    ),
    "a filter, and one that asks more": (
        A.filter(col("x") > 3).distinct(),
        A.filter((col("x") > 3) & (col("y") > 5)).distinct(),
    ),
    "a join, and the same of what passes a filter": (AB, A.filter(col("y") > 5).join(B, on=[("x", "z")])),
    "two joins of three inputs, two of them the same": (
        AB.join(C, on=[("y", "u")]),
        C.join(A, on=[("u", "y")]).join(D, on=[("x", "v")]),
    ),
    "a join, and the same under one more condition": (AB, A.join(B, on=[("x", "z"), ("y", "w")])),
}

MATTERING = [
    replace(rule, measure=None)
    for rule in (
        FILTER_INTO_JOIN,
        FILTER_BELOW_PROJECTION,
        FILTER_BELOW_LEFT,
        FILTER_BELOW_RIGHT,
        JOIN_COMMUTATIVITY,
    )
]

CONDITIONS = [
    equality("x", "z"),
    equality("y", "u"),
    equality("y", "w"),
    equality("v", "x"),
    *((col(name) > number).expression for name, number in (("x", 3), ("y", 5))),
    (col("y") > col("w")).expression,
]


def landscape(seed: int) -> Statistics:
    rng = random.Random(seed)
    streams = {s.node: StreamStatistics(d=rng.choice([0.5, 1, 5, 20]), l=100.0) for s in (A, B, C, D)}
    return Statistics(streams, {part: rng.choice([0.001, 0.05, 0.3, 0.9]) for part in CONDITIONS})


def both(one: Stream, other: Stream) -> Plan:
    return Plan({"one": one.node, "other": other.node})


def shares(plan: Plan) -> bool:
    """Whether both outputs have an operator above the windows."""
    one, other = ({*root.walk()} for root in plan.outputs.values())
    return any(node.operator.is_snapshot_reducible for node in one & other)  # type: ignore[union-attr]


def natural_orders(node: Node) -> Iterator[tuple[str, ...]]:
    """The columns of one side of a join, and behind them those of the other."""
    assert isinstance(node.operator, Join)
    if node.operator.columns == all_columns(node):
        left, right = (side.schema.names for side in node.inputs)
        yield from (left + right, right + left)


def read_in_that_order(node: Node, matched: tuple[str, ...]) -> Node:
    assert isinstance(node.operator, Join)
    return chosen(all_columns(node), Node(Join(node.operator.condition, matched), node.inputs))


NATURAL = Rule("natural", "join(L, R) = project(join(L, R))", Shape(Join), natural_orders, read_in_that_order)


def in_all_orders(*inputs: Stream, on: list[tuple[str, str]], columns: Sequence[str]) -> list[Node]:
    """The plans of a join of three inputs: each pair may come first. Inner joins are written in one way."""
    found = []
    for first in combinations(inputs, 2):
        (last,) = (each for each in inputs if each not in first)
        names = {name for each in first for name in each.schema.names}
        now = [pair for pair in on if names >= {*pair}]
        inner = first[0].join(first[1], on=now, columns=sorted(names))
        found.append(inner.join(last, on=[pair for pair in on if pair not in now], columns=columns).node)
    return found


def all_plans(plan: Plan) -> Iterator[Plan]:
    """All that rules make of it which may have to do with what is shared. What simplifies is an equation as
    any other, so that conditions may be apart or together; but no join becomes a product."""
    yield plan
    if all("u" in root.schema for root in plan.outputs.values()):
        abc = in_all_orders(A, B, C, on=[("x", "z"), ("y", "u")], columns=plan.outputs["one"].schema.names)
        acd = in_all_orders(A, C, D, on=[("y", "u"), ("x", "v")], columns=plan.outputs["other"].schema.names)
        yield from (Plan({"one": one, "other": other}) for one, other in product(abc, acd))
    else:
        merging = Simplifier([PROJECTIONS_MERGING])
        for each in enumerate_plans(plan, [NATURAL, *MATTERING, *SHARING]):
            if any(map(is_product, each.nodes)):
                continue
            yield each
            yield Plan({name: merging.simplify(root)[0] for name, root in each.outputs.items()})


def is_proved(choice: Choice) -> bool:
    certificate = choice.proof.certificate
    assert certificate is not None
    return check_certificate(certificate, choice.original, choice.plan).answer is Answer.PROVED


@pytest.mark.parametrize("name", PAIRS)
def test_a_part_is_shared_exactly_where_that_costs_less(name: str) -> None:
    """As all plans of both queries tell, priced one by one."""
    plan = both(*PAIRS[name])
    plans = list(dict.fromkeys(all_plans(plan)))
    outcomes = set()
    for seed in range(4):
        model = CostModel(landscape(seed))
        least = {True: math.inf, False: math.inf}
        for each in plans:
            least[shares(each)] = min(least[shares(each)], model.price(each).total)
        choice = optimize(plan, landscape(seed), budget=100_000)
        assert choice.cost.total == pytest.approx(min(least.values()), rel=1e-9), seed
        if least[True] * (1 + 1e-6) < least[False]:
            assert shares(choice.plan), seed
            assert choice.common, seed
        elif least[False] * (1 + 1e-6) < least[True]:
            assert not shares(choice.plan), seed
            assert not choice.common, seed
        assert choice.is_complete
        assert is_proved(choice)
        outcomes.add(shares(choice.plan))
    assert True in outcomes


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAIRS if "three" not in name])
@pytest.mark.parametrize("first", [0, 1], ids=["first", "second"])
def test_what_runs_is_free(name: str, first: int) -> None:
    """Of all plans that of the second query is chosen that adds least to the first one."""
    running, query = PAIRS[name][first], PAIRS[name][1 - first]
    plan = both(running, query)
    plans = [each for each in all_plans(plan) if each.outputs["one"] == running.node]
    runs = {node: ("first",) for node in running.node.walk()}
    for seed in range(4):
        model = CostModel(landscape(seed))
        least = min(added_part(model.price(Plan(each.outputs["other"])), runs).total for each in plans)
        choice = optimize(query, landscape(seed), beside={"first": running})
        assert choice.added == pytest.approx(least, rel=1e-9), seed
        assert choice.added <= optimize(query, landscape(seed)).cost.total * (1 + 1e-9)
        assert is_proved(choice)
        assert bool(choice.common) == (choice.added < choice.cost.total)


def test_a_filter_stands_above_one_that_lets_more_pass() -> None:
    """Where few rows pass the weaker one it costs less to ask the stronger one of these only."""
    weak, strong = A.filter(col("x") > 3), A.filter((col("x") > 5) & (col("y") > 5))
    parts = {(col("x") > 3).expression: 0.01, (col("x") > 5).expression: 0.005}
    statistics = Statistics(landscape(0).streams, parts)
    choice = optimize(strong, statistics, beside={"weak": weak})
    assert choice.plan == weak.filter((col("x") > 5) & (col("y") > 5)).plan()
    assert choice.added < optimize(strong, statistics).cost.total / 10
    assert [part.node for part in choice.common] == [weak.node]
    assert is_proved(choice)
    assert not optimize(weak, statistics, beside={"strong": strong}).is_better
    both_ways = optimize(both(strong, weak), statistics)
    assert both_ways.cost.total < both_ways.original_cost.total
    assert is_proved(both_ways)


def test_three_queries_share_what_two_would_not() -> None:
    """Each has a better order by itself. Sharing the join of A and B pays when enough have it."""
    queries = {
        "c": AB.join(C, on=[("y", "u")]),
        "d": AB.join(D, on=[("w", "v")]),
        "e": B.join(A, on=[("z", "x")]).filter(col("w") > 3),
    }
    statistics = landscape(5)
    chosen = [
        optimize(Plan({name: queries[name].node for name in names}), statistics)
        for names in ("c", "cd", "cde")
    ]
    model = CostModel(statistics)
    alone = [optimize(query, statistics).cost.total for query in queries.values()]
    assert chosen[1].cost.total <= math.fsum(alone[:2]) * (1 + 1e-9)
    assert chosen[2].cost.total < math.fsum(alone) * (1 - 1e-6)
    assert chosen[2].cost == model.price(chosen[2].plan)


def test_sums_are_of_different_operators() -> None:
    """A part that several have is named once, with all that have it."""
    choice = optimize(both(*PAIRS["a join, and the same of what passes a filter"]), landscape(0))
    (part,) = choice.common
    assert isinstance(part.node.operator, Join)
    assert part.users == ("one", "other")
    assert part.cost == pytest.approx(choice.cost.operators[part.node].cost)
    assert str(part).endswith("shared with one, other")
    separate = math.fsum(
        CostModel(landscape(0)).price(Plan(root)).total for root in choice.plan.outputs.values()
    )
    assert choice.cost.total == pytest.approx(separate - part.cost)


def test_there_is_a_choice_all_the_time() -> None:
    plan = both(*PAIRS["two joins of three inputs, two of them the same"])
    search = SearchTogether(plan, landscape(1))
    costs = [search.choice.cost.total]
    assert search.choice.plan == plan
    while not search.advance(50):
        costs.append(search.choice.cost.total)
    assert search.choice == optimize(plan, landscape(1))
    costs.append(search.choice.cost.total)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_beside_others_only_processing_is_compared() -> None:
    with pytest.raises(ArgumentError, match="expected processing"):
        optimize(AB, landscape(0), beside={"first": AB}, objective=MEMORY)


def test_what_runs_must_be_plans() -> None:
    with pytest.raises(ArgumentError, match="beside"):
        optimize(AB, landscape(0), beside={"first": 7})  # type: ignore[dict-item]
    with pytest.raises(ArgumentError, match="beside"):
        optimize(AB, landscape(0), beside=AB.plan())  # type: ignore[arg-type]


def test_combinations_are_the_cheapest_ones() -> None:
    rng = random.Random(3)
    nodes = [stream(f"s{i}", x="integer").node for i in range(8)]
    for _ in range(200):
        costs = {node: rng.choice([1.0, 2.0, 5.0]) for node in nodes}
        queries = [
            [
                {n: costs[n] for n in rng.sample(nodes, rng.randrange(1, 4))}
                for _ in range(rng.randrange(1, 4))
            ]
            for _ in range(rng.randrange(1, 4))
        ]
        least = min(
            math.fsum(costs[n] for n in {n for plan in chosen for n in plan}) for chosen in product(*queries)
        )
        combination = combine(queries)
        assert combination.is_exact
        assert combination.cost == pytest.approx(least)
        hasty = combine(queries, limit=1)
        assert hasty.cost >= least * (1 - 1e-9)
        assert {n for q, i in zip(queries, hasty.numbers, strict=True) for n in q[i]}
