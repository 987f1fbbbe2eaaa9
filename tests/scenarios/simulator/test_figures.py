"""Figures of the thesis as scenarios: what they claim holds, and their parameters are those of the thesis."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from midstream.scenarios.trials.simulator.results import Simulation
from midstream.scenarios.trials.simulator.scenario import load_scenario, parse_scenario
from midstream.scenarios.trials.simulator.simulating import simulate


def figure(name: str, **smaller: str) -> Simulation:
    """A figure's scenario, run once, with some texts replaced by others; double underscores are spaces."""
    folder = Path(str(resources.files("midstream.scenarios.trials.simulator") / "scenarios"))
    text = load_scenario(name).text
    for whole, part in smaller.items():
        assert whole in text, whole
        text = text.replace(whole, part)
    once = re.sub(r"runs: \d", "runs: 1", text)
    return simulate(parse_scenario(f"{name}.yaml", once, folder))


def check(simulation: Simulation, least: int) -> None:
    """All claims hold but those of CPU, which are for whoever runs the scenario."""
    assert {one.verdict for one in simulation.compared} == {"equal"}
    claims = [one for one in simulation.claims if "cpu" not in one.claim and "speed" not in one.claim]
    assert len(claims) >= least
    assert {one.finding for one in claims} == {"holds"}, claims


def test_figure_24_1() -> None:
    simulation = figure("figure-24-1", **{"rate: 20": "rate: 5"})
    check(simulation, 8)
    (one,) = simulation.runs
    state = one.series.state[: one.series.state.index(max(one.series.state)) + 40]
    assert (
        state[15]
        == state[21]
        > state[24]
        > state[26]
        > state[27]
        == state[35]
        < state[38]
        < state[41]
        == state[50]
    )


def test_figure_24_2() -> None:
    check(figure("figure-24-2"), 8)


def test_figures_24_3_to_24_5() -> None:
    check(figure("figure-24-3"), 9)


def test_memory_by_precision_as_in_section_5_1_of_stream() -> None:
    check(figure("stream-5-1"), 5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "claims"),
    {
        "14-2": 5,
        "14-3": 7,
        "14-4": 6,
        "14-5": 3,
        "14-6": 3,
        "14-8": 7,
        "14-9": 2,
        "14-10": 3,
        "14-11": 4,
    }.items(),
)
def test_figures_of_chapter_14(name: str, claims: int) -> None:
    check(figure(f"figure-{name}"), claims)


@pytest.mark.slow
def test_figure_24_6() -> None:
    """Some minutes of computing: twice 575 queries over 50 streams."""
    simulation = figure("figure-24-6")
    check(simulation, 9)
    small, large = simulation.runs
    assert small.series.queries[0] == 500 and small.series.queries[-1] == 575
    assert max(one.levers for one in small.adjustments) > 1_000
    # More is kept free where the reserve is larger, once all is as it should be.
    held = [sum(size or 0 for size in one.series.bytes[20:-1]) for one in (small, large)]
    assert held[0] > held[1]
