"""`midstream run --autopilot`: what it prints and writes; results are those of a run without."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner, Result

import midstream as ms
from midstream.autopilot.records import Record
from midstream.autopilot.settings import EAGER
from midstream.cli import app
from midstream.commands import autopilot_chart
from midstream.io.sources.source import Source
from midstream.runner import arrivals

SQL = """
CREATE STREAM a(x INT, at TIMESTAMP) ORDERED BY at TIME_UNIT s;
CREATE STREAM b(x INT, y INT, at TIMESTAMP) ORDERED BY at TIME_UNIT s;
CREATE STREAM c(y INT, at TIMESTAMP) ORDERED BY at TIME_UNIT s;
SELECT a.x, b.y FROM b WINDOW(RANGE 40), c WINDOW(RANGE 40), a WINDOW(RANGE 40) WHERE a.x = b.x AND b.y = c.y;
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    random = Random(1)
    lines = {"a": ["at,x"], "b": ["at,x,y"], "c": ["at,y"]}
    for time in range(400):
        x, y = (3, 20) if time < 200 else (20, 3)
        rows = {"a": (x,), "b": (x, y), "c": (y,)}
        for name, values in rows.items():
            lines[name].append(",".join(map(str, (time, *map(random.randrange, values)))))
    for name, text in lines.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(text))
    (tmp_path / "q.sql").write_text(SQL)
    unbounded = replace(EAGER, budget=None)  # these streams are too short for a look to be paid for
    (tmp_path / "mine.json").write_text(unbounded.dumps())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*given: str) -> Result:
    sources = [word for name in "abc" for word in ("--source", f"{name}={name}.csv")]
    return CliRunner().invoke(app, ["run", "q.sql", *sources, *given])


def test_results_are_the_same_and_moves_are_told(folder: Path) -> None:
    plain, flown = run(), run("--autopilot", "mine.json")
    assert (plain.exit_code, flown.exit_code) == (0, 0)
    assert sorted(plain.stdout.splitlines()) == sorted(flown.stdout.splitlines())
    told = [line for line in flown.stderr.splitlines() if line.startswith("autopilot: ")]
    assert any("move to" in line for line in told) and any("is done" in line for line in told)
    assert not any(": stay" in line for line in told)
    assert plain.stderr == ""


def test_decisions_in_a_file_and_a_chart(folder: Path) -> None:
    result = run("--autopilot", "mine.json", "--decisions", "d.jsonl", "--autopilot-chart", "c.svg")
    assert result.exit_code == 0, result.output
    records = [json.loads(line) for line in (folder / "d.jsonl").read_text().splitlines()]
    assert {"stay", "move", "done"} <= {record["event"] for record in records}
    assert "autopilot:" not in result.stderr
    svg = (folder / "c.svg").read_text()
    assert "expected cost per chronon" in svg and "→ " in svg
    again = run("--decisions", "e.jsonl", "--autopilot", "mine.json", "--autopilot-chart", "d.svg")
    assert again.exit_code == 0
    assert (folder / "e.jsonl").read_text() == (folder / "d.jsonl").read_text()
    assert (folder / "d.svg").read_text() == svg


def test_a_chart_begins_where_the_first_look_is() -> None:
    start = 1_700_000_000_000_000  # microseconds since 1970
    plans = [ms.stream(name, x="integer").plan() for name in "ab"]
    records = [
        Record("q", start + 1000 * n, "stay", "", plans[0], costs=dict.fromkeys(plans, 1.0 + n))
        for n in range(10)
    ]
    axes = Figure().subplots()
    autopilot_chart._draw_query(axes, "q", records)
    assert [(min(line.get_xdata()), max(line.get_xdata())) for line in axes.lines] == [(0, 9000)] * 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--autopilot", "keen"], "expected careful, balanced, eager"),
        (["--autopilot", "q.sql"], "settings: "),
        (["--autopilot-chart", "c.txt"], "expected a file in .png, .svg, .pdf"),
        (["--autopilot", "d.json", "--decisions", "d.json"], "--decisions"),
        (["--every", "often"], "--every"),
        (["--every", "0s"], "expected at least 1"),
        (["--every", "1ms"], "a whole number"),
    ],
)
def test_what_is_no_autopilot(folder: Path, given: list[str], message: str) -> None:
    result = run(*given)
    assert result.exit_code != 0
    assert message in str(result.exception) + result.output


