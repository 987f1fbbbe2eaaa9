"""Predictions by statistics of the sources alone against what the operators keep and give, on Poisson streams
with fixed seeds: a few points of the grid that `python -m midstream.benchmarks costs` compares in full."""

from __future__ import annotations

from statistics import median

import pytest

from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.scenarios.trials.costs.comparing import compare, compare_whole, error, median_error
from midstream.scenarios.trials.costs.grid import QUERIES, SMALL, TABLE, plan_at


@pytest.mark.parametrize(
    "name",
    # What an anti-join holds back is seen by no other test.
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "hash-anti-join")) for name in QUERIES],
)
def test_state_and_rate_are_within_a_tenth(name: str) -> None:
    # Of the few elements that wait, an average wants many looks.
    looks = 1000 if name == "union" else 150
    found = [compare(name, setting, plan_at(QUERIES[name], setting), looks) for setting in SMALL]
    assert median_error(one.rate for one in found) < 0.1
    assert median_error(one.state for one in found) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_plans_of_table_24_1_are_within_a_fifth(name: str) -> None:
    found = [compare_whole(name, setting, plan_at(TABLE[name], setting), looks=50)[0] for setting in SMALL]
    assert median(error(one.state) for one in found) < 0.2
    assert median(error(one.rate) for one in found) < 0.2


def test_all_stateful_implementations_are_on_the_grid() -> None:
    """But for converters, which stand between others, and windows that are as others of signed streams."""
    there = {name.split(",")[0] for name in QUERIES}
    all_ = {one.name for options in IMPLEMENTATIONS.values() for one in options}
    assert all_ - there == {
        "signed-filter", "signed-map", "signed-union",
        "intervals-to-signs", "signs-to-intervals", "signed-time-window", "signed-count-window",
        "signed-partitioned-window", "signed-strict-difference", "signed-max-union",
    }  # fmt: skip
