"""What policies cost is told by the report, the chart and the terminal, with the engine and without it."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from simulated import described, joined
from typer.testing import CliRunner

from midstream.cli import app
from midstream.scenarios.reports.terminal import show_sections
from midstream.scenarios.trials.simulator.report_tables import sections
from midstream.scenarios.trials.simulator.results import Simulation
from midstream.scenarios.trials.simulator.scenario import parse_scenario
from midstream.scenarios.trials.simulator.simulating import simulate

POLICIES: list[Any] = ["repeat last best", {"name": "autopilot", "strategy": "auto", "as": "breaks & evens"}]


def text(**changes: Any) -> str:
    """A scenario with policies."""
    plans = {"AB": joined("A", "B", "C"), "BC": joined("B", "C", "A")}
    whole = {"plans": plans, "migrations": [], "strategies": [], "policies": POLICIES, "repetitions": 2}
    return yaml.safe_dump(described(**{**whole, **changes}), sort_keys=False)


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    """Two repetitions."""
    return simulate(parse_scenario("p.yaml", text(), Path()))


def test_the_report_has_tables_and_a_chart(simulation: Simulation) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    from midstream.scenarios.trials.simulator.report import report_html

    page = report_html(simulation)
    assert re.findall(r"<h2>(.*?)</h2>", page)[:2] == ["Policies", "Comparison"]
    assert re.findall(r"<caption>(.*?)</caption>", page)[:2] == [
        "Costs of policies",
        "Results",
    ]
    svg = re.findall(r"<svg.*?</svg>", page, re.DOTALL)[0]
    assert ET.fromstring(svg).get("viewBox")
    assert re.findall(r"#[0-9a-f]{6}\b", svg) == [], "colours are the page's"
    for one in simulation.judged:
        if one.repetition == 0 and one.kind == "policy":
            assert f"{one.total:,} intermediate results, {one.moves} migrations." in page
    assert "breaks &amp; evens" in page
    assert page == report_html(simulation)


def test_without_the_engine_there_are_no_other_sections() -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    from midstream.scenarios.trials.simulator.report import report_html

    page = report_html(simulate(parse_scenario("p.yaml", text(), Path()), is_quick=True))
    assert re.findall(r"<h2>(.*?)</h2>", page) == [
        *("Policies", "Plans", "Scenario", "Made with"),
    ]


def test_the_terminal_has_both_tables(simulation: Simulation) -> None:
    file = io.StringIO()
    show_sections("", sections(simulation), Console(file=file, width=120))
    printed = file.getvalue()
    for one in simulation.policies:
        assert simulation.spread_of(one, "total").median is not None
    assert "AB, all the time" in printed and "hindsight by bucket, moves free" in printed
    assert "Processing, in CPU seconds" in printed and "differs from run to run" in printed


def test_the_command_writes_a_chart(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    file = tmp_path / "p.yaml"
    file.write_text(text(), encoding="utf-8")
    chart, found = tmp_path / "regret.svg", tmp_path / "found.json"
    ran = CliRunner().invoke(
        app, ["simulate", str(file), "--quick", "--chart", str(chart), "--json", str(found)]
    )
    assert ran.exit_code == 0, ran.output
    assert ET.fromstring(chart.read_text(encoding="utf-8")).tag.endswith("svg")
    told = json.loads(found.read_text(encoding="utf-8"))
    assert [one["kind"] for one in told["judged"]] == [
        *("fixed", "fixed", "policy", "policy", "clairvoyant", "hindsight"),
    ]


def test_only_policies_have_such_a_chart(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    file = tmp_path / "p.yaml"
    file.write_text(text(policies=[]), encoding="utf-8")
    ran = CliRunner().invoke(app, ["simulate", str(file), "--chart", str(tmp_path / "regret.svg")])
    assert ran.exit_code == 2
    assert "--chart: found no policies in small" in ran.output.replace("\n", " ")
