"""What queries in Python write means what the same means in SQL, and what Python would misread raises."""

# ruff: noqa: SIM300, PLW0108, RUF005, PLW0177 - what users write by mistake is what is tested

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.driving import run
from midstream.optimizer import Statistics
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.operators import Filter
from midstream.plans.expressions.expressions import Binary, Col, Const, Expression, compile_row
from midstream.plans.expressions.operands import (
    Instant,
    Operand,
    Text,
    case,
    coalesce,
    col,
    concat,
    concat_ws,
    greatest,
    least,
    lit,
    opaque,
)
from midstream.plans.functions import FUNCTIONS
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import ExpressionError, MidstreamError, PlanError
from midstream.plans.values.schema import Schema, Type

COLUMNS = {"x": "integer?", "y": "integer?", "f": "float?", "s": "string?", "p": "string?", "b": "boolean?"}
SCHEMA = Schema.of(**COLUMNS)
X, Y, F, S, P, B = map(col, SCHEMA.names)
T = X.dt("seconds")


def in_sql() -> Catalog:
    catalog = Catalog("seconds")
    catalog.execute(
        "CREATE STREAM s(x INT NULL, y INT NULL, f REAL NULL, s TEXT NULL, p TEXT NULL, b BOOLEAN NULL, "
        "at TIMESTAMP) ORDERED BY at"
    )
    return catalog


