"""`midstream run --save-stats` writes what `midstream explain --stats` reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from midstream.cli import app

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
