"""Totals, regret and switching are arithmetic on costs, whatever these are."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.io.time_units import Clock
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.recordings.orders import Order
from midstream.scenarios.recordings.pricing import TIE, compare
from midstream.scenarios.stages.what_if.objectives import WEIGHTED, Aim, aim_of
from midstream.scenarios.stages.what_if.prices import Prices, best_path, moves_in, prices_of
from midstream.scenarios.stages.what_if.switching_costs import (
    BY_PAST,
    CLAIRVOYANT,
    HINDSIGHT,
    REPEATED,
    STRATEGIES,
    all_courses,
    lasting,
    switching_costs,
)

CLOCK = Clock("s")
RATES = st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.0 + TIE / 2, 3.0, 8.0, 0.1, 1 / 3])


def plans(number: int) -> list[Plan]:
    """Some plans that can be told apart."""
    return [stream(f"s{i}", x="integer").window(9).plan() for i in range(number)]


def orders(number: int) -> tuple[Order, ...]:
    return tuple(Order(i, "abcdef"[i], (i,)) for i in range(number))


@st.composite
def some_prices(draw: st.DrawFn) -> Prices:
    """One to four orders, by what adds up or by a level, in some buckets."""
    number, buckets, bucket = draw(st.integers(1, 4)), draw(st.integers(1, 7)), draw(st.integers(1, 5))
    start = draw(st.integers(-9, 9))
    grid = st.lists(st.tuples(*[RATES] * buckets), min_size=number, max_size=number).map(tuple)
    counts = draw(st.tuples(*[st.integers(0, 9)] * buckets))
    aim = aim_of(draw(st.sampled_from(["processing", "memory"])), CLOCK)
    starts = range(start, start + buckets * bucket, bucket)
    return Prices(aim, starts, counts, orders(number), draw(grid), draw(grid))


@given(some_prices())
def test_no_order_is_better_than_always_the_best(found: Prices) -> None:
    covered = found.scale / found.aim.over_time(len(found.starts))
    for total in found.totals:
        rates = found.rates[total.order.number]
        assert math.isclose(total.spent, covered * sum(rates), rel_tol=1e-12, abs_tol=1e-12)
        assert total.regret >= 0
        assert math.isclose(total.spent, found.least + total.regret, rel_tol=1e-8, abs_tol=1e-12)
        assert total.best_in <= sum(found.contested)
    assert [total.spent for total in found.totals] == sorted(total.spent for total in found.totals)
    assert all(
        any(found.is_best(order, bucket) for order in range(len(found.orders)))
        for bucket in range(len(found.starts))
    )


@given(some_prices())
def test_paths(found: Prices) -> None:
    assert all(found.is_best(order, bucket) for bucket, order in enumerate(found.best))
    # It moves only where the running order is not as good.
    assert all(
        after == before or not found.is_best(before, bucket + 1)
        for bucket, (before, after) in enumerate(pairwise(found.best))
    )
    assert math.isclose(found.cost_of(found.best), found.least, rel_tol=1e-8, abs_tol=1e-12)
    assert found.switches == moves_in(found.best)
    assert found.repeated[0] == 0
    for bucket in range(1, len(found.starts)):
        assert found.is_best(found.repeated[bucket], bucket - 1)
    for path in (found.by_past, found.repeated):
        assert found.cost_of(path) >= found.cost_of(found.best) * (1 - 1e-8)


@given(some_prices(), st.integers(1, 9))
def test_stretches_add_up_to_the_whole(found: Prices, most: int) -> None:
    drawn = found.stretches(most)
    assert len(drawn) <= most
    assert drawn[0].start == found.starts[0]
    assert drawn[-1].end >= found.starts[-1] + found.starts.step
    assert all(before.end == after.start for before, after in pairwise(drawn))
    if found.aim.is_flow:
        for i, total in enumerate(found.totals):
            assert math.isclose(sum(one.spent[i] for one in drawn), total.spent, abs_tol=1e-9)
            assert math.isclose(sum(one.regret[i] for one in drawn), total.regret, abs_tol=1e-9)
        lost = found.cost_of(found.by_past) - found.least
        assert math.isclose(sum(one.past_regret for one in drawn), lost, rel_tol=1e-8, abs_tol=1e-6)


@given(some_prices(), st.integers(1, 7), st.data())
def test_nobody_who_pays_for_moves_is_better_than_the_clairvoyant(
    found: Prices, window: int, data: st.DataObject
) -> None:
    buckets = len(found.starts)
    lasts = data.draw(st.lists(st.integers(0, window), min_size=buckets, max_size=buckets))
    courses, _ = all_courses(found, plans(4), window, lasts)
    by_name = {turn.name: turn for turn in switching_costs(found, courses, shown=9)}
    best = by_name.pop(CLAIRVOYANT)
    for strategy in STRATEGIES:
        cheapest, _ = best.paid[strategy]
        assert cheapest >= found.least * (1 - 1e-9)
        for turn in by_name.values():
            paid, moves = turn.paid[strategy]
            assert paid >= cheapest * (1 - 1e-9)
            assert turn.free is not None
            assert turn.free >= found.least * (1 - 1e-8)
            assert moves <= buckets - 1
    assert by_name.keys() == {HINDSIGHT, BY_PAST, REPEATED, *(order.label for order in found.orders)}
    for order in found.orders:
        assert by_name[order.label].paid == dict.fromkeys(STRATEGIES, (by_name[order.label].free, 0))


def test_moving_costs_what_both_plans_give_while_both_run() -> None:
    # Two orders change places after 100 chronons, with a window of 10.
    starts, rates = range(0, 200, 100), ((1.0, 3.0), (3.0, 1.0))
    found = Prices(aim_of("processing", CLOCK), starts, (5, 5), orders(2), rates, rates)
    courses, _ = all_courses(found, plans(2), 10, [0, 10])
    by_name = {turn.name: turn for turn in switching_costs(found, courses, shown=1)}
    # GenMig: the old plan runs for 10 chronons at a rate of 3, while the new one comes to 1.
    with_genmig = 100 + 10 * 3 + 90 + 10 * 1 / 2
    assert by_name[HINDSIGHT].free == 200
    assert by_name[HINDSIGHT].paid["genmig"] == (with_genmig, 1)
    # Moving states: half of what the new plan gave in the last window, at a rate of 3, is made at once.
    assert by_name[HINDSIGHT].paid["moving-states"] == (100 + 100 + 10 * 3 / 2, 1)
    assert by_name[CLAIRVOYANT].paid["genmig"] == (with_genmig, 1)
    # Repeat last best is in the given order first, and moves a bucket later, which here is too late.
    assert by_name[REPEATED].paid["genmig"] == (400, 0)
    assert list(by_name) == ["a", HINDSIGHT, BY_PAST, REPEATED, CLAIRVOYANT]


def test_nothing_is_known_before_the_first_bucket() -> None:
    past = ((0.0, 5.0, 0.0), (0.0, 4.0, 0.0))
    found = Prices(
        aim_of("processing", CLOCK), range(3), (1, 1, 1), orders(2), ((1.0,) * 3, (2.0,) * 3), past
    )
    # The given order at first; then the better one; which stays while nothing is known.
    assert found.by_past == [0, 1, 1]
    assert found.cost_of(found.by_past) == 1 + 2 + 2


def test_where_a_cost_is_infinite_nothing_is_compared() -> None:
    aim = aim_of("rate", CLOCK)
    rows = [(0, 0, 4, math.inf, 1.0), (0, 5, 4, 2.0, 1.0), (1, 0, 4, math.inf, 2.0), (1, 5, 4, 3.0, math.inf)]
    found = prices_of(aim, range(0, 10, 5), orders(2), rows)
    assert (found.rates, found.past) == (((0.0, 2.0), (0.0, 3.0)), ((1.0, 0.0), (2.0, 0.0)))
    assert (found.unpriced, found.contested, found.counts) == (1, (False, True), (4, 4))
    assert [cost.spent for cost in compare([math.inf, math.inf], 5)] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "unit", "is_flow"),
    [
        ("processing", "µs", True),
        ("intermediate", "results", True),
        ("memory", "bytes", False),
        ("state", "elements", False),
        ("latency", "µs", False),
        ("rate", "s a result", False),
        ("buffers", "elements", False),
        ("processing + 0.001 memory", WEIGHTED, False),
        ("processing + 2 intermediate", WEIGHTED, True),
        ("2 processing", WEIGHTED, True),
        ("om(0.4, 0.6)", WEIGHTED, False),
    ],
)
def test_objectives(text: str, unit: str, is_flow: bool) -> None:
    aim = aim_of(text, CLOCK)
    assert aim == Aim(text, aim.objective, unit, is_flow)
    assert aim.objective.chronon == 1_000_000


@given(some_prices())
def test_the_running_order_stays_while_it_is_as_good(found: Prices) -> None:
    path = best_path(found.rates, running=len(found.orders) - 1)
    assert all(found.is_best(order, bucket) for bucket, order in enumerate(path))
    if all(found.is_best(len(found.orders) - 1, bucket) for bucket in range(len(found.starts))):
        assert moves_in(path) == 0


@given(st.lists(st.integers(0, 59), max_size=12), st.integers(1, 30))
def test_what_lasts_ends_a_window_after_the_last_element(times: list[int], window: int) -> None:
    starts = range(0, 60, 10)
    ends: dict[int, int] = {}
    for time in times:
        ends[time // 10 * 10] = max(ends.get(time // 10 * 10, 0), time + window)
    for start, lasts in zip(starts, lasting(starts, ends, window), strict=True):
        assert lasts == max([time + window - start for time in times if time < start < time + window] or [0])
