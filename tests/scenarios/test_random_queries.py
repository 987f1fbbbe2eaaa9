"""Random queries are those of Table 24.1: their shares, their bounds, and their selectivities."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import pytest

from midstream.driving import run
from midstream.operators.engine.running.planner import physical_plan
from midstream.plans.algebra.operators import Adjustable, Granularity, Join, Source, TimeWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.scenarios.streams.stream_spec import Poisson, Uniform
from midstream.scenarios.trials.costs.plan_shapes import TABLE_24_1
from midstream.scenarios.trials.costs.random_queries import RandomQueries

QUERIES = RandomQueries(seed=3, windows=(1_000, 30_000), granules=(1, 160), rates=(0.1, 10.0))
PLANS = list(islice(QUERIES.plans(), 2_000))


def names(plan: Plan) -> Counter[str]:
    return Counter(type(logical(node)).__name__ for node in plan.nodes)


def test_the_shares_of_the_table_are_all_there_are() -> None:
    assert sum(shape.percent for shape in TABLE_24_1.values()) == 100


def test_shapes_have_their_shares() -> None:
    """By number of joins and of aggregations, which tell the shapes apart but for the two of four streams."""
    shares = Counter((names(plan)["Join"], names(plan)["Aggregate"]) for plan in PLANS)
    expected = {(1, 0): 30, (2, 0): 20, (3, 0): 20, (0, 1): 10, (1, 1): 10, (1, 2): 10}
    assert shares.keys() == expected.keys()
    for shape, percent in expected.items():
        assert shares[shape] / len(PLANS) == pytest.approx(percent / 100, abs=0.03), shape


def test_a_third_of_the_joins_are_by_nested_loops() -> None:
    kinds = Counter(
        node.operator.name.split()[0]
        for plan in PLANS
        for node in physical_plan(plan).nodes
        if isinstance(logical(node), Join)
    )
    assert kinds.keys() == {"hash-join", "nested-loops-join"}
    assert kinds["nested-loops-join"] / kinds.total() == pytest.approx(0.33, abs=0.03)


def test_levers_begin_at_their_best_within_the_ranges() -> None:
    for plan in PLANS:
        for node in plan.nodes:
            operator = logical(node)
            if isinstance(operator, Adjustable):
                assert operator.bounds is not None
                least, most = operator.bounds
                if isinstance(operator, TimeWindow):
                    assert operator.size is not None
                    assert 1_000 <= least <= most == operator.size <= 30_000
                else:
                    assert isinstance(operator, Granularity)
                    assert 1 <= least == operator.granule <= most <= 160


def test_a_query_depends_on_its_number_alone() -> None:
    assert QUERIES.plan(1_234) == PLANS[1_234] == next(QUERIES.plans(1_234))
    other = RandomQueries(seed=4, windows=(1_000, 30_000), granules=(1, 160), rates=(0.1, 10.0))
    assert other.plan(1_234) != PLANS[1_234]


def test_queries_read_the_streams_with_their_columns() -> None:
    streams = QUERIES.streams()
    assert len(streams) == 50
    for plan in PLANS:
        for node in plan.nodes:
            if isinstance(node.operator, Source):
                assert node.schema.names == tuple(streams[node.operator.stream].columns)
    rates = [one.arrivals.rate for one in streams.values() if isinstance(one.arrivals, Poisson)]
    assert len(rates) == 50 and all(isinstance(rate, float) and 0.1 <= rate <= 10 for rate in rates)


def test_joins_have_a_selectivity_between_0_005_and_0_02() -> None:
    """By rows that are all valid at the same time."""
    streams, seen, kinds = QUERIES.streams(), [], set()
    for plan in [one for one in PLANS if names(one)["Join"] == 1 and not names(one)["Aggregate"]][:20]:
        rows = {}
        for source in plan.sources:
            key = streams[source.stream].columns[f"{source.stream}a"]
            assert isinstance(key, Uniform) and isinstance(key.high, int)
            chance = random.Random(source.stream)
            rows[source.stream] = [(0, 1, (chance.randint(0, key.high), 0, 0)) for _ in range(500)]
        seen.append(len(run(plan, rows)) / 500**2)
        kinds.add(physical_plan(plan).root.operator.name)
    assert 0.9 * 0.005 <= min(seen) <= max(seen) <= 1.1 * 0.02
    assert len(kinds) == 2
