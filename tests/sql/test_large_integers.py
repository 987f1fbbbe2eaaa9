"""Integers beyond 2⁵³ beside floats: one answer, whoever asks, and that of DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.driving import run
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import SqlError

INTEGERS = st.integers(2**53 - 2, 2**53 + 5) | st.integers(-2, 2) | st.integers(10**17, 10**17 + 40)
FLOATS = INTEGERS.map(float) | st.sampled_from([0.5, 2.0**53 + 4, 1e17])

QUERIES = (
    "SELECT a.k, b.x FROM a{w} JOIN b{w} ON a.k = b.x",
    "SELECT a.k, b.x FROM a{w} JOIN b{w} ON b.x < a.k",
    "SELECT k FROM a{w} WHERE k IN (SELECT x FROM b{w})",
    "SELECT x FROM b{w} WHERE x NOT IN (SELECT k FROM a{w})",
    "SELECT k FROM a{w} WHERE k >= ALL (SELECT x FROM b{w})",
    "SELECT k FROM a{w} WHERE EXISTS (SELECT 1 FROM b{w} WHERE b.x = a.k)",
    "SELECT k FROM a{w} WHERE k <= (SELECT MAX(x) FROM b{w})",
    "SELECT a.k FROM a{w}, b{w} WHERE a.k - b.x = 0",
    "SELECT a.k FROM a{w}, b{w} WHERE a.k IS NOT DISTINCT FROM b.x",
    "SELECT a.k FROM a{w}, b{w} WHERE a.k BETWEEN b.x AND b.x",
    "SELECT a.k, CASE a.k WHEN b.x THEN 1 ELSE 0 END AS c FROM a{w}, b{w}",
    "SELECT x FROM b{w} WHERE x IN (9007199254740993, 1)",
    "SELECT x FROM b{w} WHERE x = 9007199254740993",
    "SELECT k FROM a{w} INTERSECT SELECT x FROM b{w}",
    "SELECT k FROM a{w} EXCEPT SELECT x FROM b{w}",
)


@pytest.fixture(scope="module")
def database() -> Iterator[Any]:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1; CREATE TABLE a(k BIGINT); CREATE TABLE b(x DOUBLE)")
        yield connection


@pytest.mark.parametrize("query", QUERIES)
@given(integers=st.lists(INTEGERS, max_size=4), floats=st.lists(FLOATS, max_size=4))
def test_an_integer_beside_a_float_is_the_nearest_float(
    query: str, database: Any, integers: list[int], floats: list[float]
) -> None:
    catalog = Catalog(unit="seconds")
    catalog.execute("CREATE STREAM a(k INT, at TIMESTAMP) ORDERED BY at")
    catalog.execute("CREATE STREAM b(x DOUBLE, at TIMESTAMP) ORDERED BY at")
    plan = catalog.query(query.format(w=" WINDOW(RANGE 1)")).plan
    streams = {"a": [(0, 1, (k,)) for k in integers], "b": [(0, 1, (x,)) for x in floats]}
    read = {source.stream: streams[source.stream] for source in plan.sources}
    for table, values in (("a", integers), ("b", floats)):
        database.execute(f"DELETE FROM {table}")
        for value in values:
            database.execute(f"INSERT INTO {table} VALUES (?)", [value])
    expected = sorted(database.execute(query.format(w="")).fetchall())
    assert sorted(row for _, _, row in run(plan, read)) == expected


def test_a_whole_number_that_no_float_holds_is_refused_with_a_point() -> None:
    catalog = Catalog(unit="seconds")
    catalog.execute("CREATE STREAM a(k INT, at TIMESTAMP) ORDERED BY at")
    with pytest.raises(SqlError, match=r"9007199254740993\.0, which no float holds; write 9007199254740993"):
        catalog.query("SELECT k FROM a WHERE k = 9007199254740993.0")
    assert catalog.query("SELECT k FROM a WHERE k = 9007199254740992.0 OR k < 1e23 OR k > 0.1")
