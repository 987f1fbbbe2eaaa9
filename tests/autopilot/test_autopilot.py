"""An autopilot weighs what it is told; it never knows more than that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.autopilot import Autopilot
from midstream.autopilot.settings import CAREFUL
from midstream.plans.values.errors import ArgumentError

WINDOW = 10.0


def advice(running: float, *, deviation: float = 0.0, **others: float) -> Advice[str]:
    """What plans cost; by how much less than the running one is as uncertain as that."""
    return Advice(
        running,
        tuple(Forecast(plan, rate, running - rate, deviation) for plan, rate in others.items()),
    )


def test_it_stays_where_nothing_is_known() -> None:
    pilot = Autopilot("a", WINDOW)
    for known in (None, Advice[str](3.0)):
        decision = pilot.decide(1, known)
        assert decision.to is None
        assert str(decision) == "at 1: stay, nothing is known of other plans"


def test_it_moves_to_what_saves_the_most() -> None:
    decision = Autopilot("a", WINDOW).decide(1, advice(9.0, b=3.0, c=2.0, d=8.0), WINDOW)
    assert (decision.to, decision.saving, decision.rate) == ("c", 7.0, 9.0)
    assert str(decision).startswith("at 1: move to c by moving-states, as it pays: it saves 7 ± 0 of 9 per")


def test_it_stays_where_nothing_costs_less() -> None:
    decision = Autopilot("a", WINDOW).decide(1, advice(1.0, b=3.0), WINDOW)
    assert (decision.to, decision.candidate) == (None, "b")
    assert "stay, as no other plan costs less" in str(decision)


def test_a_move_must_pay_for_the_migration() -> None:
    dear = advice(1000.0, b=870.0)
    assert Autopilot("a", WINDOW).decide(1, dear, WINDOW, ["genmig"]).to == "b"
    much_later = Autopilot("a", WINDOW).decide(1, dear, 20 * WINDOW, ["genmig"])
    assert much_later.to is None
    assert "as no move pays" in str(much_later)


def test_a_migration_is_free_when_nothing_is_valid() -> None:
    decision = Autopilot("a", WINDOW).decide(1, advice(1000.0, b=900.0), until_split=0)
    assert (decision.to, decision.cost) == ("b", 0.0)


def test_doubt_is_taken_off_a_saving() -> None:
    uncertain = advice(10.0, b=5.0, deviation=4.0)
    assert Autopilot("a", WINDOW).decide(1, uncertain).to == "b"
    assert Autopilot("a", WINDOW, CAREFUL).decide(1, uncertain).to is None


@given(
    rates=st.lists(st.sampled_from([0.0, 1.0, 8.5, 9.5, 20.0]), max_size=3),
    deviation=st.sampled_from([0.0, 2.0, 30.0]),
    until_split=st.sampled_from([0.0, WINDOW]),
)
def test_a_move_that_would_not_pay_if_it_cost_nothing_is_never_made(
    rates: list[float], deviation: float, until_split: float
) -> None:
    known = advice(10.0, deviation=deviation, **dict(zip("bcd", rates, strict=False)))
    pilot = Autopilot("a", WINDOW)
    may_pay, decision = pilot.may_pay(known), pilot.decide(1, known, until_split)
    assert may_pay or decision.to is None
    if until_split == 0:
        assert may_pay == (decision.to is not None)


def test_the_cheapest_of_the_strategies_that_may_be_used() -> None:
    known = advice(9.0, b=2.0)
    for strategies, until_split, expected in (
        (("genmig",), WINDOW, "genmig"),
        (("genmig", "moving-states"), WINDOW, "moving-states"),
        (("genmig", "moving-states"), 1, "genmig"),
        (("genmig", "swap"), WINDOW, "swap"),
    ):
        assert Autopilot("a", WINDOW).decide(1, known, until_split, strategies).strategy == expected


def test_no_second_migration_while_one_is_under_way() -> None:
    pilot = Autopilot("a", WINDOW)
    pilot.begun(1, "b", "genmig", WINDOW)
    assert pilot.decide(2, advice(9.0, b=2.0)).to is None
    pilot.ended(3, "a")  # it was aborted
    assert pilot.decide(3, advice(9.0, b=2.0)).to == "b"


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"autopilot: window: found 0 \(int\), expected"):
        Autopilot("a", 0)
    with pytest.raises(
        ArgumentError, match="autopilot: found strategy 'magic', expected one of swap, genmig"
    ):
        Autopilot("a", 1).decide(1, advice(1.0, b=2.0), 1, ["magic"])


def test_time_does_not_go_back() -> None:
    pilot = Autopilot("a", WINDOW)
    pilot.decide(5, None)
    with pytest.raises(ArgumentError, match="found instant 4, expected none before 5"):
        pilot.decide(4, None)
