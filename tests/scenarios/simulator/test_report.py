"""The report of a simulation is one page that needs nothing else, and says what was measured."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pages import Page
from simulated import scenario

from midstream.io import ConnectorError, requirements
from midstream.plans.values.errors import MissingExtra
from midstream.scenarios.reports import pictures
from midstream.scenarios.trials.simulator.report import report_html, write_report
from midstream.scenarios.trials.simulator.results import BASELINE, Run, Simulation
from midstream.scenarios.trials.simulator.simulating import simulate

needs_matplotlib = pytest.mark.skipif(
    find_spec("matplotlib") is None, reason="needs matplotlib: pip install 'midstream[plot]'"
)
CLOCKS = {
    "cpu": 1.0,
    "cpu_beginning": 0.1,
    "cpu_ending": 0.1,
    "cpu_moving": 0.5,
    "cpu_window_old_alone": 0.2,
    "cpu_window_new_alone": 0.3,
    "cpu_ratio": 1.0,
    "speed": 10.0,
    "speed_before": 5.0,
    "speed_moving": 2.0,
    "speed_after": 20.0,
}


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    """Two repetitions of a migration, which one strategy refuses."""
    return simulate(scenario(repetitions=2, strategies=["genmig", "parallel-track", "swap"]))


@pytest.fixture(scope="module")
def page(simulation: Simulation) -> str:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    return report_html(simulation)


def test_the_page_needs_nothing_else(page: str) -> None:
    Page(page).check_it_needs_nothing_else()
    assert not re.search(r"@import|url\((?!#)", page)


def test_references_lead_somewhere(page: str) -> None:
    ids = {attributes.get("id") for _, attributes in Page(page).elements}
    assert set(re.findall(r'(?:href="|url\()#([\w-]+)', page)) <= ids


def test_pictures_are_well_formed_and_described(page: str) -> None:
    drawn = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawn) == 5
    for svg in drawn:
        root = ET.fromstring(svg)
        assert root.get("role") == "img"
        label = root.get("aria-label") or ""
        assert "genmig: " in label and "parallel-track: " in label
        assert root.get("viewBox") and root.get("width") is None
    assert page.count("<figcaption>") == 5


def test_colours_are_the_page_s(page: str) -> None:
    """What is drawn in a colour of its own would not be seen on a dark ground."""
    drawn = "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    assert re.findall(r"#[0-9a-f]{6}\b", drawn) == []
    used = set(re.findall(r"var\(--([\w-]+)\)", page))
    declared = re.findall(r"--([\w-]+): #", page)
    assert used <= set(declared)
    assert declared[: len(declared) // 2] == declared[len(declared) // 2 :], "light and dark"


def test_the_page_says_what_was_measured(page: str, simulation: Simulation) -> None:
    text = Page(page).text
    for strategy in ("genmig", "parallel-track", "swap", "new alone"):
        assert strategy in text
    refusal = simulation.of("swap")[0].refused
    assert refusal is not None and f"was refused: {' '.join(refusal.split())}" in text
    (moved,) = simulation.of("genmig")[0].migrations
    assert f"{moved.peak_old:,}" in text and "✓ equal" in text and "– refused" in text
    assert "7 s" in text and "5 s" in text, "the split time and the beginning"
    assert " ".join(simulation.text.split()) in text
    for tree in simulation.plans.values():
        assert " ".join(tree.split()) in text
    for version in simulation.versions.values():
        assert version in text


def test_the_same_bytes_again(page: str, simulation: Simulation) -> None:
    import matplotlib as mpl

    with mpl.rc_context(
        {"lines.linewidth": 9, "font.size": 30, "svg.fonttype": "path", "xtick.direction": "in"}
    ):
        assert report_html(simulation) == page
        assert mpl.rcParams["font.size"] == 30


@pytest.mark.slow
@needs_matplotlib
def test_times_of_the_machine_are_all_that_differs(simulation: Simulation) -> None:
    again = simulate(scenario(repetitions=2, strategies=["genmig", "parallel-track", "swap"]))
    assert report_html(timeless(again)) == report_html(timeless(simulation))


def timeless(simulation: Simulation) -> Simulation:
    """A simulation whose processing took what does not depend on the machine."""

    def run(one: Run) -> Run:
        cpu = tuple(float(i) for i, _ in enumerate(one.series.cpu))
        fixed = {key: value for key, value in CLOCKS.items() if getattr(one.totals, key) is not None}
        return replace(one, series=replace(one.series, cpu=cpu), totals=replace(one.totals, **fixed))

    compared = tuple(
        replace(one, figures={k: v for k, v in one.figures.items() if k not in CLOCKS})
        for one in simulation.compared
    )
    return replace(simulation, runs=tuple(map(run, simulation.runs)), compared=compared)


@needs_matplotlib
def test_everything_is_escaped(simulation: Simulation) -> None:
    nasty = '<b title="x">&amp;</b> $\\frac$'
    wicked = replace(
        simulation,
        name=nasty,
        description=nasty,
        text=nasty,
        unit=nasty,
        plans={nasty: nasty},
        versions={nasty: nasty},
        runs=tuple(renamed(one, nasty) for one in simulation.runs),
        compared=tuple(
            replace(one, strategy=one.strategy.replace("genmig", nasty), refused=nasty)
            for one in simulation.compared
        ),
    )
    text = report_html(wicked)
    assert nasty not in text
    found = Page(text)
    assert "b" not in {tag for tag, attributes in found.elements if attributes}
    for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        assert nasty in (ET.fromstring(svg).get("aria-label") or "")


def renamed(run: Run, name: str) -> Run:
    """A run with another name for a strategy, a plan, and all else that is text."""
    migrations = tuple(replace(one, to=name, reason=name, condition=name) for one in run.migrations)
    return replace(
        run,
        strategy=run.strategy.replace("genmig", name),
        migrations=migrations,
        differences=(name,),
    )


@needs_matplotlib
@pytest.mark.parametrize(
    ("second", "duration"),
    [
        (1000, "10 s"),
        *(
            pytest.param(second, duration, marks=pytest.mark.slow)
            for second, duration in ((100_000, "100 ms"), (10, "16.67 min"), (1, "2.778 h"))
        ),
    ],
)
def test_times_are_told_in_a_unit_that_fits(simulation: Simulation, second: int, duration: str) -> None:
    assert f"duration {duration} repetitions" in Page(report_html(replace(simulation, second=second))).text


@needs_matplotlib
def test_differences_are_told(simulation: Simulation) -> None:
    runs = tuple(
        replace(one, verdict="different", differences=("payload (7,) is there twice",))
        if one.strategy == "genmig"
        else one
        for one in simulation.runs
    )
    compared = tuple(
        replace(one, verdict="different") if one.strategy == "genmig" else one for one in simulation.compared
    )
    text = Page(report_html(replace(simulation, runs=runs, compared=compared))).text
    assert "✗ different" in text and "payload (7,) is there twice" in text


@needs_matplotlib
@pytest.mark.parametrize(
    "changes",
    [
        {"strategies": ["swap"]},
        {"migrations": []},
        {"streams": {name: {"columns": {"k": {"values": "sequence"}},
                            "arrivals": {"process": "constant", "rate": 0}} for name in "ABC"}},
        {"migrations": [{"at": "2 s", "to": "new"}, {"at": "3 s", "to": "old"}]},
        pytest.param({"migrations": [{"at": "2 s", "to": "new"}, {"at": "3 s", "to": "old"}],
                      "strategies": ["genmig-reference-point"]}, marks=pytest.mark.slow),
    ],
    ids=["all refused", "no migration", "no elements", "two at once", "two, with starts"],
)  # fmt: skip
def test_odd_simulations_have_reports(changes: dict[str, Any]) -> None:
    found = simulate(scenario(**changes))
    text = report_html(found)
    Page(text)
    assert text.count("<svg") == (5 if any(one.migrations for one in found.runs) else 1)


@needs_matplotlib
def test_a_strategy_has_one_colour(simulation: Simulation) -> None:
    from midstream.scenarios.trials.simulator import charts

    colors = charts.colors(simulation)
    assert list(colors) == ["genmig", "parallel-track"]
    assert len(set(colors.values())) == 2
    assert BASELINE not in colors and set(colors.values()) <= set(pictures.PAGE_COLORS)


@needs_matplotlib
def test_who_migrated_once_is_drawn_though_refused_later(simulation: Simulation) -> None:
    from midstream.scenarios.trials.simulator import charts

    later = replace(simulation, runs=tuple(replace(one, refused="later") for one in simulation.runs))
    assert [one.strategy for one in charts.drawn_runs(later)] == ["genmig", "parallel-track"]
    labels = [line.get_label() for line in charts.costs(later).axes[0].lines]
    assert labels == ["genmig", "parallel-track"]


@needs_matplotlib
def test_what_is_cut_off_is_told(simulation: Simulation) -> None:
    from midstream.scenarios.trials.simulator import charts

    texts = [text.get_text() for axes in charts.output(simulation).axes for text in axes.texts]
    largest = max(simulation.of("parallel-track")[0].series.results) / (simulation.every / simulation.second)
    assert f"▲ {largest:,.0f}" in texts


@needs_matplotlib
def test_charts_have_the_scenario_s_titles_and_claims_are_told() -> None:
    found = simulate(
        scenario(
            captions={"output": "Figure 1 <as it was>", "costs": "Figure 3"},
            claims=["duration(genmig) = 2 s", "duration(genmig) < 1 s", "duration(none) < 1 s"],
        )
    )
    page = Page(report_html(found))
    assert "Figure 1 <as it was>" in page.text and "Figure 3" in page.text
    assert "Output" not in page.texts and "State" in page.texts
    assert "duration(genmig) = 2 s 2 s = 2 s ✓ holds" in page.text
    assert "duration(genmig) < 1 s 2 s but 1 s ✗ does not hold" in page.text
    assert "duration(none) < 1 s – not measured" in page.text


@needs_matplotlib
def test_written_to_a_file(simulation: Simulation, page: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    write_report(simulation, file)
    assert file.read_text(encoding="utf-8") == page
    with pytest.raises(ConnectorError, match=r"no/report\.html: No such file"):
        write_report(simulation, tmp_path / "no" / "report.html")


def test_without_matplotlib(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'found no matplotlib.*pip install "midstream\[plot\]"'):
        report_html(simulation)
