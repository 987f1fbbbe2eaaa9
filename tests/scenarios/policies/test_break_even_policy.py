"""When changing the order pays, from rates that are known more or less well."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.autopilot.break_even import BreakEven
from midstream.optimizer.pair_rates import difference, pair_rate


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


SHARES = st.floats(0, 1)


@given(SHARES, SHARES, SHARES, st.floats(1, 1e6), st.floats(0, 2), SHARES)
def test_what_is_left_of_a_saving_must_be_a_share_of_what_runs(
    saved: float, unsure: float, spent: float, horizon: float, doubt: float, least: float
) -> None:
    running, saving = 100.0, 100 * saved
    deviation, cost = unsure * saving, spent * saving * horizon
    rule = BreakEven(horizon, doubt, least)
    gain = rule.gain(running=running, saving=saving, deviation=deviation, cost=cost)
    left = (saving - doubt * deviation) * horizon - cost
    assert gain in (0.0, left)
    assert (gain > 0) == (left > least * running * horizon)