def test_queries_without_windows(folder: Path) -> None:
    (folder / "q.sql").write_text(
        "CREATE STREAM a(x INT, at TIMESTAMP) ORDERED BY at TIME_UNIT s; SELECT x FROM a;"
    )
    result = CliRunner().invoke(app, ["run", "q.sql", "--source", "a=a.csv", "--autopilot", "eager"])
    assert "no query with a time window" in str(result.exception) + result.output
    given = ["run", "q.sql", "--source", "a=a.csv", "--every", "50s", "--decisions", "d.jsonl"]
    assert CliRunner().invoke(app, given).exit_code == 0
    (record,) = map(json.loads, (folder / "d.jsonl").read_text().splitlines())
    assert (record["at"], record["reason"]) == (None, "no rule leads to another plan")


def test_how_often_to_look(folder: Path) -> None:
    looks = []
    for given in ([], ["--every", "8s"], ["--every", "1 minute"]):
        assert run("--autopilot", "mine.json", "--decisions", "d.jsonl", *given).exit_code == 0
        records = [json.loads(line) for line in (folder / "d.jsonl").read_text().splitlines()]
        looks.append([record["at"] for record in records if record["event"] != "done"])
    assert all(at % 8 == 0 for at in looks[1]) and all(at % 60 == 0 for at in looks[2])
    assert len(looks[0]) > len(looks[1]) > 4 * len(looks[2])


def test_recorded_streams_run_abreast() -> None:
    """None is ahead of another by more than the grain, but for a single element."""
    streams = {"a": [0, 1, 2, 50, 51, 90], "b": [0, 40, 41, 95], "c": [10]}
    sources = {
        name: Source(name, iter([[(t, t + 1, ()) for t in starts]])) for name, starts in streams.items()
    }
    given: dict[str, list[int]] = {name: [] for name in streams}
    for _, name, batch in arrivals(sources, 10):
        if batch is not None:
            given[name] += [start for start, _, _ in batch]
            behind = [
                starts[len(given[one])] for one, starts in streams.items() if len(given[one]) < len(starts)
            ]
            assert len(batch) == 1 or not behind or batch[-1][0] <= min(behind) + 10
    assert given == streams


def test_an_autopilot_with_nothing_to_say_says_so(folder: Path) -> None:
    """Too few elements for a look; looks that find nothing better; nothing to choose from."""
    told = run("--autopilot", "balanced", "--autopilot-chart", "c.svg").stderr
    assert "too few elements have come for a first look at other plans" in told
    assert "budget" not in told and "paid" not in told
    chart = " ".join((folder / "c.svg").read_text().split())
    assert "too few elements have come for a first look" in chart
    assert "budget" not in chart and "paid" not in chart
    (folder / "look.json").write_text(replace(EAGER, budget=None, doubt=1e9).dumps())
    assert (
        run("--autopilot", "look.json").stderr.splitlines()[0]
        == "autopilot: query_1: the query stays with its plan: no look found a better one"
    )
    (folder / "q.sql").write_text(
        "CREATE STREAM a(x INT, at TIMESTAMP) ORDERED BY at TIME_UNIT s;SELECT x FROM a WINDOW(RANGE 40);"
    )
    given = ["run", "q.sql", "--source", "a=a.csv", "--autopilot", "balanced"]
    assert "no rule leads to another plan" in CliRunner().invoke(app, given).stderr
