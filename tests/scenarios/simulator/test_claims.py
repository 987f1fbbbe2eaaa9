"""Claims of a scenario: what can be said, and that what is not so does not hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from simulated import VOUCHED, joined, other_meaning, scenario

from midstream.migration import genmig
from midstream.migration.fuse import Fuse
from midstream.migration.strategies import STRATEGIES
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.streams import Batch, Time
from midstream.scenarios.trials.simulator.claims import checked
from midstream.scenarios.trials.simulator.results import BASELINE, Checked, Simulation
from midstream.scenarios.trials.simulator.simulating import simulate
from midstream.scenarios.trials.simulator.variants import Variant

NO_GAP = [
    "longest_pause_moving(genmig) <= longest_pause_stayed(genmig)",
    "longest_pause(genmig) <= longest_pause(none)",
    "latency_mean(genmig) <= latency_mean(none)",
    "latency_max(genmig) <= latency_max(none)",
    "results(genmig) >= results(none) throughout",
]


class Late(Fuse):
    """Gives nothing until the old plan is gone."""

    def __init__(self, split: Time) -> None:
        super().__init__(split)
        self._kept: Batch = []

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        self._kept += super().process(old, new, new_progress)
        return []

    def complete(self, rest: Batch, new_progress: Time) -> Batch:
        return [*self._kept, *super().complete(rest, new_progress)]


def test_what_adds_no_gap() -> None:
    found = simulate(scenario(claims=NO_GAP))
    assert {one.finding for one in found.claims} == {"holds"}
    assert found.holds


@pytest.mark.parametrize("claim", NO_GAP)
def test_results_that_are_withheld_are_found_out(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fair = scenario(claims=[claim])
    monkeypatch.setattr(genmig, "Fuse", Late)
    found = simulate(replace(fair, variants=(Variant("genmig", STRATEGIES["genmig"]),)))
    assert found.is_equal, "the results are right, but late"
    assert [one.finding for one in found.claims] == ["does not hold"]
    assert not found.holds


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return simulate(scenario(repetitions=2, strategies=["genmig", "parallel-track", "swap"]))


def check(simulation: Simulation, *claims: str) -> list[Checked]:
    """What is found of claims about a simulation of genmig, parallel-track and swap."""
    known = scenario(strategies=["genmig", "parallel-track", "swap"], claims=list(claims))
    return list(checked(known.claims, simulation))


@pytest.mark.parametrize(
    ("claim", "finding", "measured"),
    [
        ("duration(genmig) = 2 s ± 1%", "holds", "2 s = 2 s, repetition 1"),
        ("duration(genmig) = 2000", "holds", "2 s = 2 s, repetition 1"),
        ("duration(genmig) = 2050 ms ± 1%", "does not hold", "2 s but 2.05 s, repetition 1"),
        ("duration(genmig) = 2050 ms ± 3 %", "holds", "2 s = 2.05 s, repetition 1"),
        ("duration(genmig) < duration(parallel-track) <= 4 s", "holds", None),
        ("duration(genmig) < 2 s", "does not hold", None),
        ("2 * duration(genmig) >= duration(parallel-track)", "holds", None),
        ("1.9*duration(genmig) >= duration(parallel-track)", "does not hold", None),
        ("peak_output( parallel-track ) > 2 * peak_output(new alone)", "holds", None),
        ("state(genmig) <= state(parallel-track) throughout", "holds", None),
        ("state(genmig) > state(parallel-track) throughout", "does not hold", None),
        ("state(genmig) > 10 throughout", "holds", None),
        ("duration(swap) <= 2 s", "not measured", ""),
        ("duration(none) <= 2 s", "not measured", ""),
        ("state(none) <= 2000 throughout", "not measured", ""),
        ("cpu(genmig) > 0", "holds", None),
        ("speed(genmig) < 0.001", "does not hold", None),
    ],
)
def test_claims(simulation: Simulation, claim: str, finding: str, measured: str | None) -> None:
    (found,) = check(simulation, claim)
    assert (found.claim, found.finding) == (claim, finding)
    assert measured is None or found.measured == measured


def test_every_repetition_counts(simulation: Simulation) -> None:
    """But for CPU, where the median does."""
    first, second = simulation.of(BASELINE)
    worse = replace(second, totals=replace(second.totals, peak_state=10**6, cpu=10**6))
    runs = tuple(worse if run is second else run for run in simulation.runs)
    (peak,) = check(replace(simulation, runs=runs), "peak_state(none) < 10000")
    assert (peak.finding, peak.measured) == ("does not hold", "1,000,000 but 10,000, repetition 2")
    (cpu,) = check(replace(simulation, runs=runs), "cpu(none) > 1000")
    assert cpu.finding == "holds"
    assert first.totals.cpu < 1000


def test_what_was_not_run_is_not_measured(simulation: Simulation) -> None:
    fewer = replace(simulation, runs=tuple(one for one in simulation.runs if one.strategy != "genmig"))
    found = check(fewer, "duration(genmig) <= 2 s", "state(genmig) <= state(parallel-track) throughout")
    assert [one.finding for one in found] == ["not measured"] * 2


def test_a_first_look_says_nothing_of_cpu() -> None:
    claims = ["cpu(genmig) < 0", "speed(none) < 0", "duration(genmig) < 5 s"]
    found = simulate(scenario(claims=claims), is_quick=True)
    assert [one.finding for one in found.claims] == ["not measured", "not measured", "holds"]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("duration(genmig)", "expected two sides or more with one of <=, >=, <, >, = between them"),
        ("duration(genmig) <=", "expected two sides or more"),
        ("duraton(genmig) <= 2", "not duraton; did you mean duration?"),
        ("duration(gnmig) <= 2", "not gnmig; did you mean genmig?"),
        ("duration(genmig) <= 2 parsecs", "expected a whole number with a unit"),
        ("duration(genmig) <= 2 ± 1%", "expected ± with = only"),
        ("duration(genmig) <= 2 s throughout", "expected one of state, results, intermediate"),
        ("1 < 2", "expected a figure of a run"),
    ],
)
def test_bad_claims(claim: str, expected: str) -> None:
    with pytest.raises(InputFileError, match=r"claims\[0\]: found ") as caught:
        scenario(claims=[claim])
    assert expected in str(caught.value)


def test_order_is_given_up_where_the_scenario_says_so() -> None:
    given = [{"name": "parallel-track", "ordered": False, "as": "as measured"}, "parallel-track"]
    found = simulate(scenario(strategies=given))
    (overtaking,), (ordered,) = found.of("as measured"), found.of("parallel-track")
    assert (overtaking.verdict, overtaking.is_ordered) == ("unordered", False)
    assert (ordered.verdict, ordered.is_ordered) == ("equal", True)
    assert found.is_equal
    assert overtaking.totals.longest_pause_moving < ordered.totals.longest_pause_moving  # type: ignore[operator]


def test_a_plan_that_means_something_else_is_different_in_any_order() -> None:
    both = {"old": joined("A", "B", "C"), "new": other_meaning()}
    given = [{"name": "parallel-track", "ordered": False}]
    found = simulate(scenario(plans=both, strategies=given, migrations=VOUCHED))
    assert [one.verdict for one in found.of("parallel-track")] == ["different"]


def test_all_is_exchanged_where_the_scenario_says_so() -> None:
    """The same plan again: nothing is exchanged, unless all is."""
    same = {"old": joined("A", "B", "C"), "new": joined("A", "B", "C")}
    given = ["genmig", {"name": "genmig", "whole": True, "as": "all of it"}]
    found = simulate(scenario(plans=same, strategies=given))
    ended = {one.strategy: one.migrations[0].ended for one in found.runs if one.migrations}
    assert ended["genmig"] == 5000
    assert ended["all of it"] == 7000


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"name": "genmig", "ordered": False},
            "strategies[0].ordered: found false, expected order to be given up by",
        ),
        ({"name": "genmig", "as": "none"}, "strategies[0].as: found none, which is a run without migration"),
        ({"name": "genmig", "as": "new alone"}, "strategies[0].as: found new alone, which is"),
        (
            {"name": "genmig", "whol": True},
            "strategies[0].whol: found no such key, expected one of name, as,",
        ),
        ({"as": "x"}, "strategies[0].name: found nothing, expected a value"),
        (3, "strategies[0]: found 3, expected keys with values"),
    ],
)
def test_bad_strategies(given: object, expected: str) -> None:
    with pytest.raises(InputFileError) as caught:
        scenario(strategies=[given])
    assert expected in str(caught.value)
