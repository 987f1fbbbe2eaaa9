"""Statistics of running streams: smoothed, by groups, handed out when they change."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.operators.engine.measuring.statistics_collector import Collector
from midstream.optimizer import INTERMEDIATE, price
from midstream.optimizer.online.decayed_statistics import DecayedStatistics
from midstream.optimizer.online.requirements import requirements
from midstream.optimizer.pair_rates import DecayedCounts, difference, pair_rate
from midstream.optimizer.statistics import Statistics, deviation
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.streams import Element

WINDOW, STEP = 1000, 125
HALF_LIFE = 2 * WINDOW
A, B, C = (ms.stream(name, {f"{name}_x": "integer", f"{name}_y": "integer"}) for name in "abc")
WINDOWS = [stream.window(WINDOW) for stream in (A, B, C)]


def joined(order: str) -> Plan:
    """Three streams with equal x; those of two letters first."""
    inputs = dict(zip("abc", WINDOWS, strict=True))
    one, other, last = order
    pair = inputs[one].join(inputs[other], on=[(f"{one}_x", f"{other}_x")])
    return pair.join(inputs[last], on=[(f"{one}_x", f"{last}_x")]).plan()


def poisson(
    rates: Mapping[str, float], keys: int, until: int, seed: int, begin: int = 0
) -> dict[str, list[Element]]:
    random = Random(seed)
    return {
        name: [
            (t, t + 1, (random.randrange(keys), t % 7)) for t in range(begin, until) if random.random() < rate
        ]
        for name, rate in rates.items()
    }


def known_at(plan: Plan, streams: Mapping[str, Sequence[Element]], now: int, **options: float) -> Statistics:
    known = DecayedStatistics(plan, HALF_LIFE, **options)
    collector = Collector(plan.sources, known.columns, STEP, most=10_000)
    for name, elements in streams.items():
        collector.take(name, [element for element in elements if element[0] < now], now)
    known.take(collector.cells(now))
    return known.at(now)


def key_rates(known: Statistics) -> dict[str, dict[Hashable, float]]:
    """By column, the rates of its values."""
    return {
        column: {key: of.rate * share for key, share in shares.items()}
        for of in known.streams.values()
        for column, shares in of.distributions.items()
    }


def test_a_plan_tells_what_is_to_be_known() -> None:
    a, b = A.window(9), B.window(9)
    plan = a.select(k=ms.col("a_x"), z=ms.col("a_y") + 1).filter(ms.col("z") > 3)
    plan = plan.join(b, on=[("k", "b_x")]).join(C.window(9), on=[("b_x", "c_y")])
    asked = requirements(plan.plan())
    assert asked.columns == {"a": ("a_x",), "b": ("b_x",), "c": ("c_y",)}
    assert asked.pairs == (
        (("a", "a_x"), ("b", "b_x")),
        (("a", "a_x"), ("c", "c_y")),
        (("b", "b_x"), ("c", "c_y")),
    )
    assert {name: [*map(str, parts)] for name, parts in asked.conditions.items()} == {"a": ["(a_y + 1) > 3"]}


@given(st.sampled_from([1, 5, 25, 125]), st.integers(0, 300), st.integers(1, 40))
def test_a_constant_rate_is_that_from_the_first_element_on(every: int, first: int, cells: int) -> None:
    begin = first * every
    now = (begin // STEP + cells) * STEP
    elements = [(t, t + 1, (1, 1)) for t in range(begin, now, every)]
    found = known_at(joined("abc"), {"a": elements, "b": [], "c": []}, now).streams
    assert found[A.node].d == pytest.approx(every)
    assert found[B.node].d == math.inf


def test_a_stream_that_falls_silent_has_half_its_rate_after_a_half_life() -> None:
    known = DecayedStatistics(joined("abc"), HALF_LIFE, threshold=0)
    collector = Collector(joined("abc").sources, known.columns, STEP)
    collector.take("a", [(t, t + 1, (1, 1)) for t in range(20_000)], math.inf)
    known.take(collector.cells(20_000))
    assert known.at(20_000).streams[A.node].rate == pytest.approx(1.0)
    assert known.at(20_000 + HALF_LIFE).streams[A.node].rate == pytest.approx(0.5, rel=0.01)


@given(st.integers(0, 10**6))
def test_the_rate_of_a_join_is_that_of_its_pairs(seed: int) -> None:
    """2 w Σ λ(k) λ(k), less the pairs that start together, which the cost model does not count twice."""
    streams = poisson({"a": 0.05, "b": 0.1, "c": 0.02}, 5, 6000, seed)
    known = known_at(joined("abc"), streams, 6000)
    rates = key_rates(known)
    exact = pair_rate(rates["a_x"], rates["b_x"], WINDOW) * (2 * WINDOW - 1) / (2 * WINDOW)
    cost = price(joined("abc"), known)
    inner = next(node for node in cost.operators if set(node.schema.names) == {"a_x", "a_y", "b_x", "b_y"})
    assert cost.operators[inner].rate == pytest.approx(exact)
    assert INTERMEDIATE.of(cost) == pytest.approx(exact)


def test_counts_of_keys_are_those_of_pair_rates() -> None:
    """Cells are short: what a key weighs by its cell is what it weighs by its own start."""
    streams = poisson({"a": 0.2, "b": 0.1, "c": 0.02}, 5, 30_000, 3)
    known = known_at(joined("abc"), streams, 30_000).streams[A.node]
    exact = DecayedCounts(HALF_LIFE)
    for start, _, row in streams["a"]:
        exact.take(start, row[0])
    for key, rate in exact.rates(30_000).items():
        assert known.rate * known.distributions["a_x"][key] == pytest.approx(rate, rel=0.01)


@pytest.mark.slow
def test_deviation_by_groups_is_that_of_pair_rates() -> None:
    """The deviation of what one order saves against another: its square is right on average, over draws."""
    exact, ours = [], []
    for seed in range(120):
        begin = seed * 8000  # groups are by chance, but always the same chance in a cell
        now = begin + 8000
        streams = poisson({"a": 0.05, "b": 0.08, "c": 0.06}, 5, now, seed, begin)
        known = known_at(joined("abc"), streams, now)
        rates = key_rates(known)
        exact.append(
            difference(rates, ("a_x", "b_x"), ("a_x", "c_x"), WINDOW, math.log(2) / HALF_LIFE).deviation
        )
        plans = joined("abc"), joined("acb")
        ours.append(
            deviation(
                INTERMEDIATE.of(price(plans[0], without)) - INTERMEDIATE.of(price(plans[1], without))
                for without in known.replicates
            )
        )
    square = sum(value**2 for value in exact), sum(value**2 for value in ours)
    assert square[1] == pytest.approx(square[0], rel=0.3)


def test_groups_add_up() -> None:
    streams = poisson({"a": 0.1, "b": 0.1, "c": 0.1}, 5, 4000, 0)
    known = known_at(joined("abc"), streams, 4000)
    rates = [without.streams[A.node].rate for without in known.replicates]
    assert sum(rates) / len(rates) == pytest.approx(known.streams[A.node].rate)
    assert len(set(rates)) > 1
    rows = [len(without.streams[A.node].sample.rows) for without in known.replicates]
    assert sum(rows) == 7 * len(known.streams[A.node].sample.rows)


def test_the_same_is_handed_out_until_something_changes() -> None:
    plan = joined("abc")
    known = DecayedStatistics(plan, HALF_LIFE)
    collector = Collector(plan.sources, known.columns, STEP)
    seen = []
    for now in range(STEP, 40 * STEP + 1, STEP):
        every = 5 if now <= 30 * STEP else 1  # cells are as long as 25 elements are apart
        for name in "abc":
            collector.take(name, [(t, t + 1, (1, 1)) for t in range(now - STEP, now, every)], now)
        known.take(collector.cells(now))
        seen.append(known.at(now))
    assert len({id(one) for one in seen[16:30]}) == 1
    assert len({id(one) for one in seen[30:]}) > 3
    changed = [one.streams[A.node].rate for one in seen[29:]]
    assert changed == sorted(changed)


def test_chance_is_no_change() -> None:
    """With 20 elements in a window, counts differ by a tenth all the time: that alone is no news."""
    plan, random = joined("abc"), Random(1)
    known = DecayedStatistics(plan, HALF_LIFE)
    collector = Collector(plan.sources, known.columns, STEP)
    seen = []
    for now in range(STEP, 240 * STEP + 1, STEP):
        for name in "abc":
            times = [t for t in range(now - STEP, now) if random.random() < 0.02]
            collector.take(name, [(t, t + 1, (random.randrange(20), 1)) for t in times], now)
        known.take(collector.cells(now))
        seen.append(known.at(now))
    changes = sum(one is not other for one, other in pairwise(seen[80:]))
    assert 0 < changes < 40


def test_a_condition_that_more_rows_satisfy_is_a_change() -> None:
    plan = A.window(9).filter(ms.col("a_y") > 3).plan()
    known = DecayedStatistics(plan, HALF_LIFE)
    collector = Collector(plan.sources, known.columns, STEP)
    collector.take("a", [(t, t + 1, (1, 0)) for t in range(2000)], 2000)
    known.take(collector.cells(2000))
    before = known.at(2000)
    collector.take("a", [(t, t + 1, (1, 5)) for t in range(2000, 3000)], 3000)
    known.take(collector.cells(3000))
    after = known.at(3000)
    assert after is not before
    share = len([row for row in after.streams[A.node].sample.rows if row[1] > 3])
    share /= len(after.streams[A.node].sample.rows)
    expected = (1 - 2 ** (-1000 / HALF_LIFE)) / (1 - 2 ** (-3000 / HALF_LIFE))
    assert share == pytest.approx(expected, abs=0.08)


def test_values_may_depend_on_a_condition() -> None:
    """Of the rows that pass, all have one of ten values: ten times as many pairs as if they had any."""
    a, b = WINDOWS[:2]
    plan = a.filter(ms.col("a_y") > 3).join(b, on=[("a_x", "b_x")])
    random = Random(5)
    keys = [random.randrange(10) for _ in range(8000)]
    streams = {
        "a": [(t, t + 1, (key, 9 if key == 0 else 1)) for t, key in enumerate(keys)],
        "b": [(t, t + 1, (0 if t % 2 else 7, 1)) for t in range(8000)],
    }
    known = known_at(plan.plan(), streams, 8000)
    cost = price(plan, known)
    rate = cost.operators[plan.node].rate
    assert rate == pytest.approx(0.1 * 0.5 * (2 * WINDOW - 1), rel=0.3)  # a tenth of 1,024 rows passes
    for without in known.replicates:
        assert price(plan, without).operators[plan.node].rate == pytest.approx(rate, rel=0.2)
    # A condition on the column itself is left to the cost model, which asks it of each value.
    own = a.filter(ms.col("a_x") > 4).join(b, on=[("a_x", "b_x")])
    known = known_at(own.plan(), streams, 8000)
    assert len(known.streams[A.node].distributions["a_x"]) == 10
    rate = price(own, known).operators[own.node].rate
    assert rate == pytest.approx(0.1 * 0.5 * (2 * WINDOW - 1), rel=0.1)


def test_before_anything_came_streams_are_silent() -> None:
    known = DecayedStatistics(joined("abc"), HALF_LIFE).at(0)
    assert {one.d for one in known.streams.values()} == {math.inf}


@pytest.mark.parametrize("options", [{"half_life": 0}, {"half_life": 1, "threshold": -1}])
def test_bad_arguments(options: dict[str, float]) -> None:
    with pytest.raises(StatisticsError):
        DecayedStatistics(joined("abc"), **options)


@given(st.integers(0, 10**6), st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_cells_may_be_of_any_length(seed: int, lengths: list[int]) -> None:
    """Rates by long cells are those by short ones, had the elements of each come evenly, as they do here."""
    rate = Random(seed).choice([0.04, 0.2, 1.0])
    known = DecayedStatistics(joined("abc"), HALF_LIFE, threshold=0)
    collector = Collector(joined("abc").sources, known.columns, STEP)
    end = 0
    for cells in lengths:
        start, end = end, end + cells * STEP
        elements = [(t, t + 1, (1, 1)) for t in range(start, end, round(1 / rate))]
        collector.take_cell("a", elements, start, end)
    known.take(collector.cells(end))
    assert known.at(end).streams[A.node].rate == pytest.approx(rate, rel=0.1)
