"""Estimates against what the engine measures, on Poisson streams of random values with a fixed seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from inside import box_of

from midstream.arrivals import interleave
from midstream.engine import Engine
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.optimizer import CostModel, Statistics, enumerate_plans, price
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Join, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_node
from midstream.plans.expressions.aggregates import count, max_, sum_
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Element

UNTIL = 12_000
WARM = 2_000
"""By then all windows are full."""

Row = Callable[[random.Random], tuple[int, ...]]
Streams = Mapping[str, Sequence[Element]]


def uniform(*sizes: int) -> Row:
    return lambda rng: tuple(rng.randrange(size) for size in sizes)


def zipf(rng: random.Random) -> tuple[int, ...]:
    return min(int(rng.paretovariate(1.0)), 100), 0


def poisson(seed: int, d: float, row: Row, until: int = UNTIL) -> list[Element]:
    """Elements at random instants, on average d chronons apart."""
    rng = random.Random(seed)
    elements: list[Element] = []
    time = rng.expovariate(1 / d)
    while time < until:
        elements.append((int(time), int(time) + 1, row(rng)))
        time += rng.expovariate(1 / d)
    return elements


@dataclass(frozen=True)
class Measured:
    """What was measured of an operator after the warm-up: results per chronon, and elements kept on
    average."""

    rate: float
    state: float


@dataclass(frozen=True)
class Run:
    """A plan's run: its operators, the average length of its results, and statistics of its inputs."""

    operators: Mapping[Node, Measured]
    length: float
    statistics: Statistics


def measure(plan: Plan, streams: Streams, warm: int = WARM) -> Run:
    """Run a plan element by element and look at its operators."""
    results: list[Element] = []
    engine = Engine(plan, results.extend)
    assert isinstance(box_of(engine), PlanBox)

    def emitted() -> dict[Node, int]:
        # Asked for anew, as stateless operators are counted together.
        return {logical_node(node): running.emitted for node, running in box_of(engine).operators()}

    operators = {logical_node(node): running for node, running in box_of(engine).operators()}
    before: dict[Node, int] = {}
    sizes: Counter[Node] = Counter()
    looks = 0
    for name, batch in interleave(streams, batch_size=1):
        engine.push(name, batch)
        if batch[0][0] < warm:
            continue
        if not before:
            before = emitted()
            since = engine.progress()
        looks += 1
        for node, running in operators.items():
            sizes[node] += running.size()
    time = engine.progress() - since
    measured = {
        node: Measured((count - before[node]) / time, sizes[node] / looks)
        for node, count in emitted().items()
    }
    late = [end - start for start, end, _ in results if start >= warm]
    return Run(measured, float(sum(late)) / len(late), Statistics.from_observations(engine.observe()))


S = stream("s", x="integer", y="integer").window(500)
T = stream("t", z="integer", w="integer").window(1500)
U = stream("u", p="integer", q="integer").window(300)

STREAMS: Streams = {
    "s": poisson(1, 10, uniform(50, 10)),
    "t": poisson(2, 25, uniform(50, 20)),
    "u": poisson(3, 8, uniform(20, 5)),
}
SKEWED: Streams = {"s": poisson(4, 10, zipf), "t": poisson(5, 25, zipf)}
DENSE: Streams = {"s": poisson(6, 0.2, uniform(50, 10), until=3000)}


@dataclass(frozen=True)
class Case:
    """A query, and within which factors the estimates must be right.

    The model makes no claim (None) about the state of operators whose results wait for their turn: Remark
    22.2 leaves them out. Left out here is where it is wrong by more: at the border between the two cases of
    (22.5) and of (22.7), and duplicate elimination behind a join, whose results need not outlive equal ones.
    """

    query: Stream
    rate: float = 1.1
    length: float = 1.1
    state: float | None = 1.25
    streams: Streams = field(default_factory=lambda: STREAMS)


