"""A policy that counts the cost of changing moves when it pays, and never knows what is still to come."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from asked import asked_before
from drawn_cases import ELEMENTS, case
from hypothesis import given

from midstream.migration.autopilot.break_even import BreakEven
from midstream.optimizer.pair_rates import difference, pair_rate
from midstream.scenarios.policies.break_even import ByBreakEven
from midstream.scenarios.policies.case import Case
from midstream.scenarios.policies.policy import How
from midstream.scenarios.policies.recorded import packets, roads
from midstream.scenarios.policies.replay import replay


@given(past=ELEMENTS, one=ELEMENTS, other=ELEMENTS)
def test_the_same_past_with_two_futures_gives_the_same_decisions(
    past: list[tuple[int, str, str]], one: list[tuple[int, str, str]], other: list[tuple[int, str, str]]
) -> None:
    futures = [[(time + 61, stream, key) for time, stream, key in later] for later in (one, other)]
    one_asked, other_asked = (asked_before(61, case(past + later), ByBreakEven()) for later in futures)
    assert one_asked == other_asked


def test_it_leaves_an_order_that_becomes_dear() -> None:
    busy = [(time, stream, "x") for time in range(200) for stream in "ab"]
    rare = [(time, "c", "x") for time in range(0, 200, 4)]
    stays, moves = len(case(busy + rare).traces["a", "b"]), replay(case(busy + rare), ByBreakEven(("a", "b")))
    assert len(moves.moves) == 1
    assert moves.total < 0.5 * stays


@pytest.mark.parametrize(
    ("read", "how", "at_most"),
    [
        (roads, "moving-states", 0.55),
        (roads, "genmig", 0.70),
        (packets, "moving-states", 0.85),
        (packets, "genmig", 1.10),
    ],
)
def test_real_streams_cost_less_than_with_one_order(
    shared_data: Path, read: Callable[[Path], Case], how: How, at_most: float
) -> None:
    recorded = read(shared_data)
    best = min(map(len, recorded.traces.values()))
    worst = max(replay(recorded, ByBreakEven(order, how)).total for order in recorded.orders)
    assert worst <= at_most * best


def test_what_both_pairs_share_is_no_difference() -> None:
    rates = {"a": {"x": 2.0}, "b": {"x": 0.5}, "c": {"x": 0.5}}
    same = difference(rates, ("a", "b"), ("a", "b"), 10, decay=0.1)
    assert same.value == 0
    shared = difference(rates, ("a", "b"), ("a", "c"), 10, decay=0.1)
    chance = 2 * (20 * 0.05) ** 2  # of pairs
    only_b_and_c = math.sqrt(0.05 * 2 * (20 * 2.0) ** 2 * 0.5 + chance)
    assert shared.deviation == pytest.approx(only_b_and_c)
    assert pair_rate(rates["a"], rates["b"], 10) == 20


def test_small_savings_are_left_alone() -> None:
    rule = BreakEven(horizon=1e9, doubt=0, least_saving=0.05)
    assert rule.gain(running=100, saving=5, deviation=0, cost=0) == 0
    assert rule.gain(running=100, saving=6, deviation=0, cost=0) > 0
