"""Statements that once ended otherwise than with a result or a clear error, or that would take all time."""

from __future__ import annotations

import pytest

from midstream.driving import run
from midstream.plans.expressions.expressions import Binary, Col, Const, compile_row
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import SqlError
from midstream.plans.values.schema import Schema

DECLARATION = "CREATE STREAM s(a INT, b REAL, c TEXT, d BOOLEAN, t TIMESTAMP) ORDERED BY t"

TWO_WAYS = "a IN (SELECT a FROM s)"
for _ in range(14):
    TWO_WAYS = f"(({TWO_WAYS} AND d) OR a > 1)"

REFUSED = {
    "types in sizes of types": (
        f"SELECT CAST(a AS {'DECIMAL(' * 60}1{')' * 60}) FROM s",
        "found DECIMAL, expected a number",
    ),
    "types as functions": (f"SELECT {'date(' * 40}a{')' * 40} FROM s", "there is no function date"),
    "subjects of subjects": (
        f"SELECT {'CASE ' * 20}a{' WHEN 1 THEN 2 WHEN 2 THEN 1 END' * 20} FROM s",
        "found more than 1000 parts",
    ),
    "between of between": (
        f"SELECT {'(' * 30}d{' BETWEEN FALSE AND TRUE)' * 30} FROM s",
        "found more than 1000 parts",
    ),
    "and in or around queries": (f"SELECT a FROM s WHERE {TWO_WAYS}", "more than 300 filters and joins"),
    "twice as many columns with each query": (
        "WITH q0 AS (SELECT * FROM s)"
        + "".join(f", q{i + 1} AS (SELECT * FROM q{i} x, q{i} y)" for i in range(30))
        + " SELECT * FROM q30",
        "found 1024 columns, expected 1000 at most",
    ),
    "a type error in a long chain": (
        f"SELECT a FROM s WHERE {' OR '.join(['a = 1'] * 1000)} OR c = 1",
        "c = 1 compares string with integer",
    ),
    "a name that is empty": ('SELECT a AS "" FROM s', "found an empty name"),
    "nothing that has a place": ("SELECT --", "found no FROM"),
    "a setting without a value": ("SET ties =", "found the end, expected a value"),
    "a comment without an end": ("SELECT a /* FROM s", "found no */ for the part that begins here"),
    "a constant with a place": ("SELECT -TRUE FROM s", "negate: argument 1, True, is boolean"),
    "more brackets than Python can read": (
        f"SELECT {'(' * 99}a{')' * 99} FROM s",
        "this nests too deeply; define parts of it",
    ),
    "USING over columns of different types": (
        "CREATE STREAM r(a TEXT); SELECT s.a FROM s JOIN r USING (a)",
        "line 1, column 58: s.a = r.a compares integer with string",
    ),
    "a part that sqlglot cannot write": ("SELECT a FROM s FOR UPDATE", "FOR UPDATE is not supported"),
}


@pytest.mark.parametrize(("statement", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused_with_a_place(statement: str, message: str) -> None:
    catalog = Catalog()
    catalog.execute(DECLARATION)
    with pytest.raises(SqlError) as caught:
        catalog.execute(statement)
    assert message in str(caught.value)
    assert str(caught.value).splitlines()[-1].lstrip().startswith("^")


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT a FROM s WHERE {' OR '.join(f'a = {i}' for i in range(2000))}",
        f"SELECT {'(' * 40}a{')' * 40} FROM s",
        "SELECT CAST(a AS DECIMAL(10, 2)), a::VARCHAR(3), CAST(c AS DOUBLE PRECISION) FROM s",
        "SELECT DATE '2024-02-29', TIMESTAMP '2024-02-29 10:00:00', a + INTERVAL '5' DAY FROM s",
        "CREATE STREAM x(a TIMESTAMP WITH TIME ZONE, b TIMESTAMP WITHOUT TIME ZONE, c INT)",
        "SELECT CASE a WHEN 1 THEN 2 WHEN 2 THEN 1 END FROM s WHERE a + 1 BETWEEN 1 AND 2",
    ],
    ids=lambda statement: statement[:40],
)
def test_it_is_accepted(statement: str) -> None:
    catalog = Catalog()
    catalog.execute(DECLARATION)
    catalog.execute(statement)


def test_a_long_line_is_shown_in_part() -> None:
    catalog = Catalog()
    catalog.execute(DECLARATION)
    with pytest.raises(SqlError) as caught:
        catalog.execute(f"SELECT {'a, ' * 500}x{', a' * 500} FROM s")
    _, shown, carets = str(caught.value).splitlines()
    assert len(shown) < 180
    assert shown[carets.index("^")] == "x"


@pytest.mark.parametrize("operator", ["+", "-", "*"])
def test_with_a_float_an_integer_beyond_all_floats_gives_unknown(operator: str) -> None:
    compute = compile_row(Binary(operator, Const(10**400), Col("b")), Schema.of(b="float"))
    assert compute((2.0,)) is None


@pytest.mark.parametrize(
    "guard",
    [
        "EXISTS (SELECT b FROM s [NOW] r WHERE r.a = q.a AND r.a <> 0)",
        "a IN (SELECT a FROM s [NOW] r WHERE a <> 0)",
        "0 < (SELECT COUNT(*) FROM s [NOW] r WHERE r.a = q.a AND r.a <> 0)",
    ],
)
def test_a_function_behind_a_query_is_asked_of_the_rows_that_it_lets_through(guard: str) -> None:
    catalog = Catalog(unit="seconds")
    catalog.execute(DECLARATION)
    catalog.add_function("inverse", lambda x: 10 // x, "integer")
    plan = catalog.query(f"SELECT a FROM s [NOW] q WHERE {guard} AND inverse(a) > 1").plan
    rows = [(0, 1, (a, 1.0, "", True)) for a in (0, 2, 0, 7, 20)]
    assert sorted(row for _, _, row in run(plan, {"s": rows})) == [(2,)]
