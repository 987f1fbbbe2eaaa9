"""Types with sizes, dates and intervals: what they say is carried out, or refused."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.plans.values.errors import SqlError

DAY = 86400
DECLARATIONS = """
    SET time_unit = 'seconds';
    CREATE STREAM trip(at TIMESTAMP, stops INT, fare REAL, code TEXT, day DATE, left_at TIMESTAMP)
        ORDERED BY at;
    CREATE RELATION tour(stops INT, day DATE);
"""
ROW = (3, 12.345, "north-west", 10 * DAY, 10 * DAY + 50)


def value_of(expression: str, row: tuple[Any, ...] = ROW) -> Any:
    """What an expression gives for a row."""
    ((_, _, (found,)),) = ms.run(
        ms.sql(f"{DECLARATIONS} SELECT {expression} AS v FROM trip [RANGE 1]"), {"trip": [(5, 6, row)]}
    )
    return found


VALUES = {
    "CAST(fare AS DECIMAL(4, 1))": 12.3,
    "fare::NUMERIC(2)": 12.0,
    "CAST(fare * 10 AS DECIMAL(4, 2))": None,
    "TRY_CAST('99.96' AS DECIMAL(3, 1))": None,
    "CAST('99.94' AS DECIMAL(3, 1))": 99.9,
    "CAST(0.996 AS DECIMAL(2, 2))": None,
    "CAST(stops * 42 AS TINYINT)": 126,
    "CAST(stops * 43 AS TINYINT)": None,
    "CAST(-128 AS TINYINT)": -128,
    "(stops * 11000)::SMALLINT": None,
    "CAST('32767' AS SMALLINT)": 32767,
    "CAST(stops AS VARCHAR(1))": "3",
    "code::VARCHAR(5)": "north",
    "CAST(code AS VARCHAR(50))": "north-west",
    "DATE '2024-02-28' + 2 - DATE '2024-03-01'": 0,
    "day + 1": 11 * DAY,
    "1 + day": 11 * DAY,
    "(day) - stops": 7 * DAY,
    "day - DATE '1970-01-04'": 7,
    "CAST(left_at AS DATE) + stops": 13 * DAY,
    "CASE WHEN stops > 1 THEN day ELSE DATE '2000-01-01' END + 1": 11 * DAY,
    "greatest(day, DATE '1970-01-02') + 1": 11 * DAY,
    "greatest(NULL, day) + 1": 11 * DAY,
    "CASE WHEN stops < 1 THEN NULL ELSE day END + 1": 11 * DAY,
    "CASE WHEN stops > 1 THEN day WHEN stops > 0 THEN NULL END + 1": 11 * DAY,
    "CASE WHEN stops > 1 THEN day ELSE left_at END + 1": 10 * DAY + 1,
    "if(stops < 1, NULL, day) + 1": 11 * DAY,
    "coalesce(day, left_at) + 1": 10 * DAY + 1,
    "within(day, DATE '1970-01-02', DATE '1980-01-02') + 1": 11 * DAY,
    "day + INTERVAL '1' HOUR": 10 * DAY + 3600,
    "left_at - day": 50,
    "left_at + 1": 10 * DAY + 51,
    "INTERVAL '1 02:03:04' DAY TO SECOND": 93784,
    "INTERVAL '02:03' HOUR TO MINUTE": 7380,
    "INTERVAL '-1 12' DAY TO HOUR": -129600,
    "INTERVAL '90:30' MINUTE TO SECOND": 5430,
    "INTERVAL '2 weeks 1 day -3 seconds'": 15 * DAY - 3,
    "INTERVAL 4 MINUTE": 240,
}


@pytest.mark.parametrize(("expression", "value"), VALUES.items(), ids=VALUES.keys())
def test_it_is_carried_out(expression: str, value: Any) -> None:
    found = value_of(expression)
    assert (type(found), found) == (type(value), value)


ELSEWHERE = {
    "behind a query in FROM": "SELECT d + 1 AS v FROM (SELECT day AS d FROM trip [RANGE 1]) q",
    "behind WITH": "WITH w(d) AS (SELECT day FROM trip [RANGE 1]) SELECT d + 1 AS v FROM w",
    "behind a stream": "CREATE STREAM t AS SELECT day AS d FROM trip [RANGE 1]; SELECT d + 1 AS v FROM t",
    "behind UNION": "SELECT d + 1 AS v FROM (SELECT day AS d FROM trip UNION SELECT day FROM trip) q",
    "above a grouping": "SELECT day + 1 AS v FROM trip [RANGE 1] GROUP BY day",
    "behind UNION with NULL": "WITH w(d) AS (SELECT NULL FROM trip UNION SELECT day FROM trip) "
    "SELECT d + 1 AS v FROM w WHERE d > 0",
    "of an aggregate": "SELECT MAX(day) + 1 AS v FROM trip [RANGE 1]",
    "of different values": "SELECT MAX(DISTINCT day) + 1 AS v FROM trip [RANGE 1]",
    "of a query of one row": "SELECT (SELECT MAX(day) FROM trip [RANGE 1]) + 1 AS v FROM trip [RANGE 1]",
    "in a condition": "SELECT day + 1 AS v FROM trip WHERE day + 1 > (SELECT MAX(day) FROM trip)",
    "of all columns": "SELECT q.day + 1 AS v FROM (SELECT * FROM trip [RANGE 1]) q",
    "in a join": "SELECT a.day + 1 AS v FROM trip [RANGE 1] a JOIN trip [RANGE 1] b ON a.day + 1 = b.day + 1",
}  # fmt: skip


@pytest.mark.parametrize("query", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_a_date_stays_a_date(query: str) -> None:
    results = ms.run(ms.sql(DECLARATIONS + query), {"trip": [(5, 6, ROW)]})
    assert [row for _, _, row in results] == [(11 * DAY,)]


INTERVALS = {
    "behind a query in FROM": "SELECT day + d AS v FROM (SELECT day, left_at - day AS d FROM trip) q",
    "of an aggregate": "SELECT MIN(day) + SUM(left_at - day) AS v FROM trip [RANGE 1]",
    "of a query of one row": "SELECT day + (SELECT MAX(left_at - day) FROM trip) AS v FROM trip",
}  # fmt: skip


@pytest.mark.parametrize("query", INTERVALS.values(), ids=INTERVALS.keys())
def test_an_interval_stays_an_interval(query: str) -> None:
    results = ms.run(ms.sql(DECLARATIONS + query), {"trip": [(5, 6, ROW)]})
    assert [row for _, _, row in results] == [(10 * DAY + 50,)]


@given(st.floats(-1e6, 1e6), st.integers(1, 9), st.integers(0, 6))
def test_decimals_are_rounded_and_limited(value: float, before: int, scale: int) -> None:
    rounded = Decimal(value).quantize(Decimal(10) ** -scale, ROUND_HALF_UP)
    expected = float(rounded) if abs(rounded) < 10**before else None
    found = value_of(f"CAST(fare AS DECIMAL({before + scale}, {scale}))", (3, value, "", 0, 0))
    assert found == expected


REFUSED = {
    "SELECT CAST(code AS CHAR(3)) FROM trip": "CHAR(3) is not supported, as it is filled up with blanks",
    "SELECT CAST(stops AS INT(3)) FROM trip": "found INT(3), expected a size in DECIMAL",
    "SELECT CAST(fare AS DECIMAL(2, 3)) FROM trip": "found DECIMAL(2, 3), expected a size",
    "SELECT CAST(fare AS DECIMAL(39)) FROM trip": "found DECIMAL(39), expected a size",
    "SELECT CAST(code AS VARCHAR(0)) FROM trip": "found VARCHAR(0), expected a size",
    "SELECT CAST(stops AS TIMESTAMP(3)) FROM trip": "found TIMESTAMP(3), expected no size",
    "CREATE STREAM x(a DECIMAL(10, 2))": "write CAST(a AS DECIMAL(10, 2)) in a query",
    "CREATE STREAM x(a SMALLINT)": "write CAST(a AS SMALLINT) in a query",
    "CREATE STREAM x(a CHAR)": "column a: found CHAR, expected a type without a size",
    "CREATE RELATION x(a TIMESTAMP(3))": "TIME_UNIT says how fine time is counted",
    "SELECT day + 0.5 FROM trip": "0.5 beside a date, expected whole days",
    "SELECT stops FROM trip WHERE day + (SELECT SUM(fare) FROM trip) > day": "expected whole days",
    "SELECT day + day FROM trip": "day + day is not supported; write the date and an INTERVAL",
    "SELECT 1 - day FROM trip": "1 - day is not supported; write the date and an INTERVAL",
    "SELECT INTERVAL '1 day 2' FROM trip": "found an interval of '1 day 2', expected a whole number",
    "SELECT INTERVAL '1 2' DAY FROM trip": "found an interval of '1 2' DAY, expected a whole number",
    "SELECT INTERVAL '3' FROM trip": "found an interval of '3', expected a whole number",
    "SELECT INTERVAL '1 day 1 day' FROM trip": "expected a whole number",
    "SELECT INTERVAL '1 2' DAY TO MINUTE FROM trip": "'1 2' DAY TO MINUTE, expected D HH:MM",
    "SELECT INTERVAL '1 24:00' DAY TO MINUTE FROM trip": "expected D HH:MM, with less than 24 hours",
    "SELECT INTERVAL '1 2' HOUR TO DAY FROM trip": "expected a unit, TO, and a smaller one",
    "SELECT INTERVAL '1.5' SECOND TO MINUTE FROM trip": "expected a unit, TO, and a smaller one",
    "SELECT INTERVAL '0:00.5' MINUTE TO SECOND FROM trip": "expected a whole number of",
    "SELECT stops FROM trip WHERE left_at > '2026-01-01'": "left_at is a timestamp: write TIMESTAMP",
    "SELECT stops FROM trip WHERE '2026-01-01' = day": "day is a date: write DATE '2026-01-01'",
    "SELECT stops FROM trip WHERE day IN ('2026-01-01')": "day is a date: write DATE '2026-01-01'",
    "SELECT stops FROM tour WHERE tour.day < '2026-01-01'": "tour.day is a date: write DATE '2026-01-01'",
}  # fmt: skip


@pytest.mark.parametrize(("statement", "message"), REFUSED.items(), ids=REFUSED.keys())
def test_it_is_refused(statement: str, message: str) -> None:
    catalog = ms.catalog("seconds")
    catalog.execute(DECLARATIONS.replace("SET time_unit = 'seconds';", ""))
    with pytest.raises(SqlError) as caught:
        catalog.execute(statement)
    assert message in str(caught.value)
