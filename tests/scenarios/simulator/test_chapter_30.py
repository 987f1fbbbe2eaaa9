"""The experiment of the thesis (chapter 30), with a quarter of the elements, and of their numbers.

What is said of CPU is not checked here; docs/chapter-30.md has what was measured.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from midstream.scenarios.trials.simulator.results import BASELINE, Run, Simulation
from midstream.scenarios.trials.simulator.scenario import load_scenario, parse_scenario
from midstream.scenarios.trials.simulator.simulating import simulate

UNORDERED = "parallel-track-unordered"


@pytest.fixture(scope="module")
def found() -> Simulation:
    """Everything, on a quarter: as many agree. Once is enough, where nothing is said of CPU."""
    folder = Path(str(resources.files("midstream.scenarios.trials.simulator") / "scenarios"))
    text = load_scenario("chapter-30").text
    quarters = (("500}", "125}"), ("1000}", "250}"), ("rate: 100", "rate: 25"), ("5000", "1250"))
    for whole, part in (*quarters, ("runs: 3", "runs: 1")):
        assert whole in text
        text = text.replace(whole, part)
    return simulate(parse_scenario("chapter-30.yaml", text, folder))


def only(simulation: Simulation, strategy: str) -> Run:
    """The only run of a strategy."""
    (one,) = simulation.of(strategy)
    return one


def test_the_parameters_are_those_of_the_thesis() -> None:
    scenario = load_scenario("chapter-30")
    for name, high in (("A", 500), ("B", 500), ("C", 1000), ("D", 1000)):
        stream = scenario.spec.streams[name]
        assert (stream.count, stream.arrivals.rate) == (5000, 100)  # type: ignore[union-attr]
        (values,) = stream.columns.values()
        assert (values.low, values.high) == (0, high)  # type: ignore[union-attr]
    (step,) = scenario.steps
    assert (scenario.start, step.to, step.at) == ("left-deep", "right-deep", 20_000)
    for plan in scenario.plans.values():
        assert str(plan).count("window 10000") == 4
        assert str(plan).count("nested-loops-join") == 3


@pytest.mark.slow
def test_the_claims_hold(found: Simulation) -> None:
    claims = [one for one in found.claims if "cpu" not in one.claim and "speed" not in one.claim]
    assert len(claims) >= 15
    assert {one.finding for one in claims} == {"holds"}, claims


@pytest.mark.slow
def test_results_mean_the_same(found: Simulation) -> None:
    verdicts = {one.strategy: one.verdict for one in found.compared}
    assert verdicts.pop(UNORDERED) == "unordered"
    assert set(verdicts.values()) == {"equal"}


@pytest.mark.slow
def test_figure_30_1(found: Simulation) -> None:
    """GenMig gives what the old plan would; parallel track gives less until 30 s, nothing until 40 s, and
    then everything."""
    stayed = only(found, BASELINE).series.results
    for genmig in ("genmig", "genmig-reference-point"):
        assert only(found, genmig).series.results == stayed
    track = only(found, UNORDERED)
    assert 39_900 <= (track.migrations[0].ended or 0) <= 40_100
    given = track.series.results
    assert given[:20] == stayed[:20]
    first, second = sum(given[20:25]), sum(given[25:30])
    assert sum(stayed[20:25]) > first > second > 0
    assert sum(given[30:40]) == 0
    assert given[40] >= sum(stayed[30:40])
    assert given[41:] == stayed[41:]
    ordered = only(found, "parallel-track").series.results
    assert sum(ordered[25:40]) == 0, "the silence begins earlier where results stay in order"


@pytest.mark.slow
def test_figure_30_2(found: Simulation) -> None:
    """GenMig keeps less than parallel track as long as both migrate, and the same before."""
    genmig, track = (only(found, name).series.state for name in ("genmig", UNORDERED))
    assert genmig[:20] == track[:20]
    assert all(less < more for less, more in zip(genmig[20:30], track[20:30], strict=True))
    assert max(track) > max(genmig)


@pytest.mark.slow
def test_the_new_plan_is_the_better_one(found: Simulation) -> None:
    """Why one moves: what Figure 30.3 shows as a steeper slope."""
    left, right = (only(found, name).totals.intermediate for name in (BASELINE, "right-deep alone"))
    assert 1.5 * right < left
