"""The benchmark of deciding: plans that mean the same, timers that leave no trace, a table with all parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

import midstream as ms
from midstream.autopilot.watching import EngineAutopilot
from midstream.benchmarks.deciding import (
    PARTS,
    DecidingRun,
    Outcome,
    Run,
    measure_deciding,
    run_by_hand,
    run_fixed,
    run_pilot,
    show_deciding,
    situations,
    timers,
)
from midstream.benchmarks.deciding_cases import MADE, Gain
from midstream.benchmarks.options import BenchmarkError

SMALL = 0.03
"""The length at which a situation has about a window."""


@pytest.mark.parametrize("name", [name for name in MADE if "-" not in name])
def test_the_plans_of_a_situation_mean_the_same(name: str) -> None:
    situation = MADE[name](SMALL)
    first, *others = (ms.run(plan, situation.streams) for plan in situation.plans.values())
    for other in others:
        assert ms.equivalent(first, other)


def test_all_runs_give_the_results_of_the_first_plan() -> None:
    situation = MADE["better order"](5 * SMALL)
    worst, best = situation.plans.values()
    fixed = run_fixed(situation, worst)
    assert fixed.moves == 0 and fixed.seconds > 0
    by_hand, pilot = run_by_hand(situation, worst, best), run_pilot(situation, worst, timed=True)
    assert by_hand.results == pilot.results == fixed.results > 0
    assert by_hand.intermediate < fixed.intermediate
    assert pilot.moves == 1 and set(pilot.parts) == set(PARTS)
    assert 0 < pilot.deciding < pilot.seconds


@pytest.mark.parametrize("name", ["better order", "four inputs"])
def test_one_query_counts_as_the_engine_does(name: str) -> None:
    situation = MADE[name](SMALL)
    plan = next(iter(situation.plans.values()))
    engine = ms.Engine(plan)
    for stream, elements in situation.streams.items():
        engine.push(stream, elements)
    engine.close()
    assert run_fixed(situation, plan).intermediate == engine.counters().intermediate > 0


def test_what_another_query_runs_counts_in_every_plan() -> None:
    """The plan that shares its join adds nothing to it; another one adds a join of its own."""
    situation = MADE["sharing"](5 * SMALL)
    shares, apart = situation.plans["a b c"], situation.plans["b c a"]
    assert situation.beside is not None
    pairs = len(ms.run(situation.beside, {name: situation.streams[name] for name in "ab"}))
    assert run_fixed(situation, shares).intermediate == pairs
    assert run_fixed(situation, apart).intermediate > 1.5 * pairs
    assert run_pilot(situation, shares).intermediate <= 1.05 * pairs


def test_timers_leave_no_trace() -> None:
    before = EngineAutopilot.migrate
    with timers():
        assert EngineAutopilot.migrate is not before
    assert EngineAutopilot.migrate is before


def test_the_table_has_a_row_for_each_first_plan(capsys: pytest.CaptureFixture[str]) -> None:
    run = measure_deciding(situations("sharing", None), SMALL, pairs=1)
    show_deciding(run, Console(width=120))
    printed = capsys.readouterr().out
    assert printed.count("a b c") == printed.count("b c a") == 2
    assert all(part in printed for part in PARTS)
    assert run.as_dict()["outcomes"][0]["situation"] == "sharing"


@pytest.mark.parametrize(("name", "message"), [("scann", "some of one filter"), ("roads", "needs --data")])
def test_other_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        situations(name, None)


def outcome(gain: Gain = "some", first: str = "worst", **changed: Any) -> Outcome:
    fixed = {"best": 2.5, "worst": 4.0}
    ratios = {"first": 0.8, "best": 1.2, "by hand": 1.05}
    counted = {"best": 1000, "worst": 9000}
    pilot = Run(3.0, changed.pop("intermediate", 1200), 10, changed.pop("moves", 1), {"search": 0.1})
    known: dict[str, Any] = {"ratios": ratios, "pilot": pilot, "windows": 30.0, **changed}
    return Outcome("made", first, "best", "worst", fixed, intermediate=counted, gain=gain, **known)


@pytest.mark.parametrize(
    ("missed", "found"),
    [
        ([], outcome()),
        (["/ by hand"], outcome(ratios={"first": 0.8, "by hand": 1.2})),
        ([], outcome(ratios={"first": 0.8, "by hand": 1.2}, windows=19.0)),
        (["/ first"], outcome("none", moves=0, ratios={"first": 1.2})),
        ([], outcome("against", ratios={"first": 1.2})),
        (["moves"], outcome(first="best")),
        (["deciding"], outcome("none", pilot=Run(3.0, 1200, 10, 0, {"look": 0.3}))),
        (["results"], outcome(intermediate=1700)),
        ([], outcome(intermediate=1670)),
        (["results"], outcome(first="best", moves=0, intermediate=1060, is_beside=True)),
    ],
)
def test_limits_that_are_not_kept_are_told(missed: list[str], found: Outcome) -> None:
    assert [miss.partition(":")[0] for miss in found.misses] == missed
    assert DecidingRun((found,)).is_good == (not missed)


def test_short_runs_have_no_limits() -> None:
    assert not replace(outcome(intermediate=9000), fixed={"best": 0.5, "worst": 1.0}).misses
