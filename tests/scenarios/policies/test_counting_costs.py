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

from midstream.autopilot.costs.policies import replay
from midstream.scenarios.trials.policies.case import Case
from midstream.scenarios.trials.policies.items import ITEMS
from midstream.scenarios.trials.policies.policy import How
from midstream.scenarios.trials.policies.recorded import packets, roads

each_policy = pytest.mark.parametrize("policy", ["break-even", "autopilot"])


@each_policy
@given(past=ELEMENTS, one=ELEMENTS, other=ELEMENTS, how=st.sampled_from(get_args(How)))
def test_the_same_past_with_two_futures_gives_the_same_decisions(
    policy: str,
    past: list[tuple[int, str, str]],
    one: list[tuple[int, str, str]],
    other: list[tuple[int, str, str]],
    how: How,
) -> None:
    futures = [[(time + 61, stream, key) for time, stream, key in later] for later in (one, other)]
    cases = [case(past + later) for later in futures]
    one_asked, other_asked = (asked_before(61, of, ITEMS[policy](of, 0, how)) for of in cases)
    assert one_asked == other_asked


@each_policy
def test_it_leaves_an_order_that_becomes_dear(policy: str) -> None:
    busy = [(time, stream, "x") for time in range(200) for stream in "ab"]
    rare = [(time, "c", "x") for time in range(0, 200, 4)]
    one = case(busy + rare)
    start = one.orders.index(("a", "b"))
    stays, moves = (
        one.costs.totals[start],
        replay(one.costs, ITEMS[policy](one, start, "moving-states"), start),
    )
    assert len(moves.moves) == 1
    assert moves.total < 0.5 * stays


BOUNDS = (
    (roads, "moving-states", 0.55),
    (roads, "genmig", 0.70),
    (packets, "moving-states", 0.85),
    (packets, "genmig", 1.10),
)


@pytest.mark.parametrize(
    ("policy", "read", "how", "at_most"),
    [
        # The first is the only one that sees what is left to catch up with.
        pytest.param(
            policy, *bound, marks=[pytest.mark.slow] * ((policy, bound) != ("break-even", BOUNDS[0]))
        )
        for bound in BOUNDS
        for policy in ("break-even", "autopilot")
    ],
)
def test_real_streams_cost_less_than_with_one_order(
    shared_data: Path,
    policy: str,
    read: Callable[[Path], Case],
    how: How,
    at_most: float,
) -> None:
    recorded = read(shared_data)
    totals = recorded.costs.totals
    dearest_first = sorted(range(len(totals)), key=lambda order: -totals[order])
    starts = (
        dearest_first[:1] if policy == "autopilot" else dearest_first
    )  # what an engine computes takes long
    bills = [replay(recorded.costs, ITEMS[policy](recorded, order, how), order) for order in starts]
    assert max(bill.total for bill in bills) <= at_most * min(totals)
