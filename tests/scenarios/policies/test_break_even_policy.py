"""When changing the order pays, from rates that are known more or less well."""

from __future__ import annotations

import math

import pytest

from midstream.migration.autopilot.break_even import BreakEven
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
