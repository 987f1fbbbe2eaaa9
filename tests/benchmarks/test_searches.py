"""The benchmark of searches tells for how long elements wait, and judges by the median."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midstream.benchmarks import searches
from midstream.benchmarks.commands import app
from midstream.benchmarks.searches import SearchesRun, longest_delay, measure_searches, show_searches

GOOD = SearchesRun((0.001, 0.002, 0.003), (0.004, 0.006, 0.9), (3, 4, 5))
BAD = SearchesRun((0.001,), (0.0061,), (3,))


def test_a_search_goes_on_over_several_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "BEFORE", 120)
    monkeypatch.setattr(searches, "MEASURED", 400)
    longest, elements = longest_delay(0, searches=True)
    assert longest > 0
    assert 1 <= elements < 400
    assert longest_delay(0, searches=False)[1] == 0
    told: list[tuple[int, int | None]] = []
    run = measure_searches(2, lambda done, total: told.append((done, total)))
    assert len(run.without) == len(run.during) == len(run.elements) == 2
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(("run", "is_good"), [(GOOD, True), (BAD, False)])
def test_the_verdict(
    run: SearchesRun, is_good: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run.is_good is is_good
    console = Console(width=160, record=True)
    show_searches(run, console)
    assert console.export_text().endswith("ms: kept.\n" if is_good else "ms: not kept.\n")
    monkeypatch.setattr(searches, "measure_searches", lambda *_: run)
    done = CliRunner().invoke(app, ["searches", "--output", str(tmp_path / "searches.json")])
    assert done.exit_code == (0 if is_good else 1)
    assert json.loads((tmp_path / "searches.json").read_text())["is_good"] is is_good


def test_bad_input() -> None:
    assert CliRunner().invoke(app, ["searches", "--runs", "0"]).exit_code == 2
