"""Changes of a query that change its meaning, as they are made by mistake, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from midstream.cli import app
from midstream.migration.strategies import STRATEGIES

DECLARED = """SET time_unit = 'seconds';
CREATE STREAM s(ts TIMESTAMP, k INT NOT NULL, x INT, name VARCHAR, price DOUBLE) ORDERED BY ts;
CREATE STREAM t(ts TIMESTAMP, k INT NOT NULL, y INT) ORDERED BY ts;
"""
S, T = "s WINDOW(RANGE 9 SECONDS)", "t WINDOW(RANGE 9 SECONDS)"

FILTERS = [
    ("x > 3", "x > 4"),
    ("x > 3", "x >= 3"),
    ("x > 3", "x < 3"),
    ("x > 3", "NOT (x > 3)"),
    ("x > 3", "k > 3"),
    ("x > 3 AND k > 1", "x > 3 OR k > 1"),
    ("x > 3 AND k > 1", "x > 3"),
    ("NOT (x > 3 AND k > 1)", "NOT (x > 3) AND NOT (k > 1)"),
    ("x BETWEEN 1 AND 3", "x > 1 AND x < 3"),
    ("x BETWEEN 1 AND 3", "x BETWEEN 3 AND 1"),
    ("x NOT BETWEEN 1 AND 3", "x < 1 AND x > 3"),
    ("x IN (1, 2, 3)", "x IN (1, 2)"),
    ("x NOT IN (1, 2)", "x <> 1"),
    ("x NOT IN (1, 2)", "x NOT IN (1, 2, NULL)"),
    ("x IS NULL", "x = 0"),
    ("x IS NOT NULL", "x = x AND k = x"),
    ("x = 3 OR x IS NULL", "x = 3"),
    ("COALESCE(x, 0) = 0", "x = 0"),
    ("name = 'car'", "name = 'Car'"),
    ("name LIKE 'ca%'", "name LIKE '%ca'"),
    ("name LIKE 'c_r'", "name LIKE 'c%r'"),
    ("price > 10", "price >= 10"),
    ("price * 2 > 20", "price > 20"),
    ("ABS(x) = 2", "x = 2"),
    ("x % 2 = 1", "x % 2 <> 0 AND x > 0 AND k > 0"),
    ("CASE WHEN x > 3 THEN k ELSE 0 END = 1", "x > 3 AND k = 0"),
]
QUERIES = [
    ("SELECT k, MAX(x) AS m FROM {S} GROUP BY k", "SELECT k, MIN(x) AS m FROM {S} GROUP BY k"),
    ("SELECT k, COUNT(*) AS m FROM {S} GROUP BY k", "SELECT k, COUNT(x) AS m FROM {S} GROUP BY k"),
    ("SELECT k, COUNT(x) AS m FROM {S} GROUP BY k", "SELECT k, COUNT(DISTINCT x) AS m FROM {S} GROUP BY k"),
    ("SELECT k, SUM(x) AS m FROM {S} GROUP BY k", "SELECT k, MAX(x) AS m FROM {S} GROUP BY k"),
    (
        "SELECT k, MAX(x) AS m FROM {S} WHERE x > 1 GROUP BY k",
        "SELECT k, MAX(x) AS m FROM {S} GROUP BY k HAVING MAX(x) < 1",
    ),
    ("SELECT DISTINCT k FROM {S}", "SELECT k FROM {S}"),
    ("SELECT k FROM {S}", "SELECT x AS k FROM {S} WHERE x IS NOT NULL"),
    ("SELECT k, x FROM {S}", "SELECT k, x + 0 * k + 1 AS x FROM {S}"),
    ("SELECT k FROM {S} EXCEPT ALL SELECT k FROM {T}", "SELECT k FROM {T} EXCEPT ALL SELECT k FROM {S}"),
    ("SELECT k FROM {S} UNION ALL SELECT k FROM {T}", "SELECT k FROM {S} UNION SELECT k FROM {T}"),
    ("SELECT k FROM {S} INTERSECT SELECT k FROM {T}", "SELECT k FROM {S} UNION SELECT k FROM {T}"),
    ("SELECT x, y FROM {S}, {T} WHERE s.k = t.k", "SELECT x, y FROM {S}, {T}"),
    ("SELECT x, y FROM {S}, {T} WHERE s.k = t.k", "SELECT x, y FROM {S}, {T} WHERE s.k >= t.k"),
    ("SELECT x, y FROM {S}, {T} WHERE s.k = t.k", "SELECT x, y FROM {S}, {T} WHERE s.x = t.y"),
    (
        "SELECT x FROM {S} WHERE k IN (SELECT k FROM {T})",
        "SELECT x FROM {S} WHERE k NOT IN (SELECT k FROM {T})",
    ),
    ("SELECT x FROM {S} WHERE k IN (SELECT k FROM {T})", "SELECT x FROM {S}, {T} WHERE s.k = t.k"),
]
CHANGES = [
    *((f"SELECT k, x FROM {S} WHERE {old}", f"SELECT k, x FROM {S} WHERE {new}") for old, new in FILTERS),
    *((old.format(S=S, T=T), new.format(S=S, T=T)) for old, new in QUERIES),
]


def test_they_are_many() -> None:
    assert len(set(CHANGES)) >= 40


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), CHANGES, ids=lambda text: text[7:90])
def test_every_strategy_refuses_them(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.sql").write_text(DECLARED + old)
    Path("new.sql").write_text(new)
    Path("s.csv").write_text("ts,k,x,name,price\n1,1,1,car,1.5\n9,2,2,cat,3.0\n")
    Path("t.csv").write_text("ts,k,y\n1,1,1\n")
    sources = ["--source", "s=s.csv", *(["--source", "t=t.csv"] if " t " in old + new else [])]
    for strategy in STRATEGIES:
        command = ["migrate", "old.sql", *sources, "--at", "5", "--to", "new.sql", "--strategy", strategy]
        done = CliRunner().invoke(app, [*command, "--accept-unproved", "--output", "out.jsonl"])
        assert done.exit_code == 2, done.output
        assert not Path("out.jsonl").exists()
        if strategy == "genmig":
            assert "the plans do not mean the same: a search found an input of" in done.stderr, done.stderr
