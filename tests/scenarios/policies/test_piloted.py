"""A policy that counts the cost of changing moves when it pays, and never knows what is still to come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from asked import asked_before
from drawn_cases import ELEMENTS, case
from hypothesis import given
from hypothesis import strategies as st

from midstream.scenarios.policies.case import Case
from midstream.scenarios.policies.clairvoyant import best_fixed
from midstream.scenarios.policies.generated import adversarial, stationary
from midstream.scenarios.policies.piloted import Piloted
from midstream.scenarios.policies.policy import How
from midstream.scenarios.policies.recorded import packets, roads
from midstream.scenarios.policies.replay import replay


@given(past=ELEMENTS, one=ELEMENTS, other=ELEMENTS, how=st.sampled_from(get_args(How)))
def test_the_same_past_with_two_futures_gives_the_same_decisions(
    past: list[tuple[int, str, str]],
    one: list[tuple[int, str, str]],
    other: list[tuple[int, str, str]],
    how: How,
) -> None:
    futures = [[(time + 61, stream, key) for time, stream, key in later] for later in (one, other)]
    one_asked, other_asked = (asked_before(61, case(past + later), Piloted(how=how)) for later in futures)
    assert one_asked == other_asked


def test_it_leaves_an_order_that_becomes_dear() -> None:
    busy = [(time, stream, "x") for time in range(200) for stream in "ab"]
    rare = [(time, "c", "x") for time in range(0, 200, 4)]
    stays, moves = len(case(busy + rare).traces["a", "b"]), replay(case(busy + rare), Piloted(("a", "b")))
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
    dearest = max(recorded.orders, key=lambda order: len(recorded.traces[order]))
    assert replay(recorded, Piloted(dearest, how)).total <= at_most * best


@pytest.mark.parametrize("how", get_args(How))
def test_flips_as_fast_as_a_migration_cost_little_more_than_one_order(how: How) -> None:
    """The guard keeps what break-even alone makes 1.66."""
    flips = adversarial(3)
    best = min(map(len, flips.traces.values()))
    assert max(replay(flips, Piloted(order, how)).total for order in flips.orders) <= 1.1 * best


@pytest.mark.parametrize("how", get_args(How))
def test_where_nothing_changes_it_moves_once_at_most(how: How) -> None:
    calm = stationary(150, seed=104)
    best = best_fixed(calm)
    for order in calm.orders:
        assert len(replay(calm, Piloted(order, how)).moves) == (order != best)
