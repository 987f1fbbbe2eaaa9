"""`midstream run --save-stats` writes what `midstream explain --stats` reads."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import midstream as ms
from midstream.cli import app
from midstream.optimizer import Statistics
from midstream.optimizer.statistics_file import dump_statistics, load_statistics

DECLARED = """
SET time_unit = 'seconds';
CREATE STREAM a(ts TIMESTAMP, k INTEGER, v FLOAT) ORDERED BY ts;
CREATE STREAM b(ts TIMESTAMP, j INTEGER) ORDERED BY ts;
"""
JOIN = "SELECT * FROM a WINDOW(RANGE 1 MINUTE) x, b WINDOW(RANGE 1 MINUTE) y WHERE x.k = y.j AND x.v > 0.5;"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{t},{t // 5 % 4},{t % 3}" for t in range(0, 4000, 5)]
    Path("a.csv").write_text("\n".join(["ts,k,v", *rows]) + "\n")
    Path("b.csv").write_text("\n".join(["ts,j", *(f"{t},{t % 2}" for t in range(0, 4000, 20))]) + "\n")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def saved(query: str) -> dict[str, Any]:
    Path("q.sql").write_text(DECLARED + query)
    sources = [part for name in "ab" for part in ("--source", f"{name}={name}.csv")]
    result = invoke("run", "q.sql", *sources, "--output", "out.jsonl", "--save-stats", "seen.json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(Path("seen.json").read_text())["streams"]
    return found


def test_what_was_seen_is_what_explain_reads() -> None:
    streams = saved(JOIN)
    assert streams["a"]["d"] == pytest.approx(5, rel=0.02)
    assert streams["b"]["d"] == pytest.approx(20, rel=0.02)
    assert (streams["a"]["g"], streams["b"]["g"]) == (5, 20)
    assert dict(streams["a"]["distributions"]["k"]) == pytest.approx(dict.fromkeys(range(4), 0.25), rel=0.05)
    assert streams["b"]["distributions"] == {"j": [[0, 1.0]]}
    explained = invoke("explain", "q.sql", "--stats", "seen.json", "--alternatives", "1", "--json")
    assert explained.exit_code == 0, explained.output


def test_without_a_time_window_the_last_elements_tell() -> None:
    streams = saved("SELECT k FROM a WINDOW(ROWS 5) WHERE v > 0.5;")
    assert streams["a"]["d"] == pytest.approx(5, rel=0.01)
    assert invoke("explain", "q.sql", "--stats", "seen.json").exit_code == 0


@pytest.mark.parametrize(
    "rows",
    ["", "5,1,1\n", *(pytest.param(rows, marks=pytest.mark.slow) for rows in ("5,1,1\n5,2,1\n", ",,\n"))],
    ids=["none", "one", "ties", "bad"],
)
@pytest.mark.parametrize("window", ["RANGE 1 MINUTE", "ROWS 5 TIES BY ARRIVAL", "NOW"])
@pytest.mark.parametrize("query", ["SELECT k FROM a {0} WHERE v > 0.5", "SELECT k FROM a {0} x, b {0} y"])
def test_what_was_seen_of_few_elements_is_what_explain_reads(rows: str, window: str, query: str) -> None:
    Path("a.csv").write_text("ts,k,v\n" + rows)
    Path("q.sql").write_text(DECLARED + query.format(f"WINDOW({window})"))
    run = ("run", "q.sql", "--source", "a=a.csv", "--source", "b=b.csv", "--output", "o.jsonl")
    ran = invoke(*run, "--save-stats", "seen.json", "--dead-letters", "dead.jsonl")
    assert ran.exit_code == 0, ran.output
    explained = invoke("explain", "q.sql", "--stats", "seen.json")
    assert explained.exit_code == 0, explained.output


@pytest.mark.parametrize("apart", [2.5, math.inf])
@pytest.mark.parametrize("length", [0.0, 7.0, math.inf])
def test_what_never_comes_or_never_ends_stays_so(apart: float, length: float) -> None:
    plan = ms.stream("e", x="integer", intervals=True).distinct().plan()
    (leaf,) = (node for node in plan.nodes if not node.inputs)
    known = Statistics({leaf: ms.StreamStatistics(apart, length)})
    text = dump_statistics(known)
    assert load_statistics(text, [plan]).streams == known.streams


def test_several_queries_have_one_file() -> None:
    assert set(saved(f"{JOIN} SELECT v FROM a WINDOW(RANGE 2 MINUTES);")) == {"a", "b"}


def test_a_run_that_fails_leaves_none() -> None:
    Path("q.sql").write_text(DECLARED + JOIN)
    with Path("a.csv").open("a") as file:
        file.write("bad,1,2\n")
    sources = [part for name in "ab" for part in ("--source", f"{name}={name}.csv")]
    result = invoke("run", "q.sql", *sources, "--output", "out.jsonl", "--save-stats", "seen.json")
    assert result.exit_code == 2
    assert not Path("seen.json").exists()
