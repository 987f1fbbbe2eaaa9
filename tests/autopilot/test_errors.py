"""An autopilot learns by what plans cost that ran, and goes back when a change did not pay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.autopilot.advice import Advice, Forecast, advice_of_costs
from midstream.autopilot.autopilot import LATER, Autopilot, Later
from midstream.autopilot.errors import Errors
from midstream.autopilot.settings import Settings

WINDOW = 10
FIRST = 20
"""Looks."""


def flown(costs: dict[str, float], told: dict[str, float], looks: int, measures: bool = True) -> list[str]:
    """What runs at each look, a window apart, when an advisor tells what is not so; first it tells that all
    other plans are dear."""
    pilot, spent, ran = Autopilot("a", WINDOW), 0.0, []
    for look in range(looks):
        now = look * WINDOW
        dear = {plan: 100.0 for plan in costs if plan != "a"}
        advice = advice_of_costs(pilot.running, told if look >= FIRST else {**told, **dear})
        decision = pilot.decide(now, advice, WINDOW, ["moving-states"], spent if measures else None)
        if decision.to is not None:
            pilot.begun(now, decision.to, "moving-states", WINDOW)
            pilot.ended(now, decision.to)
        ran.append(pilot.running)
        spent += costs[pilot.running] * WINDOW
    return ran


def test_it_goes_back_from_a_plan_that_is_dearer_than_was_told() -> None:
    costs, told = {"a": 10.0, "b": 30.0}, {"a": 10.0, "b": 5.0}
    ran = flown(costs, told, 80)
    assert ran[FIRST - 1 : FIRST + 1] == ["a", "b"]
    back = ran.index("a", FIRST)
    assert back < FIRST + 12
    assert set(ran[back:]) == {"a"}  # what was seen of b keeps it from being tried again
    assert set(flown(costs, told, 80, measures=False)[FIRST:]) == {"b"}


LOOKS = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 8.0]), st.sampled_from([1.0, 2.0, 8.0]), st.integers(0, 40)),
    min_size=60,
    max_size=120,
)
"""What both plans are told to cost per chronon, and what the running one costs from this look to the next."""


@given(looks=LOOKS, each=st.integers(1, 5))
def test_what_is_measured_once_a_window_counts_as_if_it_were_at_every_look(
    looks: list[tuple[float, float, int]], each: int
) -> None:
    found = []
    for every in (1, each):
        pilot, total, decisions = Autopilot("a", each), 0.0, []
        for now, (of_a, of_b, more) in enumerate(looks):
            advice = advice_of_costs(pilot.running, {"a": of_a, "b": of_b})
            spent: float | Later = LATER if now % every else total
            decisions.append(pilot.decide(now, advice, each, spent=spent))
            total += more
        found.append(decisions)
    assert found[0] == found[1]


def test_nothing_is_compared_with_what_was_not_measured() -> None:
    """What was told before a look at which nothing was measured is forgotten."""
    pilot, told = Autopilot("a", WINDOW), advice_of_costs("a", {"a": 1.0, "b": 2.0})
    for look in range(200):
        measured = (None, 100.0 * look, LATER)[look % 3]
        decision = pilot.decide(look * WINDOW, told, spent=measured)  # type: ignore[arg-type]
    assert decision.rate == 1.0


def test_it_stays_with_a_plan_that_is_as_was_told() -> None:
    ran = flown({"a": 10.0, "b": 5.5}, {"a": 10.0, "b": 5.0}, 80)
    assert set(ran[FIRST:]) == {"b"}


def test_an_advisor_that_is_off_for_all_plans_alike_is_believed_in_their_order() -> None:
    ran = flown({"a": 40.0, "b": 20.0}, {"a": 10.0, "b": 5.0}, 80)
    assert set(ran[FIRST:]) == {"b"}


@pytest.mark.parametrize(
    ("measured", "factor"), [(14.0, 1.0), (30.0, 2.71), (1000.0, 13.83), (0.0, 0.32), (7.0, 1.0)]
)
def test_little_deviations_are_no_errors(measured: float, factor: float) -> None:
    errors: Errors[str] = Errors(WINDOW)
    for _ in range(1000):
        errors.saw("a", WINDOW, WINDOW, measured)
    assert errors.factor("a") == pytest.approx(factor, abs=0.01)


def test_what_came_in_a_burst_is_no_error() -> None:
    """Three times as much as was told, but nearly all of it in one window."""
    errors: Errors[str] = Errors(WINDOW)
    for look in range(40):
        errors.saw("a", WINDOW / 4, WINDOW / 4, 10.0 * WINDOW if look == 20 else 0.2 * WINDOW)
    assert errors.factor("a") == 1.0


def test_where_nothing_happens_nothing_is_learned() -> None:
    errors: Errors[str] = Errors(WINDOW)
    errors.saw("a", 1000 * WINDOW, 0.0, 0.0)
    assert errors.factor("a") == 1.0


def test_what_is_told_is_corrected() -> None:
    errors: Errors[str] = Errors(WINDOW)
    for _ in range(1000):
        errors.saw("b", WINDOW, WINDOW, 30.0)
        errors.saw("a", WINDOW, WINDOW, 10.0)
    factor = errors.factor("b")
    told = Advice(5.0, (Forecast("b", 3.0, 2.0, 1.0, lately=4.0),), lately=6.0)
    corrected = errors.corrected(told, "a")
    (b,) = corrected.others
    assert (corrected.running, corrected.lately) == (5.0, 6.0)
    assert (b.rate, b.saving, b.deviation, b.lately) == (3 * factor, 5 - 3 * factor, factor, 4 * factor)


def test_a_migration_that_would_keep_too_much_is_not_begun() -> None:
    advice = Advice(9.0, (Forecast("b", 2.0, 7.0, state=60), Forecast("c", 5.0, 4.0, state=30)), state=50)
    little = Settings(memory=100)
    decision = Autopilot("a", WINDOW, little).decide(0, advice, WINDOW)
    assert decision.to == "c"  # less is saved, but there is room
    decision = Autopilot("a", WINDOW, Settings(memory=70)).decide(0, advice, WINDOW)
    assert decision.to is None
    assert "stay, as both plans would keep more than 70 together: a move to b" in str(decision)
    for free in ({"until_split": 0.0}, {"until_split": WINDOW, "strategies": ["swap"]}):
        assert Autopilot("a", WINDOW, Settings(memory=70)).decide(0, advice, **free).to == "b"  # type: ignore[arg-type]
    assert Autopilot("a", WINDOW).decide(0, advice, WINDOW).to == "b"
