"""`python -m midstream.benchmarks charts`: what it says, and when it is content."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midstream.benchmarks.charts import ChartsRun, measure_charts, show_charts
from midstream.benchmarks.commands import app
from midstream.optimizer.charts.fidelity import Followed
from midstream.scenarios.trials.fidelity.experiments import three_orders
from midstream.scenarios.trials.fidelity.following import Fidelity
from midstream.scenarios.trials.fidelity.running import TREES, FidelityComparison, compare_with_grid, parts


def headline(at_ten: int = 80, at_forty: int = 95, of_tree: float = 0.9) -> ChartsRun:
    followed = [
        Fidelity("two filters", "within a quarter", "as they are", "given", k, Followed(100, hits, 7, 3), 1)
        for k, hits in ((10, at_ten), (40, at_forty))
    ]
    return ChartsRun(1, tuple(followed), (FidelityComparison(3, 4, 64, 0.8, of_tree, 9),))


def test_it_is_content_with_the_headline_and_trees_that_beat_grids() -> None:
    assert headline().is_good
    assert headline(78, 97).is_good
    assert not headline(76).is_good
    assert not headline(at_forty=99).is_good
    assert not headline(of_tree=0.8).is_good
    other = tuple(replace(one, trace="uncorrelated") for one in headline().followed)
    assert not replace(headline(), followed=other).is_good


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    show_charts(headline(), Console(width=80))
    shown = capsys.readouterr().out
    assert [word in shown for word in ("80 %", "95 %", "7/3", "as they are, given")] == [True] * 4
    assert "two filters, within a quarter" in shown
    assert "k = 10" in shown and "k = 40" in shown
    assert "90 %" in shown


def test_json_has_all_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midstream.benchmarks.charts.measure_charts", lambda *_, **__: headline())
    result = CliRunner().invoke(app, ["charts", "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["format"], told["followed"][0]["fidelity"]) == ("midstream-fidelity", 0.8)
    assert told["followed"][1]["followed"] == {"rounds": 100, "hits": 95, "moves": 7, "switches": 3}
    assert told["trees"][0]["questions"] == 64


def test_a_picture_has_a_panel_for_each_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    monkeypatch.setattr("midstream.benchmarks.charts.measure_charts", lambda *_, **__: headline())
    file = tmp_path / "charts.svg"
    result = CliRunner().invoke(app, ["charts", "--chart", str(file)])
    assert result.exit_code == 0, result.output
    assert file.read_text().rstrip().endswith("</svg>")


def test_a_run_that_is_not_content_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midstream.benchmarks.charts.measure_charts", lambda *_, **__: headline(50))
    assert CliRunner().invoke(app, ["charts"]).exit_code == 1


def test_the_same_seed_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[int, int]] = []
    trees = [lambda: compare_with_grid(three_orders(), 2, points=50)]
    monkeypatch.setattr("midstream.benchmarks.charts.parts", lambda *_, **__: iter(trees))
    one, other = (measure_charts(None, 1, is_quick=True, tell=lambda *d: heard.append(d)) for _ in range(2))
    assert one == other and one.trees
    assert heard == [(1, 1)] * 2


def test_a_whole_run_has_all_traces(tmp_path: Path) -> None:
    """Nothing is run, but what is recorded is read."""
    (tmp_path / "splus_net_packet").mkdir()
    rows = "ts_ms,seq,type,length\n0,1,TCP,64\n1,2,XWIN,\n2,3,NFS,\n"
    (tmp_path / "splus_net_packet" / "packets.csv").write_text(rows)
    counts = [len(list(parts(data, 1, is_quick=False))) for data in (None, tmp_path)]
    assert counts == [2 * 3 + len(TREES), 2 * 4 + len(TREES)]
