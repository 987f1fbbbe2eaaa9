"""Conditions in which decimals, which are floats here, meet a limit are noted, with what to write."""

from __future__ import annotations

import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import midstream as ms

DECLARED = (
    "CREATE STREAM s(at TIMESTAMP, price DECIMAL, fee DOUBLE, k INT) ORDERED BY at TIME_UNIT 'seconds'; "
)
W = "WINDOW(RANGE 5 SECONDS)"


def notes(query: str) -> list[str]:
    catalog = ms.catalog()
    *_, last = catalog.execute(DECLARED + query)
    return [note for note in last.notes if "decimals" in note]


@pytest.mark.parametrize(
    ("query", "condition", "remedy"),
    [
        ("SELECT k FROM s WHERE price > 0.02", "price > 0.02", "ROUND(price, n)"),
        ("SELECT k FROM s WHERE 0.02 <= price * 2", "0.02 <= (price * 2)", "ROUND(price * 2, n)"),
        (
            f"SELECT k FROM s {W} GROUP BY k HAVING SUM(price) = 0.3",
            "sum(price) = 0.3",
            "ROUND(sum(price), n)",
        ),
        (f"SELECT t FROM (SELECT price + fee AS t FROM s {W}) x WHERE t < 1.5", "t < 1.5", "ROUND(t, n)"),
        (
            f"SELECT a.k FROM s {W} a, s {W} b WHERE a.price - b.price > 0.1",
            "(a.price - b.price) > 0.1",
            "ROUND(a.price - b.price, n)",
        ),
        (f"SELECT DISTINCT k FROM s {W} WHERE NOT (price <> 1.1)", "price != 1.1", "ROUND(price, n)"),
    ],
)
def test_a_limit_of_decimals_is_noted(query: str, condition: str, remedy: str) -> None:
    (note,) = notes(query)
    assert f"price holds decimals, which are floats here, so that {condition} may be wrong" in note
    assert f"write {remedy} there" in note


@pytest.mark.parametrize(
    "query",
    [
        "SELECT price FROM s",
        "SELECT k FROM s WHERE k > 2 AND fee > 0.1",
        "SELECT k FROM s WHERE ROUND(price * 2, 4) > 0.1",
        "SELECT k FROM s WHERE price IS NOT NULL",
        f"SELECT k FROM s {W} GROUP BY k HAVING COUNT(price) > 3",
        f"SELECT a.k FROM s {W} a, s {W} b WHERE a.price = b.price",
    ],
)
def test_other_conditions_are_not(query: str) -> None:
    assert notes(query) == []


def test_following_the_note_gives_what_exact_decimals_give(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    lows = [Decimal(low) for low in ("10.0100", "99.9900", "3.3300", "250.1000", "7.7700")]
    prices = [low + up for low in lows for up in (Decimal("0.0000"), Decimal("0.0200"))]
    columns: dict[str, Any] = {"ts": range(10), "symbol": [f"s{i // 2}" for i in range(10)]}
    columns["ts"] = pa.array(columns["ts"], pa.timestamp("s"))
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({**columns, "price": pa.array(prices, pa.decimal128(12, 4))}), path)
    query = f"SELECT symbol FROM '{path}' WINDOW(RANGE 1 MINUTE) GROUP BY symbol HAVING {{}} > 0.02"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        wrong = ms.run(ms.sql(query.format("MAX(price) - MIN(price)")))
    assert wrong and any("write ROUND(max(price) - min(price), 4) there" in str(one.message) for one in told)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ms.errors.Note)
        assert ms.run(ms.sql(query.format("ROUND(max(price) - min(price), 4)"))) == []
