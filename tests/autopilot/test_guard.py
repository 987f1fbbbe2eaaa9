"""Whatever happens, an autopilot costs little more than the plan that was the best one all along."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.autopilot import Autopilot
from midstream.autopilot.guard import Guard, Ledger
from midstream.autopilot.settings import EAGER, Settings

WINDOW = 8
PLANS = "abc"
RATES = st.tuples(*[st.sampled_from([0.0, 1.0, 9.0, 10.0]) for _ in PLANS])
SITUATIONS = st.lists(st.tuples(st.integers(1, 40), RATES), min_size=1, max_size=12)
"""For so many chronons, what each plan costs."""
WORLDS = st.tuples(SITUATIONS, st.integers(1, 40)).map(
    lambda drawn: [rates for length, rates in drawn[0] * drawn[1] for _ in range(length)][:4000]
)
Costs = tuple[float, list[float]]

MIGRATIONS = 8
"""Each is as dear as the dearest plan's rate for a window."""


def driven(world: list[tuple[float, ...]], settings: Settings, strategy: str = "moving-states") -> Costs:
    """What an autopilot costs that knows of the last chronon alone, and what each plan costs.

    Moving states costs half a window of the new plan's results at once. With GenMig both plans run for a
    window, and the new one grows.
    """
    pilot = Autopilot("a", WINDOW, settings)
    ours, totals = 0.0, [0.0 for _ in PLANS]
    to, since = "a", -WINDOW
    for now, rates in enumerate(world):
        if to != pilot.running and now - since == WINDOW:
            pilot.ended(now, to)
        told = dict(zip(PLANS, world[max(0, now - 1)], strict=True))
        running = told.pop(pilot.running)
        others = [Forecast(plan, rate, running - rate, lately=rate) for plan, rate in told.items()]
        decision = pilot.decide(now, Advice(running, tuple(others), lately=running), WINDOW, [strategy], ours)
        if decision.to is not None:
            pilot.begun(now, decision.to, strategy, WINDOW)
            to, since = decision.to, now
            if strategy == "moving-states":
                ours += rates[PLANS.index(to)] * WINDOW / 2
                pilot.ended(now, to)
        ours += rates[PLANS.index(pilot.running)]
        if to != pilot.running:
            ours += rates[PLANS.index(to)] * (now - since) / WINDOW
        totals = [total + rate for total, rate in zip(totals, rates, strict=True)]
    return ours, totals


@given(
    world=WORLDS,
    share=st.sampled_from([0.0, 0.1, 0.5]),
    strategy=st.sampled_from(["genmig", "moving-states"]),
)
def test_the_total_exceeds_the_best_plans_by_the_share_and_a_few_migrations(
    world: list[tuple[float, ...]], share: float, strategy: str
) -> None:
    ours, totals = driven(world, Settings(guard=share, doubt=0), strategy)
    dearest = max(max(rates) for rates in world) * WINDOW
    assert ours <= (1 + share + Guard.STAYS) * min(totals) + MIGRATIONS * dearest


def test_flips_as_fast_as_one_can_follow_cost_much_more_without_a_guard() -> None:
    world = [(1.0, 9.0, 9.0) if now // 12 % 2 else (9.0, 1.0, 9.0) for now in range(4000)]
    guarded, totals = driven(world, Settings(guard=0.1), "genmig")
    unguarded, _ = driven(world, Settings(guard=1e9), "genmig")
    assert guarded < 1.1 * min(totals)
    assert unguarded > 1.3 * min(totals)


def test_nothing_is_lost_where_the_best_plan_stays_the_best() -> None:
    world = [(9.0, 1.0, 10.0)] * 500
    ours, totals = driven(world, EAGER)
    assert ours == totals[1] + WINDOW / 2  # one migration


def test_a_plan_that_becomes_known_later_has_cost_what_we_did() -> None:
    ledger = Ledger("a", 10)
    ledger.add(10, 3.0, {"a": 3.0})
    ledger.pay(5.0)
    ledger.add(10, 3.0, {"a": 3.0, "b": 1.0})
    assert (ledger.ours, ledger.totals()) == (65.0, {"a": 60.0, "b": 45.0})
    ledger.add(10, 2.0, {"a": 2.0})  # of b nothing is told
    assert ledger.totals() == {"a": 80.0, "b": 65.0}


def test_what_is_measured_counts_from_the_first_time_on() -> None:
    ledger = Ledger("a", 10)
    ledger.add(10, 1.0, {"a": 1.0})
    ledger.measure(500)
    assert ledger.ours == 10
    ledger.measure(530)
    assert ledger.ours == 40


def test_where_costs_were_estimated_what_was_measured_does_not_count() -> None:
    """Else ours would be a count, and that of the running plan an estimate."""
    ledger = Ledger("a", 10)
    ledger.measure(500)
    ledger.estimate()
    ledger.add(10, 1.0, {"a": 1.0})
    ledger.measure(900)
    assert (ledger.ours, ledger.totals()) == (10, {"a": 10})
    ledger.measure(930)
    assert ledger.ours == 40


def test_the_dearest_window_tells_how_much_may_be_lost() -> None:
    """Also of a migration before which nothing was known to cost anything."""
    ledger = Ledger("a", 10)
    ledger.see(0)
    ledger.pay(7.0)
    ledger.see(0)
    assert ledger.dearest == 7
    for now in range(5, 100, 5):
        ledger.add(5, 1.0, {"a": 1.0})
        ledger.see(now)
    assert (ledger.ours, ledger.dearest) == (102.0, 12.0)
    ledger.add(100, 2.0, {"a": 2.0})
    ledger.see(195)
    assert ledger.dearest == 20


def test_what_was_told_counts_as_it_is_known_by_now() -> None:
    """Else a plan that was told to be cheap would stay the best one, however dear it turns out to be."""
    ledger = Ledger("a", 10)
    ledger.add(10, 1.0, {"a": 1.0})
    ledger.add(10, 1.0, {"a": 1.0, "b": 2.0})
    assert ledger.totals({"a": 1.0, "b": 3.0}.__getitem__) == {"a": 20.0, "b": 10.0 + 3 * 20}


def test_a_plan_that_was_the_best_stays_the_goal_until_another_is_clearly_better() -> None:
    guard: Guard[str] = Guard(0.1)
    assert guard.check(120, {"a": 100, "b": 101}, slack=0) == "a"
    assert guard.check(240, {"a": 210, "b": 200}, slack=0) == "a"
    assert guard.check(240, {"a": 221, "b": 200}, slack=0) == "b"


@pytest.mark.parametrize(
    ("ours", "only", "presses"), [(114, None, False), (116, "a", False), (121, "a", True)]
)
def test_a_few_migrations_are_no_reason_to_be_alarmed(ours: float, only: str | None, presses: bool) -> None:
    guard: Guard[str] = Guard(0.1)
    assert guard.check(ours, {"a": 100, "b": 200}, slack=5) == only
    assert guard.presses is presses