CASES = {
    "filter": Case(S.filter(col("x") < 10)),
    "filter by two conditions of a row": Case(S.filter((col("x") < 10) & (col("x") < col("y") + 5))),
    "equi-join": Case(S.join(T, on=[("x", "z")])),
    "product": Case(S.join(U), state=None),
    "join by another condition": Case(S.join(T, on=col("x") < col("z")), rate=1.25, state=None),
    "three streams": Case(S.join(T, on=[("x", "z")]).join(U, on=[("w", "p")])),
    "three streams in one class": Case(S.join(T, on=[("x", "z")]).join(U, on=[("z", "p")])),
    "skewed values": Case(S.join(T, on=[("x", "z")]), state=None, streams=SKEWED),
    "filtered join": Case(S.filter(col("x") < 25).join(T, on=[("x", "z")])),
    "join, filtered": Case(S.join(T, on=[("x", "z")]).filter(col("z") < 25)),
    "union": Case(S.union(U.rename({"p": "x", "q": "y"})), state=None),
    "union, filtered": Case(
        S.union(U.rename({"p": "x", "q": "y"})).filter(col("x") < 15), length=1.25, state=None
    ),
    "few different rows": Case(S.select("y").distinct()),
    "many different rows": Case(S.distinct()),
    "pairs of different rows": Case(
        S.select("y").distinct().join(U.select("q").distinct(), on=[("y", "q")]), state=None
    ),
    "scalar aggregation": Case(S.aggregate(n=count())),
    "few groups": Case(S.group_by("y").aggregate(n=count(), most=max_("x"))),
    "many groups": Case(S.group_by("x", "y").aggregate(n=count()), rate=1.25, length=1.25),
    "groups of a join": Case(
        S.join(T, on=[("x", "z")]).group_by("w").aggregate(n=count(), total=sum_("y")), rate=1.25
    ),
    "many elements a chronon": Case(S.aggregate(n=count()), streams=DENSE),
    "many elements of a group a chronon": Case(S.group_by("y").aggregate(n=count()), streams=DENSE),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_estimates_are_near_what_is_measured(case: Case) -> None:
    plan = case.query.plan()
    sources = {source.stream for source in plan.sources}
    streams = {name: elements for name, elements in case.streams.items() if name in sources}
    run = measure(plan, streams)
    priced = price(plan, run.statistics).operators
    estimated = {node: each for node, each in priced.items() if not isinstance(node.operator, TimeWindow)}
    assert estimated.keys() == run.operators.keys()
    for node, estimate in estimated.items():
        measured = run.operators[node]
        assert within(case.rate, estimate.rate, measured.rate), f"rate of {node.operator}"
        if case.state is not None:
            assert within(case.state, estimate.state, measured.state), f"state of {node.operator}"
    assert within(case.length, estimated[plan.root].l, run.length), "length of results"


def within(factor: float, estimated: float, measured: float) -> bool:
    """Whether an estimate is wrong by no more than a factor."""
    return measured / factor <= estimated <= measured * factor


def intermediate(plan: Plan, streams: Streams) -> int:
    """What a plan's operators gave to each other."""
    engine = Engine(plan)
    for name, batch in interleave(streams, batch_size=100):
        engine.push(name, batch)
    return box_of(engine).counters()["intermediate"]


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_join_orders_are_ranked_by_their_intermediate_results(seed: int) -> None:
    """Of any two orders of which one has twice the intermediate results of the other, it is the dearer."""
    rng = random.Random(seed)
    names = "abcd"
    queries = {
        n: stream(n, {f"{n}x": "integer", f"{n}y": "integer"}).window(rng.choice([200, 800])) for n in names
    }
    streams = {
        n: poisson(
            seed * 10 + i, rng.choice([5, 15, 40]), uniform(rng.choice([3, 30]), rng.choice([3, 30])), 4000
        )
        for i, n in enumerate(names)
    }
    query = (
        queries["a"]
        .join(queries["b"], on=[("ay", "bx")])
        .join(queries["c"], on=[("by", "cx")])
        .join(queries["d"], on=[("cy", "dx")])
    )
    statistics = measured_statistics(query.plan(), streams)
    model = CostModel(statistics)
    orders: dict[frozenset[frozenset[str]], tuple[float, int]] = {}
    for plan in enumerate_plans(query.plan()):
        order = joined_together(plan)
        if order not in orders and _is_connected(plan):
            orders[order] = (model.price(plan).total, intermediate(plan, streams))
    assert len(orders) == 5
    compared = 0
    for cost, results in orders.values():
        for other_cost, other_results in orders.values():
            if results > 2 * other_results + 1000:
                compared += 1
                assert cost > other_cost, sorted(orders.values())
    assert compared


def measured_statistics(plan: Plan, streams: Streams) -> Statistics:
    """Statistics of a plan's inputs after a run."""
    engine = Engine(plan)
    for name, batch in interleave(streams):
        engine.push(name, batch)
    return Statistics.from_observations(engine.observe())


def joined_together(plan: Plan) -> frozenset[frozenset[str]]:
    """Which streams meet in which join, whatever their sides."""
    return frozenset(
        frozenset(n.operator.stream for n in node.walk() if not n.inputs)  # type: ignore[union-attr]
        for node in plan.nodes
        if isinstance(node.operator, Join)
    )


def _is_connected(plan: Plan) -> bool:
    """Whether no join is a product; products of streams with many elements take too long to measure."""
    return not any(str(node.operator) == "product" for node in plan.nodes)
