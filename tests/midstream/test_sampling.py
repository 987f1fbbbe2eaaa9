"""A sampler plan finds the selectivities of a running query's conditions."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.optimizer.cost import CostModel
from midstream.optimizer.sampling.intervals import Interval, share_of_rows
from midstream.optimizer.sampling.sampler import Sampler
from midstream.plans.values.streams import Element

BEFORE = (ms.col("a") < ms.col("b")) & (ms.col("a") > ms.col("b") - 3)

Timed = list[tuple[int, int, int]]
"""Start, length and value."""

timed = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6), st.integers(0, 4)), max_size=10).map(sorted)


def elements(stream: Timed) -> list[Element]:
    return [(start, start + length, (value,)) for start, length, value in stream]


def together(left: Timed, right: Timed, since: int, until: int) -> tuple[int, int]:
    """Matches and pairs that become valid from one instant on, and before another; one by one."""
    matches = pairs = 0
    for start, length, a in left:
        for other, duration, b in right:
            begin, end = max(start, other), min(start + length, other + duration)
            if begin < end and since <= begin < until:
                pairs += 1
                matches += b - 3 < a < b
    return matches, pairs


@given(timed, timed, st.integers(0, 12), st.randoms(use_true_random=False))
def test_where_all_is_drawn_the_share_is_that_of_all_pairs(
    left: Timed, right: Timed, since: int, random: Random
) -> None:
    """Whatever the order in which streams run ahead of each other, and from whatever instant on."""
    one, other = (
        ms.stream("left", a="integer", intervals=True),
        ms.stream("right", b="integer", intervals=True),
    )
    engine = ms.Engine(one.join(other, on=BEFORE))
    sampling = ms.sample(engine, share=1.0)
    waiting = {"left": elements(left), "right": elements(right)}
    forgotten = False
    while any(waiting.values()):
        name = random.choice([name for name, rest in waiting.items() if rest])
        engine.push(name, [waiting[name].pop(0)])
        if not forgotten and engine.progress() >= since:
            sampling.forget(engine.progress() - since)
            forgotten = True
    (found,) = sampling.selectivities().values()
    until = min(left[-1][0], right[-1][0]) if left and right else 0
    matches, pairs = together(left, right, since if forgotten else 0, until)
    assert found.value == (pytest.approx(matches / pairs) if pairs else 0.5)


def drifting(seed: int, steps: int = 800) -> dict[str, list[Element]]:
    """a and b have values that follow the time, so that those which are valid together are near each other;
    of b and c, one pair in four is near."""
    random = Random(seed)
    rows: dict[str, list[Element]] = {"a": [], "b": [], "c": []}
    for time in range(steps):
        near = time // 10
        values: dict[str, tuple[float, ...]] = {
            "a": (near + random.random(),),
            "b": (near + random.random(), random.random()),
            "c": (random.random(),),
        }
        for name, value in values.items():
            rows[name].append((time, time + 1, (*value, time)))
    return rows


def drifting_query() -> dict[str, ms.Stream]:
    window = 20
    a = ms.stream("a", u="float", i="integer").window(window)
    b = ms.stream("b", v="float", x="float", j="integer").window(window)
    c = ms.stream("c", y="float", k="integer").window(window)
    near = (ms.col("u") - ms.col("v")).abs() < 2
    few = (ms.col("x") - ms.col("y")).abs() < 0.134
    return {"ab": a.join(b, on=near).join(c, on=few), "bc": b.join(c, on=few).join(a, on=near)}


def first_joined(plan: ms.Plan) -> set[str]:
    """The streams that the inner join reads."""
    inner = next(node for node in plan.nodes if len(node.inputs) == 2)
    return {str(node.operator).removeprefix("source ") for node in inner.walk() if not node.inputs}


def feed(engine: ms.Engine, rows: dict[str, list[Element]]) -> ms.Engine:
    for at in range(0, len(rows["a"]), 100):
        for name in rows:
            engine.push(name, rows[name][at : at + 100])
    return engine


def test_a_theta_join_is_ordered_rightly_by_what_the_sampler_tells() -> None:
    """Rows of the recent past do not tell of pairs that are valid together where values follow the time."""
    rows, queries = drifting(1), drifting_query()
    engine = ms.Engine(queries["ab"])
    sampling = ms.sample(engine, share=0.2, seed=1)
    feed(engine, rows)
    without = ms.optimize(queries["ab"], engine.statistics())
    with_sampler = ms.optimize(queries["ab"], sampling.statistics())
    assert first_joined(without.plan) == {"a", "b"}
    assert first_joined(with_sampler.plan) == {"b", "c"}
    costs = {order: feed(ms.Engine(query), rows).counters().intermediate for order, query in queries.items()}
    assert costs["bc"] < costs["ab"] / 2


def test_what_filters_ask_is_found_too() -> None:
    """And pairs are those of rows that pass the filters. Equal columns are left to counts of keys."""
    a = ms.stream("a", u="integer", i="integer").window(20).filter(ms.col("i") % 3 == 0)
    b = ms.stream("b", v="integer", j="integer").window(20)
    c = ms.stream("c", w="integer").window(20)
    engine = ms.Engine(a.join(b, on=ms.col("u") < ms.col("v")).join(c, on=[("v", "w")]))
    seeds = range(20)
    samplings = [ms.sample(engine, share=0.5, seed=seed, name=f"{seed}") for seed in seeds]
    engine.push("a", [(time, time + 1, (time % 4, time)) for time in range(600)])
    engine.push("b", [(time, time + 1, (time % 5, time)) for time in range(600)])
    found = [
        {str(condition): interval for condition, interval in sampling.selectivities().items()}
        for sampling in samplings
    ]
    assert {condition for each in found for condition in each} == {"(i % 3) = 0", "u < v"}
    assert sum(1 / 3 in each["(i % 3) = 0"] for each in found) >= 0.8 * len(seeds)
    assert sum(0.5 in each["u < v"] for each in found) >= 0.8 * len(seeds)


def test_a_sampler_that_is_stopped_is_no_query_any_more() -> None:
    engine = ms.Engine(drifting_query()["ab"])
    sampling = ms.sample(engine)
    sampling.stop()
    assert "sampler" not in engine.queries
    assert not any(interval.is_known for interval in sampling.selectivities().values())


def test_rows_that_are_drawn_together_count_as_few() -> None:
    """A stream of ten different rows is a sample of a few, however often each comes."""
    a = ms.stream("a", u="integer").window(20).filter(ms.col("u") < 5)
    b = ms.stream("b", v="integer").window(20)
    engine = ms.Engine(a.join(b, on=ms.col("u") < ms.col("v")))
    sampling = ms.sample(engine, share=0.5)
    engine.push("a", [(time, time + 1, (time % 10,)) for time in range(1000)])
    (rows, _) = sampling.selectivities().values()
    assert rows.high - rows.low > 0.4
    assert share_of_rows(250, 500).high - share_of_rows(250, 500).low < 0.1


def test_two_conditions_on_one_pair_are_known_together() -> None:
    """As they depend on each other: of pairs in a range from below, more than of all are in it from above."""
    band = (ms.col("u") > ms.col("v") - 1) & (ms.col("u") < ms.col("v") + 1)
    a, b = ms.stream("a", u="integer").window(10), ms.stream("b", v="integer").window(10)
    query = a.join(b, on=band).plan()
    streams = {node: ms.StreamStatistics(d=1.0, l=1.0) for node in (a.node.inputs[0], b.node.inputs[0])}
    each = ms.Statistics(streams, {ms.col("u") > ms.col("v") - 1: 0.5})
    both = ms.Statistics(streams, {band: 0.01})
    rates = [CostModel(known).estimate(query.root).rate for known in (each, both)]
    assert rates[0] > 10 * rates[1]


def test_nothing_is_told_of_what_was_not_seen() -> None:
    a, b = ms.stream("a", u="integer").window(10), ms.stream("b", v="integer").window(10)
    engine = ms.Engine(a.join(b, on=ms.col("u") < ms.col("v")))
    sampling = ms.sample(engine)
    assert list(sampling.selectivities().values()) == [Interval(0.5, 0.0, 1.0)]
    assert not sampling.statistics().selectivities


def test_where_no_pair_was_found_a_share_is_expected_nevertheless() -> None:
    a, b = ms.stream("a", u="integer").window(100), ms.stream("b", v="integer").window(100)
    engine = ms.Engine(a.join(b, on=ms.col("u") > ms.col("v")))
    sampling = ms.sample(engine, share=0.5)
    for time in range(300):
        engine.push("a", [(time, time + 1, (time,))])
        engine.push("b", [(time, time + 1, (1000 + time,))])
    (found,) = sampling.selectivities().values()
    assert found.value == found.low == 0
    assert 0 < found.high < 0.05
    assert list(sampling.statistics().selectivities.values()) == [found.high / 3]


def test_a_sampler_needs_something_to_compare() -> None:
    a, b = ms.stream("a", u="integer").window(10), ms.stream("b", v="integer").window(10)
    with pytest.raises(ms.errors.StatisticsError, match="two inputs by anything but equal columns"):
        Sampler(a.join(b, on=[("u", "v")]).plan())


def test_equal_seeds_draw_equal_samples() -> None:
    query = drifting_query()["ab"].plan()
    assert Sampler(query, 0.2, seed=1).plan == Sampler(query, 0.2, seed=1).plan
    assert Sampler(query, 0.2, seed=1).plan != Sampler(query, 0.2, seed=2).plan
