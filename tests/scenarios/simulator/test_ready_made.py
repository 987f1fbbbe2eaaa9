"""The scenarios that come with Midstream show what their descriptions promise; long ones in a first look."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.trials.simulator.results import BASELINE, Run, Simulation, alone
from midstream.scenarios.trials.simulator.scenario import load_scenario, packaged, parse_scenario
from midstream.scenarios.trials.simulator.simulating import simulate

OF_THE_THESIS = {"chapter-30", "example-28-1", "nexmark-q5"}
OF_CHANGES = {"selectivity-flip", "rate-burst", "slow-input"}
CHAPTER_14 = (f"14-{i}" for i in (2, 3, 4, 5, 6, 8, 9, 10, 11))
FIGURES = {"stream-5-1", *(f"figure-{n}" for n in ("24-1", "24-2", "24-3", "24-6", *CHAPTER_14))}
RECORDED = {"real-flights", "real-packets", "real-roads", "real-sales"}
POLICIES = {
    f"policies-{name}"
    for name in (
        *("flip", "burst", "drift", "flips"),
        *("periodic-50", "periodic-100", "stationary-150", "stationary-16"),
    )
}
RECORDED_POLICIES = {f"policies-{name}" for name in ("roads", "flights", "packets")}
WITHOUT_JOIN_TREE = {"example-28-1", "nexmark-q5", "real-sales"}


def run(name: str, data: Path | None = None, *, is_quick: bool = False) -> Simulation:
    """One repetition of a scenario."""
    scenario = load_scenario(name, data)
    measures = scenario.spec.measures.model_copy(update={"runs": 1})
    changes = {"repetitions": 1, "measures": measures}
    once = replace(scenario, spec=scenario.spec.model_copy(update=changes))
    return simulate(once, is_quick=is_quick)


def only(simulation: Simulation, strategy: str) -> Run:
    """The only run of a strategy."""
    (found,) = simulation.of(strategy)
    return found


def check(name: str, simulation: Simulation, *, is_quick: bool = False) -> None:
    """What holds of all: verdicts, who is refused, and what is claimed but of CPU."""
    refused = {"genmig-reference-point", "parallel-track"} if name in WITHOUT_JOIN_TREE else set()
    verdicts = {one.strategy: one.verdict for one in simulation.compared}
    given_up = {one.name for one in load_scenario(name).variants if not one.is_ordered}
    for strategy, verdict in verdicts.items():
        # In a first look, results are so few that they may be in order where nobody sees to that.
        others = {"unordered", "equal"} if is_quick else {"unordered"}
        right = {"refused"} if strategy in refused else others if strategy in given_up else {"equal"}
        assert verdict in right, strategy
    assert only(simulation, BASELINE).totals.results > 0
    for one in simulation.runs:
        assert all(move.phase == "done" for move in one.migrations)
    claims = [one for one in simulation.claims if "cpu" not in one.claim and "speed" not in one.claim]
    assert len(claims) >= 5
    findings = {"holds", "not measured"} if is_quick else {"holds"}
    assert {one.finding for one in claims} <= findings, claims


def test_these_are_ready() -> None:
    ready = packaged()
    of_policies = POLICIES | RECORDED_POLICIES
    assert set(ready) == OF_THE_THESIS | OF_CHANGES | RECORDED | FIGURES | of_policies
    for name, line in ready.items():
        scenario = load_scenario(name)
        assert scenario.spec.name == name
        assert line.endswith(".") and "Look at" in scenario.spec.description


@pytest.mark.parametrize(
    "name",
    [
        "example-28-1",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in sorted(OF_THE_THESIS | OF_CHANGES)
            if name != "example-28-1"
        ),
    ],
)
def test_a_first_look(name: str) -> None:
    found = run(name, is_quick=True)
    check(name, found, is_quick=True)
    if not load_scenario(name).steps[0].condition:  # what is measured of a tenth may never meet it
        assert all(
            one.migrations
            for one in found.runs
            if one.verdict != "refused" and one.strategy in found.compared_strategies
        )


def test_example_28_1() -> None:
    found = run("example-28-1")
    check("example-28-1", found)
    refusal = only(found, "parallel-track").refused
    assert refusal is not None and "unsound over distinct" in refusal
    (moved,) = only(found, "genmig").migrations
    assert (moved.asked, moved.split, moved.ended) == (40, 122, 122)
    assert (moved.results_old, moved.results_new, moved.results_fused) == (2, 0, 0)
    assert moved.unmatched == 0


@pytest.mark.slow
def test_selectivity_flip() -> None:
    """The optimizer finds another plan, and it is better from then on."""
    found = run("selectivity-flip")
    check("selectivity-flip", found)
    (moved,) = only(found, "genmig").migrations
    assert moved.plan != found.plans["A and B first"]
    assert 20_000 < moved.asked < 70_000
    first = moved.ended // found.every + 1
    stayed = only(found, BASELINE).series.intermediate[first:]
    assert sum(only(found, "genmig").series.intermediate[first:]) < 0.7 * sum(stayed)


@pytest.mark.slow
def test_rate_burst() -> None:
    found = run("rate-burst")
    check("rate-burst", found)
    peaks = [only(found, name).totals.peak_state for name in (BASELINE, "genmig", "parallel-track")]
    assert peaks == sorted(peaks) and peaks[2] > 2 * peaks[0]


@pytest.mark.slow
def test_slow_input() -> None:
    found = run("slow-input")
    check("slow-input", found)
    stayed = only(found, BASELINE)
    assert stayed.totals.longest_pause > 13_000
    for name in found.compared_strategies:
        assert all(move.ended >= 45_000 for move in only(found, name).migrations)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(RECORDED))
def test_recorded(name: str, shared_data: Path) -> None:
    found = run(name, shared_data)
    check(name, found)
    assert found.repetitions == 1
    assert only(found, "genmig").migrations
    assert only(found, "genmig").series.results == only(found, BASELINE).series.results


def judged(name: str, without: Collection[str] = (), data: Path | None = None) -> Simulation:
    """What policies cost in one repetition, by replay, each from the first plan only."""
    scenario = load_scenario(name, data)
    policies = tuple(
        replace(one, start=scenario.start) for one in scenario.policies if one.name not in without
    )
    spec = scenario.spec.model_copy(update={"repetitions": 1})
    found = simulate(replace(scenario, spec=spec, policies=policies), is_quick=True)
    assert found.unpriced is None and not found.runs
    assert sum(one.finding == "holds" for one in found.claims) >= 2
    others = [one for one in found.claims if one.finding != "holds"]
    assert all(one.finding == "not measured" and any(name in one.claim for name in without) for one in others)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(POLICIES - {"policies-periodic-100", "policies-stationary-150"}))
def test_policies_cost_what_is_claimed(name: str) -> None:
    judged(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fixed", "cheapest", "without"),
    [
        ("policies-roads", {7752, 8679, 2960}, 776, ()),
        ("policies-flights", {9784, 12056, 7674}, 7509, ("autopilot", "clairvoyant")),
        ("policies-packets", {2947, 2267, 564}, 165, ()),
    ],
)
def test_policies_on_recorded_streams(
    name: str, fixed: set[int], cheapest: int, without: Collection[str], shared_data: Path
) -> None:
    """As the cases of recorded streams have them; on the roads, what filters leave out delays migrations."""
    found = judged(name, without, shared_data)
    assert {one.total for one in found.judged if one.policy.endswith(alone(""))} == fixed
    assert found.costs_of("clairvoyant by GenMig")[0].total == cheapest


@pytest.mark.slow
def test_policies_with_the_engine() -> None:
    """The beginning of the flip, around which policies move."""
    text = load_scenario("policies-flip").text
    shorter = (
        text.replace("200 s", "16 s").replace("100 s", "8 s").replace("repetitions: 5", "repetitions: 1")
    )
    found = simulate(parse_scenario("shorter.yaml", shorter, Path()))
    assert found.is_equal
    assert all(one.verdict == "equal" and one.figures["cpu"].median for one in found.compared)
    assert all(one.counted == one.total for one in found.judged if one.policy != "hindsight")
    assert found.costs_of("autopilot")[0].migrations


@pytest.mark.parametrize("name", sorted(RECORDED | RECORDED_POLICIES))
def test_a_recording_that_is_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"found no such file, expected the recording .* --data"):
        run(name, tmp_path)
