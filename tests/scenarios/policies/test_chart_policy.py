"""A policy that looks up a chart moves when the place's order is another one, and never knows the future."""

from __future__ import annotations

import pytest
from asked import asked_before
from drawn_cases import ELEMENTS, case
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer.charts.chart import Dimension
from midstream.plans.algebra.builder import stream
from midstream.scenarios.policies.by_chart import ByChart, least_of
from midstream.scenarios.policies.clairvoyant import best_fixed
from midstream.scenarios.policies.generated import selectivity_flip
from midstream.scenarios.policies.on_engine import run
from midstream.scenarios.policies.replay import replay


@given(past=ELEMENTS, one=ELEMENTS, other=ELEMENTS)
def test_the_same_past_with_two_futures_gives_the_same_decisions(
    past: list[tuple[int, str, str]], one: list[tuple[int, str, str]], other: list[tuple[int, str, str]]
) -> None:
    futures = [[(time + 61, name, key) for time, name, key in later] for later in (one, other)]
    one_asked, other_asked = (asked_before(61, case(past + later), ByChart()) for later in futures)
    assert one_asked == other_asked


@given(st.lists(st.integers(1, 5), min_size=2, max_size=3), st.data())
def test_its_chart_has_the_least_dimension_at_every_centroid(parts: list[int], data: st.DataObject) -> None:
    lows = data.draw(st.tuples(*(st.floats(0.1, 9) for _ in parts)))
    dimensions = [
        Dimension(f"d{i}", low, 5 * low, k, True) for i, (low, k) in enumerate(zip(lows, parts, strict=True))
    ]
    plans = [stream(f"s{i}", x="integer").plan() for i in range(len(parts))]
    chart = least_of(dimensions, plans)
    for place in chart.places():
        middle = chart.middle(place)
        assert middle[chart.number_at(place)] == min(middle)


def test_it_leaves_an_order_that_becomes_dear() -> None:
    early = [(time, "a", "x") for time in range(200)] + [(time, "c", "x") for time in range(0, 200, 12)]
    late = [(time, "c", "x") for time in range(200, 400)] + [(time, "a", "x") for time in range(200, 400, 12)]
    flip = case([*early, *late, *((time, "b", "x") for time in range(0, 400, 4))])
    policy = ByChart(("a", "b"))
    bill = replay(flip, policy)
    assert [(move.old, move.new) for move in bill.moves][:1] == [(("a", "b"), ("b", "c"))]
    assert bill.moves[-1].new == ("a", "b") and bill.moves[-1].at > 200
    assert bill.total < 0.7 * len(flip.traces[best_fixed(flip)])
    assert policy.followed.moves >= policy.followed.switches >= 1


@pytest.mark.parametrize(("k", "at_most"), [(4, 0.6), (10, 0.45)])
def test_a_flip_is_followed(k: int, at_most: float) -> None:
    flip = selectivity_flip()
    policy = ByChart(k=k)
    bill = replay(flip, policy)
    assert bill.total <= at_most * len(flip.traces[best_fixed(flip)])
    assert policy.followed.fidelity is not None and policy.followed.fidelity > 0.8


def test_the_engine_counts_what_the_replay_does() -> None:
    elements = [(3 * time + i, name, "x") for time in range(30) for i, name in enumerate("aabbc")]
    elements += [(100 + 3 * time + i, name, "x") for time in range(30) for i, name in enumerate("abbcc")]
    one = case(elements)
    assert run(one, ByChart()).total == replay(one, ByChart()).total


def test_nothing_is_decided_before_ranges_are_learned() -> None:
    policy = ByChart()
    bill = replay(case([(time, "a", "x") for time in range(6)]), policy)
    assert bill.moves == () and policy.followed.rounds == 0