SAME: list[tuple[Operand, str]] = [
    (X == 5, "x = 5"),
    (5 == X, "x = 5"),
    (X == Y, "x = y"),
    (X != 5, "x <> 5"),
    (X.eq(5), "x = 5"),
    (X.ne(Y), "x <> y"),
    (X < Y, "x < y"),
    (3 < X, "x > 3"),
    (X <= 3, "x <= 3"),
    (3 <= X, "x >= 3"),
    (X + Y, "x + y"),
    (5 + X, "5 + x"),
    (X - 2, "x - 2"),
    (5 - X, "5 - x"),
    (X * Y, "x * y"),
    (3 * X, "3 * x"),
    (X / Y, "x / y"),
    (7 / X, "7 / x"),
    (X // Y, "x DIV y"),
    (X // 2, "x DIV 2"),
    (7 // X, "7 DIV x"),
    (F // 2, "f DIV 2"),
    (X % Y, "x % y"),
    (X % 3, "x % 3"),
    (X % -3, "x % -3"),
    (7 % X, "7 % x"),
    (F % 2, "f % 2"),
    (X**2, "power(x, 2)"),
    (2**X, "power(2, x)"),
    (X**Y, "power(x, y)"),
    (-X, "-x"),
    (-F, "-f"),
    (-lit(5) + X, "-5 + x"),
    (+X, "x"),
    (abs(X), "abs(x)"),
    (X.abs(), "abs(x)"),
    (X.sign(), "sign(x)"),
    (round(F), "round(f)"),
    (round(F, 1), "round(f, 1)"),
    (F.round(), "round(f)"),
    (X.round(-1), "round(x, -1)"),
    (F.ceil(), "ceil(f)"),
    (F.floor(), "floor(f)"),
    (F.trunc(), "trunc(f)"),
    (X.sqrt(), "sqrt(x)"),
    (F.exp(), "exp(f)"),
    (F.ln(), "ln(f)"),
    (F.log10(), "log10(f)"),
    (F.log2(), "log2(f)"),
    (X.chr(), "chr(x)"),
    (B & (X > 1), "b AND x > 1"),
    (B | (X > 1), "b OR x > 1"),
    (True & B, "true AND b"),
    (False | B, "false OR b"),
    (~B, "NOT b"),
    (~(B & (X > 1)), "NOT (b AND x > 1)"),
    (X.is_null(), "x IS NULL"),
    (X.is_not_null(), "x IS NOT NULL"),
    (X.is_distinct_from(Y), "x IS DISTINCT FROM y"),
    (X.is_in([1, 2]), "x IN (1, 2)"),
    (X.is_in({1, 2}), "x IN (1, 2)"),
    (X.is_in(range(3)), "x IN (0, 1, 2)"),
    (X.is_in([1, None]), "x IN (1, NULL)"),
    (X.is_in([Y, 2]), "x IN (y, 2)"),
    (S.is_in(["a", "b"]), "s IN ('a', 'b')"),
    (X.between(0, Y), "x BETWEEN 0 AND y"),
    (X.fill_null(7), "coalesce(x, 7)"),
    (X.nullif(1), "nullif(x, 1)"),
    (X.within(1, 5), "within(x, 1, 5)"),
    (coalesce(X, Y, 3), "coalesce(x, y, 3)"),
    (greatest(X, Y, 0), "greatest(x, y, 0)"),
    (least(X, Y), "least(x, y)"),
    (X.cast("string"), "CAST(x AS TEXT)"),
    (X.cast(float), "CAST(x AS REAL)"),
    (S.cast(int), "CAST(s AS INT)"),
    (X.cast(bool), "CAST(x AS BOOLEAN)"),
    (F.cast(Type.INTEGER), "CAST(f AS INT)"),
    (
        case((X > 1, "many"), (X == 1, "one"), default=S),
        "CASE WHEN x > 1 THEN 'many' WHEN x = 1 THEN 'one' ELSE s END",
    ),
    (case((X > 1, Y)), "CASE WHEN x > 1 THEN y END"),
    (concat(S, X, P), "concat(s, x, p)"),
    (concat_ws("-", S, X, P), "concat_ws('-', s, x, p)"),
    (S.str.concat(X, P), "s || x || p"),
    (S.str.lower(), "lower(s)"),
    (S.str.upper(), "upper(s)"),
    (S.str.length(), "length(s)"),
    (S.str.trim(), "trim(s)"),
    (S.str.trim("a"), "trim(s, 'a')"),
    (S.str.ltrim("a"), "ltrim(s, 'a')"),
    (S.str.rtrim(), "rtrim(s)"),
    (S.str.substring(2), "substring(s, 2)"),
    (S.str.substring(X, 2), "substring(s, x, 2)"),
    (S.str.replace("a", P), "replace(s, 'a', p)"),
    (S.str.strpos("b"), "strpos(s, 'b')"),
    (S.str.starts_with(P), "starts_with(s, p)"),
    (S.str.ends_with("b"), "ends_with(s, 'b')"),
    (S.str.contains(P), "contains(s, p)"),
    (S.str.left(X), "left(s, x)"),
    (S.str.right(2), "right(s, 2)"),
    (S.str.reverse(), "reverse(s)"),
    (S.str.lpad(4, P), "lpad(s, 4, p)"),
    (S.str.rpad(4, "-"), "rpad(s, 4, '-')"),
    (S.str.repeat(X), "repeat(s, x)"),
    (S.str.split_part("b", 1), "split_part(s, 'b', 1)"),
    (S.str.ascii(), "ascii(s)"),
    (S.str.like("a%"), "s LIKE 'a%'"),
    (S.str.like("a!%", "!"), "s LIKE 'a!%' ESCAPE '!'"),
    (S.str.ilike("A%"), "s ILIKE 'A%'"),
    (S.str.regexp_matches("^a"), "regexp_matches(s, '^a')"),
    (S.str.regexp_matches("^A", "i"), "regexp_matches(s, '^A', 'i')"),
    (S.str.regexp_replace("a", "b", "g"), "regexp_replace(s, 'a', 'b', 'g')"),
    (T.part("hour"), "date_part('hour', x)"),
    (T.trunc("day"), "date_trunc('day', x)"),
    (T.strftime("%H:%M"), "strftime(x, '%H:%M')"),
    *(
        (getattr(T, part)(), f"{part}(x)")
        for part in (
            "year", "quarter", "month", "week", "day", "hour", "minute", "second",
            "millisecond", "epoch", "dow", "isodow", "doy",
        )
    ),
]  # fmt: skip

WHOLE = st.one_of(st.none(), st.integers(-4, 4), st.integers(-(10**6), 10**6))
WORDS = st.one_of(st.none(), st.text(alphabet="abA1.- ", max_size=4))
ROWS = st.tuples(
    WHOLE,
    WHOLE,
    st.one_of(st.none(), st.floats(-10, 10, allow_nan=False)),
    WORDS,
    WORDS,
    st.one_of(st.none(), st.booleans()),
)


def sql_expression(text: str) -> Expression:
    plan = in_sql().query(f"SELECT {text} AS value FROM s").plan
    ((_, expression),) = plan.root.operator.columns  # type: ignore[union-attr]
    found: Expression = expression
    return found


@pytest.mark.parametrize(("operand", "text"), SAME, ids=[text for _, text in SAME])
def test_it_means_what_the_same_means_in_sql(operand: Operand, text: str) -> None:
    ours, theirs = operand.expression, sql_expression(text)
    assert ours.kind(SCHEMA) == theirs.kind(SCHEMA)
    mine, other = compile_row(ours, SCHEMA), compile_row(theirs, SCHEMA)

    @given(ROWS)
    def agree(row: tuple[Any, ...]) -> None:
        found, expected = mine(row), other(row)
        assert found == expected
        assert type(found) is type(expected)

    agree()


def test_every_function_of_sql_can_be_written() -> None:
    """`position` is `strpos` with its arguments exchanged, and `negate` the minus."""
    written = {name for operand, _ in SAME for name in _functions(operand.expression)}
    assert set(FUNCTIONS) - written == {"position"}


def _functions(expression: Expression) -> set[str]:
    own = {getattr(expression, "function", "")}
    return own.union(*(_functions(part) for part in expression.parts())) - {""}


def test_every_method_is_compared() -> None:
    tried = " ".join(inspect.getsource(inspect.getmodule(in_sql)).split())  # type: ignore[arg-type]
    for kind, place in ((Operand, "."), (Text, ".str."), (Instant, "")):
        for name, _ in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_"):
                assert f"{place}{name}(" in tried or f'"{name}"' in tried, f"{kind.__name__}.{name}"


def test_an_equality_keeps_what_it_says() -> None:
    """Python would compare the column with the number: a column of False, and a filter that is none."""
    s = stream("s", item=int, price=float)
    rows = {"s": [(1, 2, (5, 1.0)), (2, 3, (6, 1.0))]}
    assert run(s.select(is5=s["item"] == 5).plan(), rows) == [(1, 2, (True,)), (2, 3, (False,))]
    assert run(s.filter(col("item") != 5).plan(), rows) == [(2, 3, (6, 1.0))]
    t = stream("t", id=int)
    assert s.join(t, on=s["item"] == t["id"]) == s.join(t, on=[("item", "id")])


@pytest.mark.parametrize(
    "misuse",
    [
        bool,
        lambda e: not e,
        lambda e: 1 < e < 3,
        lambda e: e and e,
        lambda e: e or e,
        lambda e: 1 if e else 2,
        lambda e: e in [1, 2],
        lambda e: e in {lit(1), X + 1},
        lambda e: 5 in e,
        lambda e: [e].index(X + 2),
        lambda e: {X + 1: 1}[X + 1],
        lambda e: {X + 1, X + 1},
        lambda e: sorted([e, X]),
        lambda e: max(e, X),
        lambda e: all([e, e]),
        lambda e: list(e),
        lambda e: col("a") > 3 & col("b") > 2,
        lambda e: bool(Filter(e) == Filter(X + 1)),
        lambda e: e == None,  # noqa: E711
        lambda e: None != e,  # noqa: E711
        lambda e: e.is_in("abc"),
        lambda e: e.is_in(5),
        lambda e: e == (lambda row: row),
        lambda e: e + [1],
        lambda e: e == float("nan"),
        lambda e: e.cast("number"),
        lambda e: e.cast(dict),
        lambda e: e.alias(5),
        lambda e: e.alias(""),
        lambda e: e.dt("fortnight"),
        lambda e: e.dt(60),
        lambda e: col(5),
        lambda e: lit([1]),
        lambda e: case(e),
        lambda e: case(),
        lambda e: greatest(e),
        lambda e: opaque(5, ["x"]),
        lambda e: opaque(len, "x"),
        lambda e: opaque(len, 5),
        lambda e: opaque(len, ["x"], "numbr"),
        lambda e: stream("s", x=int).filter(True),
        lambda e: stream("s", x=int).filter("x > 5"),
        lambda e: stream("s", x=int).filter(lambda row: row[0] > 5),
        lambda e: stream("s", x=int).select(y=lambda row: row[0]),
        lambda e: stream("s", x=int).select(e),
    ],
)  # fmt: skip
def test_what_python_would_misread_is_refused(misuse: Callable[[Operand], Any]) -> None:
    with pytest.raises(MidstreamError):
        misuse(X + 1)


def test_the_refusal_says_what_to_write() -> None:
    with pytest.raises(ExpressionError, match=r"x > 1 has no truth value.*& \| ~.*is_in.*between.*equals"):
        bool(X > 1)
    with pytest.raises(ExpressionError, match=r"x == None is unknown for every row; write .is_null\(\)"):
        X == None  # noqa: B015, E711
    with pytest.raises(ExpressionError, match=r"found the Python function <lambda>.*opaque\(function, reads"):
        stream("s", x=int).filter(lambda row: row)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match=r"select: found x \+ 1.*\.alias\(name\)"):
        stream("s", x=int).select(X + 1)


def test_structure_is_compared_by_name() -> None:
    assert (X + 1).equals(col("x") + 1)
    assert not (X + 1).equals(1 + X)
    assert not lit(1).equals(lit(1.0))
    assert not lit(1).equals(lit(True))
    assert not X.equals(5)
    assert X.expression == Col("x")
    assert repr(X == 1) == "<expression x = 1>"


def test_a_name_travels_with_an_expression_and_not_further() -> None:
    s = stream("s", x=int, y=float)
    assert s.select("x", (X * 2).alias("twice")) == s.select("x", twice=X * 2)
    assert s.select((X * 2).alias("twice"), "x").schema.names == ("twice", "x")
    assert s.select(X.alias("z")).schema.names == ("z",)
    with pytest.raises(PlanError, match="a computed column needs a name"):
        s.select((X * 2).alias("twice") + 1)


def test_an_operand_is_a_key_as_long_as_none_is_equal() -> None:
    """Selectivities are given by condition."""
    s = stream("s", x=int, y=int)
    found = Statistics({}, {s["x"] > 7: 0.1, s["y"] > 7: 0.2})
    assert found.selectivities[Binary(">", Col("x"), Const(7))] == 0.1


def test_no_value_is_in_no_list() -> None:
    none = X.is_in([]).expression
    assert none == Const(False)


def test_trees_have_no_operators() -> None:
    """So that no code of ours compares trees where it means an expression."""
    for name in ("__add__", "__lt__", "__and__", "__invert__", "eq", "is_null"):
        assert name not in dir(Expression) or getattr(Expression, name) is getattr(object, name)
    assert Col("x") == Col("x")
    assert Binary("==", Col("x"), Const(1)) != Binary("==", Col("x"), Const(True))
