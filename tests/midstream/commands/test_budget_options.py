"""`midstream run --memory --processor`: what it adjusts, prints, writes and draws, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner, Result

from midstream.autopilot.budget_records import BudgetRecord, Change, Measured
from midstream.autopilot.budget_terms import BudgetTerms
from midstream.cli import app
from midstream.commands import budget_chart
from midstream.optimizer.allocation.curves import Use
from midstream.optimizer.allocation.limits import Limits

SQL = """
SET time_unit = 'milliseconds';
CREATE STREAM a(t TIMESTAMP, k INT) ORDERED BY t;
CREATE STREAM b(t TIMESTAMP, j INT) ORDERED BY t;
SELECT k FROM a WINDOW(RANGE MIN 2 SECONDS, MAX 30 SECONDS), b WINDOW(RANGE MIN 2 SECONDS, MAX 30 SECONDS)
WHERE k = j;
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    chance = Random(1)
    for name, column in (("a", "k"), ("b", "j")):
        rows = [f"{t},{chance.randrange(50)}" for t in range(0, 120_000, 40)]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"t,{column}", *rows]))
    (tmp_path / "q.sql").write_text(SQL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*given: str) -> Result:
    sources = [word for name in "ab" for word in ("--source", f"{name}={name}.csv")]
    return CliRunner().invoke(app, ["run", "q.sql", *sources, *given])


def test_adjustments_are_told_and_fewer_results_come(folder: Path) -> None:
    plain, within = run(), run("--memory", "60kB")
    assert (plain.exit_code, within.exit_code) == (0, 0), within.output
    told = [line for line in within.stderr.splitlines() if line.startswith("budget: ")]
    assert told and all("window of source" in line for line in told)
    assert plain.stderr == ""
    assert 0 < len(within.stdout.splitlines()) < len(plain.stdout.splitlines())


def test_a_large_budget_changes_nothing(folder: Path) -> None:
    within, plain = run("--memory", "1GB"), run()
    assert sorted(within.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    assert within.stderr == ""


def test_looks_in_a_file_and_a_chart(folder: Path) -> None:
    options = ["--memory", "60kB", "--processor", "90%", "--reserve", "20%", "--every", "3s"]
    result = run(*options, "--budget-decisions", "d.jsonl", "--budget-chart", "c.svg", "--output", "o.jsonl")
    assert result.exit_code == 0, result.output
    assert "budget:" not in result.stderr
    records = [json.loads(line) for line in (folder / "d.jsonl").read_text().splitlines()]
    assert {"stay", "adjust"} <= {record["event"] for record in records}
    assert {record["limits"]["memory"] for record in records} == {60_000}
    assert all(record["resident"] is None or record["resident"] > 2**20 for record in records)
    assert {record["target"]["memory"] for record in records} == {48_000}
    assert all(2_000 <= change["after"] <= 30_000 for record in records for change in record["changes"])
    svg = (folder / "c.svg").read_text()
    assert all(text in svg for text in ("memory, MB", "of a processor, %", "precision,"))


def test_a_budget_and_an_autopilot_share_a_run(folder: Path) -> None:
    result = run(
        "--memory", "60kB", "--autopilot", "eager", "--decisions", "a.jsonl", "--budget-decisions", "b.jsonl"
    )
    assert result.exit_code == 0, result.output
    assert (folder / "a.jsonl").exists() and (folder / "b.jsonl").read_text()


def record(at: int, memory: float, limits: Limits, **more: object) -> BudgetRecord:
    use = Use(memory, 100.0, memory / 100)
    return BudgetRecord(
        at, "adjust" if more else "stay", BudgetTerms(limits), use, use, Measured(10, memory), 0.5, **more
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "limits", [Limits(memory=1e6), Limits(processor=300.0), Limits(memory=1e6, processor=300.0)]
)
def test_a_chart_has_a_picture_of_each_limit(limits: Limits) -> None:
    change = Change("window of source a", 5, 3)
    records = [record(0, 1e5, limits), record(50, 9e5, limits, changes=(change,), complete_at=80)]
    svg = budget_chart.draw(records, ".svg").decode()
    assert ("memory, MB" in svg) == (limits.memory == 1e6)
    assert ("of a processor" in svg) == (limits.processor == 300.0)
    assert svg == budget_chart.draw(records, ".svg").decode()


def test_a_chart_without_looks_is_empty() -> None:
    assert "no looks" in budget_chart.draw([], ".svg").decode()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--memory", "lots"], "--memory: found 'lots' (str), expected bytes"),
        (["--memory", "0"], "--memory: found 0"),
        (["--processor", "300%"], "--processor: found '300%'"),
        (["--processor", "0.3"], "--processor: found '0.3' (str), expected a share of one processor"),
        (["--memory", "1MB", "--reserve", "all"], "--reserve: found 'all'"),
        (["--memory", "1MB", "--reserve", "100%"], "reserve: found 1"),
        (["--memory", "1MB", "--budget-chart", "c.txt"], "--budget-chart: found c.txt, expected a file in"),
        (["--budget-chart", "c.svg"], "need --memory, --processor or both"),
        (["--budget-decisions", "d.jsonl"], "need --memory, --processor or both"),
        (["--memory", "1MB", "--budget-decisions", "a.csv"], "--budget-decisions"),
    ],
)
def test_what_is_no_budget(folder: Path, given: list[str], message: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(*given)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
