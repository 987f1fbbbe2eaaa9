"""The table in docs/sql.md of what expressions of numbers give here, in DuckDB and in PostgreSQL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from midstream.driving import run
from midstream.plans.sql.catalog import Catalog

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "sql.md"
ROWS = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", DOCUMENT.read_text("utf-8"), re.M)
ROW = (7, 2.5, 2.675)


def shown(value: Any) -> str:
    """A value as the table has it."""
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).lower()
    return str(value)


def test_the_table_is_as_long_as_we_think() -> None:
    assert len(ROWS) == 32


@pytest.mark.parametrize(("expression", "expected"), [(row[0], row[1]) for row in ROWS])
def test_an_expression_gives_what_the_table_says(expression: str, expected: str) -> None:
    catalog = Catalog(unit="seconds")
    catalog.execute("CREATE STREAM t(i INT, x DOUBLE, y DOUBLE, at TIMESTAMP) ORDERED BY at")
    plan = catalog.query(f"SELECT {expression} AS v FROM t WINDOW(NOW)").plan
    ((_, _, (value,)),) = run(plan, {"t": [(0, 1, ROW)]})
    assert shown(value) == expected


@pytest.mark.parametrize(("expression", "expected"), [(row[0], row[2]) for row in ROWS])
def test_duckdb_gives_what_the_table_says(expression: str, expected: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    try:
        (value,) = duckdb.execute(
            f"SELECT {expression} FROM (SELECT ?::INT AS i, ?::DOUBLE AS x, ?::DOUBLE AS y)", ROW
        ).fetchone()
    except duckdb.Error:
        assert expected == "an error"
    else:
        assert shown(value) == expected
