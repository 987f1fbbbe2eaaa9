"""A policy that looks up a chart moves when another order has the lowest part, and never knows the future."""

from __future__ import annotations

import pytest
from drawn_cases import ELEMENTS, case
from hypothesis import given

from midstream.autopilot.costs.bill import Bill, best_fixed
from midstream.autopilot.costs.policies import replay
from midstream.scenarios.trials.policies.case import Case
from midstream.scenarios.trials.policies.generated import selectivity_flip
from midstream.scenarios.trials.policies.items import by_chart
from midstream.scenarios.trials.policies.on_engine import run


def charted(of: Case, k: int = 10) -> Bill:
    """From the first order on."""
    return replay(of.costs, by_chart(of, 0, "genmig", k))


@given(past=ELEMENTS, one=ELEMENTS, other=ELEMENTS)
def test_the_same_past_with_two_futures_gives_the_same_moves(
    past: list[tuple[int, str, str]], one: list[tuple[int, str, str]], other: list[tuple[int, str, str]]
) -> None:
    futures = [[(time + 61, name, key) for time, name, key in later] for later in (one, other)]
    moves = [
        [(moved.at, moved.new) for moved in charted(case(past + later)).moves if moved.at < 61]
        for later in futures
    ]
    assert moves[0] == moves[1]


def test_it_leaves_an_order_that_becomes_dear() -> None:
    early = [(time, "a", "x") for time in range(200)] + [(time, "c", "x") for time in range(0, 200, 12)]
    late = [(time, "c", "x") for time in range(200, 400)] + [(time, "a", "x") for time in range(200, 400, 12)]
    flip = case([*early, *late, *((time, "b", "x") for time in range(0, 400, 4))])
    found, orders = charted(flip), flip.orders
    assert [(orders[moved.old], orders[moved.new]) for moved in found.moves][:1] == [(("a", "b"), ("b", "c"))]
    assert orders[found.moves[-1].new] == ("a", "b") and found.moves[-1].at > 200
    assert found.total < 0.7 * flip.costs.totals[best_fixed(flip.costs)]


@pytest.mark.parametrize(("k", "at_most"), [(4, 0.6), (10, 0.45)])
def test_a_flip_is_followed(k: int, at_most: float) -> None:
    flip = selectivity_flip()
    assert charted(flip, k).total <= at_most * flip.costs.totals[best_fixed(flip.costs)]


def test_the_engine_counts_what_the_replay_does() -> None:
    elements = [(3 * time + i, name, "x") for time in range(30) for i, name in enumerate("aabbc")]
    elements += [(100 + 3 * time + i, name, "x") for time in range(30) for i, name in enumerate("abbcc")]
    one = case(elements)
    found = charted(one)
    assert run(one, by_chart(one, 0, "genmig")).total == found.total
    assert found.moves


def test_nothing_is_decided_before_ranges_are_learned() -> None:
    assert charted(case([(time, "a", "x") for time in range(6)])).moves == ()
