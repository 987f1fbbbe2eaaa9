"""The benchmark of budgets measures what it says, and judges it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midstream.autopilot.managing import ResourceManager
from midstream.benchmarks import budgets
from midstream.benchmarks.budgets import BudgetRun, ManyTimes, measure_budgets, show_budgets
from midstream.benchmarks.commands import app
from midstream.scenarios.trials.costs.forecast_errors import LevelError
from midstream.scenarios.trials.simulator.scenario import load_scenario, parse_scenario

LEVELS = (LevelError(1, 300, 101.0, 100.0), LevelError(2, 100, 102.0, 100.0), LevelError(3, 9, 97.5, 100.0))
TIMES = ManyTimes(5_000, 12_500, 0.01, 2.0, 9.0, 1.5)
GOOD = BudgetRun((0.2, 0.1), 10.0, LEVELS, TIMES)


def test_a_small_run() -> None:
    text = load_scenario("figure-24-6").text
    text = text[: text.index("claims:")].replace("queries: 500", "queries: 20").replace("30 MB", "2 MB")
    told: list[tuple[int, int]] = []
    look = ResourceManager.look
    run = measure_budgets(30, parse_scenario("small.yaml", text, Path()), lambda *step: told.append(step))
    assert ResourceManager.look is look
    assert told == [(1, 2), (2, 2)]
    assert len(run.looks) >= 5 and 0 < sum(run.looks) < run.total
    assert [one.level for one in run.errors] == [1, 2, 3]
    assert run.times.queries == 30 and run.times.windows > 50
    assert min(run.times.adjust_one, run.times.adjust_all, run.times.first, run.times.later) > 0
    assert run.times.later < run.times.first
    assert json.loads(json.dumps(run.as_dict()))["many"]["queries"] == 30


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, ()),
        ({"looks": (0.3, 0.3)}, ("share",)),
        ({"errors": ()}, ("growth",)),
        ({"errors": (*LEVELS[:2], LevelError(3, 9, 104.0, 100.0))}, ("growth",)),
        ({"times": replace(TIMES, adjust_one=0.04)}, ("adjust_one",)),
        ({"times": replace(TIMES, adjust_all=3.1)}, ("adjust_all",)),
        ({"times": replace(TIMES, first=11.0, later=2.5)}, ("first", "later")),
    ],
)
def test_the_verdict(changes: dict[str, Any], broken: tuple[str, ...]) -> None:
    run = replace(GOOD, **changes)
    assert run.broken == broken
    assert run.is_good is (not broken)


def test_the_tables() -> None:
    console = Console(width=120, record=True)
    show_budgets(GOOD, console)
    text = console.export_text()
    assert "2 looks took 0.30 s of 10.00 s: 3.0%" in text
    assert "All marks are kept." in text and "-2.5%" in text and "12,500 windows" in text


def test_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[int] = []

    def measured(queries: int, *_: Any) -> BudgetRun:
        asked.append(queries)
        return GOOD if queries == 5_000 else replace(GOOD, looks=(9.0,))

    monkeypatch.setattr(budgets, "measure_budgets", measured)
    output = tmp_path / "budgets.json"
    assert CliRunner().invoke(app, ["budgets", "--json", "--output", str(output)]).exit_code == 0
    assert json.loads(output.read_text())["broken"] == []
    assert CliRunner().invoke(app, ["budgets", "--queries", "7"]).exit_code == 1
    assert CliRunner().invoke(app, ["budgets", "--queries", "0"]).exit_code == 2
    assert asked == [5_000, 7]
