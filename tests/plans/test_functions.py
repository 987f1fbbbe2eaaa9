"""Every function gives what DuckDB gives, and none ever raises.

DuckDB evaluates the same call on the same values; it shares no code with ours. Where it refuses values, or
gives what is infinite or no number, ours is unknown.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from midstream.plans.expressions.expressions import (
    Call,
    Case,
    Cast,
    Col,
    Const,
    Expression,
    compile_row,
    expression_from_json,
)
from midstream.plans.expressions.operands import Operand, call, case, col, expression_of, lit
from midstream.plans.functions import FUNCTIONS
from midstream.plans.functions.casts import CASTS
from midstream.plans.functions.dates import CALENDAR, CYCLES, FIRST_DAYS, LENGTHS
from midstream.plans.functions.function import LONGEST, TextTooLong, too_long
from midstream.plans.values.errors import ExpressionError
from midstream.plans.values.finite import LARGEST
from midstream.plans.values.schema import PYTHON_TYPES, Column, Schema, Type

MORE = settings(max_examples=4 * settings.default.max_examples)

# DuckDB as the oracle

TEXT = st.text(alphabet="abAB,. %_é😀ñX1\n", max_size=6)
LETTER = st.text(alphabet="ab%_,", min_size=1, max_size=1)
SMALL = st.integers(-8, 8)
WHOLE = st.one_of(SMALL, st.integers(-(2**62), 2**62))
FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1e300, -1e-300, 2.675, 1e15 + 0.5]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1000, 1000),
)
NUMBERS = st.one_of(SMALL, FLOATS)
ANYTHING = st.one_of(TEXT, WHOLE, st.booleans(), st.floats(allow_nan=False, allow_infinity=False))
PATTERNS = st.one_of(
    st.sampled_from(["a+", "^a", "b$", "[aA]b?", "(a)(b)?", "x*", "", "a|b", ".", r"\s", r"[^\w]", r"\d+"]),
    st.sampled_from(
        ["[[:alpha:]]+", "[^[:digit:]]", "[]a]", r"\.", "(", "[$]", r"a\z", "$", "(?i)A", "a{2}"]
    ),
    st.sampled_from(["(?m)^a", "(?s).", "(?:a|b)+", r"\$", "[a", "*"]),
)
REPLACEMENTS = st.sampled_from(["", "x", r"<\0>", r"\1-", r"\\", r"\2\1", r"\q", "\\"])
OPTIONS = st.sampled_from(["", "i", "s", "c", "l", "ic", "ci", "m", "q"])
ESCAPES = st.sampled_from(["", "\\", "a", "%", "!!"])
MICROSECONDS = st.integers(
    int(datetime(1, 1, 2, tzinfo=UTC).timestamp()) * 10**6,
    int(datetime(9999, 12, 30, tzinfo=UTC).timestamp()) * 10**6,
)
UNITS = st.sampled_from([1000, 10**6, 10**9, 60 * 10**9, 3600 * 10**9, 86400 * 10**9])
PARTS = sorted({*CYCLES, *CALENDAR, "epoch"})
TRUNCATED = sorted({*LENGTHS, *FIRST_DAYS})
FORMATS = st.one_of(
    st.sampled_from(
        ["%Y-%m-%d %H:%M:%S", "%f %g %n", "%a %A %b %B %p %I %j", "%y %U %W %w %u %V %G", "%x|%X|%c|%Z%z%%"]
    ),
    st.sampled_from(["%-d.%-m. %-H %-I %-M %-S %-y %-j", "x", "%", "%Q", "%-", "é %d"]),
)


@dataclass(frozen=True)
class Shared:
    """How a function is compared with DuckDB's: by which SQL, over which values.

    constant     the places of the arguments that must be constants
    """

    sql: str
    arguments: tuple[st.SearchStrategy[Any], ...]
    optional: int = 0
    constant: frozenset[int] = frozenset()


SHARED: Mapping[str, Shared] = {
    "coalesce": Shared("coalesce", (SMALL, NUMBERS, SMALL), 2),
    "greatest": Shared("greatest", (SMALL, NUMBERS, SMALL), 1),
    "least": Shared("least", (SMALL, NUMBERS, SMALL), 1),
    "nullif": Shared("nullif", (SMALL, NUMBERS)),
    "is distinct from": Shared("{0} is distinct from {1}", (SMALL, NUMBERS)),
    "in": Shared("{0} in ({1}, {2}, {3})", (SMALL, SMALL, NUMBERS, SMALL)),
    "abs": Shared("abs", (NUMBERS,)),
    "negate": Shared("-({0})", (NUMBERS,)),
    "sign": Shared("sign", (NUMBERS,)),
    "ceil": Shared("ceil", (NUMBERS,)),
    "floor": Shared("floor", (NUMBERS,)),
    "round": Shared("round({0}, {1}::integer)", (st.one_of(WHOLE, FLOATS), st.integers(-8, 18))),
    "trunc": Shared("trunc", (NUMBERS,)),
    "within": Shared("case when {0} between {1} and {2} then {0} end", (NUMBERS, SMALL, NUMBERS)),
    "sqrt": Shared("sqrt", (NUMBERS,)),
    "exp": Shared("exp", (NUMBERS,)),
    "ln": Shared("ln", (NUMBERS,)),
    "log10": Shared("log10", (NUMBERS,)),
    "log2": Shared("log2", (NUMBERS,)),
    "power": Shared("power", (NUMBERS, NUMBERS)),
    "mod": Shared("mod", (st.one_of(WHOLE, FLOATS), NUMBERS)),
    "//": Shared("{0} // {1}", (st.one_of(WHOLE, FLOATS), NUMBERS)),
    "lower": Shared("lower", (TEXT,)),
    "upper": Shared("upper", (TEXT,)),
    "length": Shared("length", (TEXT,)),
    "trim": Shared("trim", (TEXT, TEXT), 1),
    "ltrim": Shared("ltrim", (TEXT, TEXT), 1),
    "rtrim": Shared("rtrim", (TEXT, TEXT), 1),
    "substring": Shared("substring", (TEXT, SMALL, SMALL), 1),
    "replace": Shared("replace", (TEXT, st.one_of(TEXT, LETTER), TEXT)),
    "position": Shared("position({0} in {1})", (st.one_of(TEXT, LETTER), TEXT)),
    "strpos": Shared("strpos", (TEXT, st.one_of(TEXT, LETTER))),
    "starts_with": Shared("starts_with", (TEXT, st.one_of(TEXT, LETTER))),
    "ends_with": Shared("ends_with", (TEXT, st.one_of(TEXT, LETTER))),
    "contains": Shared("contains", (TEXT, st.one_of(TEXT, LETTER))),
    "||": Shared("({0}::varchar || {1}::varchar || {2}::varchar)", (ANYTHING, TEXT, ANYTHING)),
    "concat": Shared("concat", (ANYTHING, ANYTHING, TEXT), 2),
    "concat_ws": Shared("concat_ws", (TEXT, ANYTHING, ANYTHING, TEXT), 2),
    "left": Shared("left", (TEXT, SMALL)),
    "right": Shared("right", (TEXT, SMALL)),
    "reverse": Shared("reverse", (TEXT,)),
    "lpad": Shared("lpad({0}, {1}::integer, {2})", (TEXT, SMALL, TEXT)),
    "rpad": Shared("rpad({0}, {1}::integer, {2})", (TEXT, SMALL, TEXT)),
    "repeat": Shared("repeat", (TEXT, SMALL)),
    "split_part": Shared("split_part", (TEXT, st.one_of(st.just(""), LETTER), SMALL)),
    "ascii": Shared("ascii", (TEXT,)),
    "chr": Shared("chr({0}::integer)", (st.integers(-3, 0x110003),)),
    "like": Shared("{0} like {1}", (TEXT, TEXT)),
    "like escape": Shared("{0} like {1} escape {2}", (TEXT, TEXT, ESCAPES)),
    "ilike": Shared("{0} ilike {1}", (TEXT, TEXT)),
    "ilike escape": Shared("{0} ilike {1} escape {2}", (TEXT, TEXT, ESCAPES)),
    "regexp_matches": Shared("regexp_matches", (TEXT, PATTERNS, OPTIONS), 1, frozenset({2})),
    "regexp_replace": Shared("regexp_replace", (TEXT, PATTERNS, REPLACEMENTS, OPTIONS), 1, frozenset({3})),
    "regexp_replace all": Shared(
        "regexp_replace", (TEXT, PATTERNS, REPLACEMENTS, st.sampled_from(["g", "gi"]))
    ),
    "date_part": Shared(
        "date_part", (st.sampled_from(PARTS), MICROSECONDS, UNITS), constant=frozenset({0, 2})
    ),
    "date_trunc": Shared(
        "date_trunc", (st.sampled_from(TRUNCATED), MICROSECONDS, UNITS), constant=frozenset({0, 2})
    ),
    "strftime": Shared("strftime", (MICROSECONDS, FORMATS, UNITS), constant=frozenset({2})),
}
"""By the function, with a word behind it where one function is compared in several ways."""

DIFFERENT: Mapping[str, str] = {}
"""Functions that are not DuckDB's, and why.

Within the functions above, these differ as well: letters whose other case is several letters (lower, upper,
ilike); marks that belong to the letter before them (reverse); integers beyond 64 bits; what only one of RE2
and Python knows (regexp_matches, regexp_replace); years before 1 and behind 9999; an empty format that is
no constant (strftime); a pattern that ends with its escape character, which DuckDB refuses only where it
comes to it (like, ilike); numbers in strings that are hexadecimal or binary, or have exponents of many
digits; and errors, infinities and NaN of DuckDB, where ours are unknown.
"""


def compiled(value: Operand | Expression, schema: Schema) -> Callable[[Any], Any]:
    """The function of an operand, or of a tree."""
    return compile_row(expression_of(value), schema)


def plain_name(name: str) -> str:
    """The function that is compared."""
    return name.removesuffix(" escape").removesuffix(" all")


def test_each_function_is_compared_or_has_a_reason() -> None:
    assert {plain_name(name) for name in SHARED} | set(DIFFERENT) == set(FUNCTIONS)
    assert not set(SHARED) & set(DIFFERENT)


@pytest.fixture(scope="module")
def duckdb() -> Any:
    library = pytest.importorskip("duckdb")
    with library.connect() as connection:
        connection.execute("set threads = 1")
        yield connection


SQL_TYPES = {int: "bigint", float: "double", str: "varchar", bool: "boolean", type(None): "integer"}
"""An unknown value has no type of its own; that of the column is told beside it."""


def duckdb_value(connection: Any, sql: str, values: Sequence[Any], types: Sequence[type]) -> Any:
    """What DuckDB gives, with unknown for what it refuses.

    It spells -0.0 and 0.0 differently. They are equal rows, of which a plan may keep either, so ours spells
    both as 0.0: of strings it is asked with that.
    """
    import duckdb as library

    texts = [f"${i + 1}::{SQL_TYPES[type_]}" for i, type_ in enumerate(types)]
    sql = sql.format(*texts) if "{" in sql else f"{sql}({', '.join(texts)})"
    used = [i for i in range(len(values)) if f"${i + 1}::" in sql]
    assert len(used) == len(values)
    without_sign = [value or 0.0 if isinstance(value, float) else value for value in values]
    try:
        found = connection.execute(f"select {sql}", list(values)).fetchone()[0]
        if isinstance(found, str):
            found = connection.execute(f"select {sql}", without_sign).fetchone()[0]
    except library.Error:
        return None
    return None if isinstance(found, float) and not math.isfinite(found) else found


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, float) and isinstance(found, float | int) and not isinstance(found, bool):
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=5e-324)
    return bool(found == expected) and isinstance(found, bool) == isinstance(expected, bool)


TYPES = {int: Type.INTEGER, float: Type.FLOAT, str: Type.STRING, bool: Type.BOOLEAN}


@st.composite
def arguments(draw: st.DrawFn, shared: Shared) -> tuple[list[Any], list[type], list[str]]:
    """Values, their types, and how each is given: as a constant, or by a column, nullable or not."""
    count = len(shared.arguments) - draw(st.integers(0, shared.optional))
    values = [draw(strategy) for strategy in shared.arguments[:count]]
    types = [type(value) for value in values]
    ways = []
    for place, value in enumerate(values):
        if place in shared.constant:
            ways.append("constant")
            continue
        if draw(st.integers(0, 9)) == 0:
            values[place] = None
        ways.append(
            draw(st.sampled_from(["nullable", "constant", "sure" if value is not None else "nullable"]))
        )
        if values[place] is None and ways[-1] == "sure":
            ways[-1] = "nullable"
    return values, types, ways


def ours(name: str, values: Sequence[Any], types: Sequence[type], ways: Sequence[str]) -> Any:
    """What our function gives; unknown also where constants are refused before there is a row."""
    columns = [
        Column(f"x{i}", TYPES[type_], way == "nullable")
        for i, (type_, way) in enumerate(zip(types, ways, strict=True))
    ]
    parts = [
        Const(value) if way == "constant" else Col(f"x{i}")
        for i, (value, way) in enumerate(zip(values, ways, strict=True))
    ]
    expression, schema = Call(name, tuple(parts)), Schema(tuple(columns))
    try:
        kind = expression.kind(schema)
    except ExpressionError:
        # Only what is said of constants may be refused here: the same by columns must be well-typed.
        Call(name, tuple(Col(f"x{i}") for i in range(len(values)))).kind(
            schema
        ) if name not in DATES else None
        return None
    found = compiled(expression, schema)(tuple(values))
    if found is None:
        assert kind.nullable
    elif kind.type is not Type.ANY:
        assert type(found) in PYTHON_TYPES[kind.type]
    return found


DATES = ("date_part", "date_trunc", "strftime")


@pytest.mark.parametrize("name", [name for name in SHARED if not name.startswith(DATES)])
@given(data=st.data())
def test_a_function_gives_what_duckdb_gives(name: str, duckdb: Any, data: st.DataObject) -> None:
    """With each argument as a constant, as a column, and as a column that may be unknown."""
    shared = SHARED[name]
    values, types, ways = data.draw(arguments(shared))
    expected = duckdb_value(duckdb, shared.sql, values, types)
    found = ours(plain_name(name), values, types, ways)
    if name.endswith(" escape"):
        assume(None in values or not ends_with_escape(*values[1:]))
    assert same(found, expected), (found, expected)


def ends_with_escape(pattern: str, escape: str) -> bool:
    """Whether a pattern ends with an escape character that is not escaped itself."""
    return len(escape) == 1 and (len(pattern) - len(pattern.lower().rstrip(escape))) % 2 == 1


@pytest.mark.parametrize("name", DATES)
@MORE
@given(data=st.data())
def test_an_instant_has_the_parts_that_duckdb_gives(name: str, duckdb: Any, data: st.DataObject) -> None:
    """In every unit of time that DuckDB's microseconds can express."""
    values, types, ways = data.draw(arguments(SHARED[name]))
    place = 0 if name == "strftime" else 1
    other, length = values[1 - place], values[2]
    if values[place] is not None:
        values[place] = values[place] * 1000 // length
    instant = None if values[place] is None else values[place] * length // 1000
    sql = f"{name}($1, make_timestamp($2::bigint))"
    sql = f"epoch_us({sql})" if name == "date_trunc" else sql
    sql = (
        sql.replace("$1, make_timestamp($2::bigint)", "make_timestamp($2::bigint), $1::varchar")
        if place == 0
        else sql
    )
    import duckdb as library

    try:
        expected = duckdb.execute(f"select {sql}", [other, instant]).fetchone()[0]
    except library.Error:
        expected = None
    if name == "date_trunc" and expected is not None:
        expected = expected * 1000 // length
    found = ours(name, values, types, ways)
    assert same(found, expected), (found, expected)


@pytest.mark.parametrize(
    "length", [1, 7, 1000, 10**6, 7 * 10**8, 10**9, 90 * 10**9, 7 * 86400 * 10**9, 10**18]
)
@given(instant=st.integers(-(10**22), 10**22))
@example(instant=0)
@example(instant=-1)
def test_a_part_of_time_begins_before_the_instant_and_ends_behind_it(length: int, instant: int) -> None:
    """In units of any length, also those that no other part of time is a multiple of."""
    schema = Schema.of(x="integer")
    for part in ("millisecond", "second", "hour", "day", "week", "month", "year"):
        begin = compiled(call("date_trunc", part, col("x"), length), schema)((instant,))
        year = compiled(call("date_part", "year", col("x"), length), schema)((instant,))
        if begin is None:
            assert year is None
            assert part in ("month", "year")
            continue
        assert begin <= instant
        again = compiled(call("date_trunc", part, col("x"), length), schema)((begin + 1,))
        assert again is None or again >= begin or length > 10**6
        longest = {"month": 31, "year": 366, "week": 7}.get(part, 1) * 86400 * 10**9
        assert (instant - begin) * length < longest + length
    if year is not None and 1 < year < 9999 and length < 86400 * 10**9:
        day = datetime(1970, 1, 1) + timedelta(microseconds=instant * length // 1000)
        assert year == day.year


def test_beyond_the_calendar_there_is_no_year() -> None:
    schema = Schema.of(x="integer")
    for instant in (10**18, -(10**18), 10**400):
        assert compiled(call("date_part", "year", col("x"), 10**9), schema)((instant,)) is None
        assert compiled(call("date_trunc", "month", col("x"), 10**9), schema)((instant,)) is None
        assert compiled(call("strftime", col("x"), "%Y", 10**9), schema)((instant,)) is None
        assert compiled(call("date_part", "hour", col("x"), 10**9), schema)((instant,)) is not None


# Conversions

NUMERALS = st.one_of(
    st.text(alphabet="0123456789.eE+-_ \t", max_size=8).filter(lambda text: not re.search(r"[eE].{4}", text)),
    st.from_regex(
        r"[ \t\n]?[+-]?[0-9]{0,3}(_[0-9])?\.?[0-9]{0,3}([eE][+-]?[0-9]{1,3})?[ \n]?", fullmatch=True
    ),
    st.sampled_from(
        [
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "1e19",
            "1e400",
            "1e-99",
        ]
    ),
    st.sampled_from(["nan", "inf", "-Infinity", "٣", "1e99999999999999999999", "1e-300", "4.5", "-0.5"]),
)
WORDS = st.sampled_from(
    ["true", "T", "yes", "Y", "1", "0", "no", "N", "f", "FALSE", " true", "on", "off", "", "2"]
)
CONVERTED = {
    "string": st.one_of(NUMERALS, WORDS, TEXT),
    "integer": WHOLE,
    "float": FLOATS,
    "boolean": st.booleans(),
}


@pytest.mark.parametrize("target", ["integer", "float", "string", "boolean"])
@pytest.mark.parametrize("source", list(CONVERTED))
@given(data=st.data())
def test_a_cast_gives_what_duckdb_gives(source: str, target: str, duckdb: Any, data: st.DataObject) -> None:
    value = data.draw(CONVERTED[source])
    sql_type = {"integer": "bigint", "float": "double", "string": "varchar", "boolean": "boolean"}[target]
    expected = duckdb_value(duckdb, f"try_cast({{0}} as {sql_type})", [value], [type(value)])
    for type_ in (source, f"{source}?", "any"):
        schema = Schema.of(x=type_)
        found = compiled(col("x").cast(target), schema)((value,))
        assert same(found, expected), (found, expected)
        assert found is not None or col("x").cast(target).expression.kind(schema).nullable
        if type_ != source:
            assert compiled(col("x").cast(target), schema)((None,)) is None
    assert same(compiled(lit(value).cast(target), Schema(()))(()), expected)


@pytest.mark.parametrize(
    "value", [10**400, -(10**5000), 1e308, (1, 2), "x"], ids=["large", "huge", "float", "pair", "x"]
)
@pytest.mark.parametrize("target", list(CASTS))
def test_what_cannot_be_converted_is_unknown(value: Any, target: Type) -> None:
    found = compiled(col("x").cast(target), Schema.of(x="any"))((value,))
    assert found is None or type(found) in PYTHON_TYPES[target]
    assert not isinstance(found, float) or math.isfinite(found)


def test_a_float_that_is_kept_as_an_integer_is_written_as_a_float() -> None:
    """A column of floats takes integers as well."""
    schema = Schema.of(x="float")
    assert compiled(col("x").cast("string"), schema)((3,)) == "3.0"
    assert compiled(call("||", col("x"), "!"), schema)((3,)) == "3.0!"
    assert compiled(call("concat", col("x"), None), schema)((3,)) == "3.0"
    assert compiled(call("//", col("x"), 2), schema)((3,)) == 1.5


# What is well-typed never raises

SCHEMA = Schema.of(
    i="integer",
    n="integer?",
    f="float",
    g="float?",
    s="string",
    t="string?",
    b="boolean",
    c="boolean?",
    a="any?",
)
VALUES = {
    Type.INTEGER: st.one_of(SMALL, st.sampled_from([2**63, -(2**64), 10**400, -(10**400), 10**9])),
    Type.FLOAT: st.one_of(NUMBERS, st.sampled_from([LARGEST, -LARGEST, 10**308, 5e-324, 1.7e308])),
    Type.STRING: st.one_of(
        TEXT, st.sampled_from(["", "(", "\\", "a\\", "%", "[", "%Y", "\ud800", "x" * 100])
    ),
    Type.BOOLEAN: st.booleans(),
    Type.ANY: st.one_of(ANYTHING, st.just((1, "x"))),
}
ROWS = st.tuples(*(st.one_of(st.none(), VALUES[c.type]) if c.nullable else VALUES[c.type] for c in SCHEMA))
CHOOSING = ("greatest", "least", "coalesce", "nullif")
"""They give what they take."""


def giving() -> dict[Type, list[str]]:
    """The functions by the type that they give."""
    found: dict[Type, list[str]] = {type_: [] for type_ in CASTS}
    for name, function in FUNCTIONS.items():
        if name in CHOOSING:
            continue
        kind = function.result if isinstance(function.result, Type) else Type.FLOAT
        found[kind].append(name)
        if kind is Type.FLOAT and name in (
            "abs",
            "negate",
            "round",
            "trunc",
            "within",
            "mod",
            "//",
            "date_part",
        ):
            found[Type.INTEGER].append(name)
    return found


GIVING = giving()


@st.composite
def typed(draw: st.DrawFn, type_: Type, depth: int = 2) -> Expression:
    """An expression of a type."""
    leaf = st.one_of(
        st.sampled_from([Col(c.name) for c in SCHEMA if c.type is type_]),
        VALUES[type_].filter(lambda value: type(value) in TYPES and TYPES[type(value)] is type_).map(Const),
    )
    if depth == 0 or type_ is Type.ANY:
        return draw(leaf)
    match draw(st.integers(0, 7)):
        case 0:
            return draw(leaf)
        case 1:
            return Cast(draw(typed(draw(st.sampled_from(list(Type))), depth - 1)), type_)
        case 2:
            branches = draw(st.lists(st.tuples(typed(Type.BOOLEAN, depth - 1), typed(type_, 0)), min_size=1))
            return Case(tuple(branches), draw(st.one_of(typed(type_, depth - 1), st.just(Const(None)))))
        case 3:
            below = st.one_of(typed(type_, depth - 1), st.just(Const(None)))
            values = draw(st.lists(below, min_size=2, max_size=2))
            return Call(draw(st.sampled_from(CHOOSING)), (*values,))
    name = draw(st.sampled_from(GIVING[type_]))
    if name in DATES:
        return draw(dated(name, type_, depth))
    if name in ("in", "is distinct from"):
        wanted = draw(st.sampled_from(list(CASTS)))
        count = 2 if name != "in" else draw(st.integers(2, 4))
        return Call(name, tuple(draw(typed(wanted, depth - 1)) for _ in range(count)))
    parameters = FUNCTIONS[name].parameters
    count = len(parameters) - draw(st.integers(0, FUNCTIONS[name].optional))
    parts = []
    for parameter in parameters[:count]:
        accepted = [t for t in parameter.types if t in CASTS]
        wanted = draw(st.sampled_from(sorted(accepted, key=str)))
        if wanted is Type.FLOAT and type_ is Type.INTEGER and name != "sign":
            wanted = Type.INTEGER
        parts.append(draw(st.one_of(typed(wanted, depth - 1), typed(wanted, 0), any_value())))
    return Call(name, tuple(parts))


def any_value() -> st.SearchStrategy[Expression]:
    return st.sampled_from([Col("a"), Const(None)])


@st.composite
def dated(draw: st.DrawFn, name: str, type_: Type, depth: int) -> Expression:
    instant = draw(typed(Type.INTEGER, depth - 1))
    length = Const(draw(UNITS))
    if name == "strftime":
        return Call(name, (instant, draw(typed(Type.STRING, depth - 1)), length))
    parts = ("epoch",) if type_ is Type.FLOAT else TRUNCATED
    return Call(name, (Const(draw(st.sampled_from(parts))), instant, length))


WELL_TYPED = st.sampled_from(list(CASTS)).flatmap(lambda type_: typed(type_, 3))


def is_well_typed(expression: Expression) -> bool:
    """Constants that cannot be, such as patterns that end in the middle, are refused beforehand."""
    try:
        expression.kind(SCHEMA)
    except ExpressionError as error:
        assert "found" in str(error)
        return False
    return True


@MORE
@given(WELL_TYPED.filter(is_well_typed), st.lists(ROWS, min_size=1, max_size=4))
def test_what_is_well_typed_never_raises(expression: Expression, rows: list[tuple[Any, ...]]) -> None:
    """Whatever is in the row, the value is of the kind that was said."""
    kind = expression.kind(SCHEMA)
    compute = compiled(expression, SCHEMA)
    for row in rows:
        value = compute(row)
        if value is None:
            assert kind.nullable
        elif kind.type is not Type.ANY:
            assert type(value) in PYTHON_TYPES[kind.type]


@given(WELL_TYPED)
def test_what_is_written_is_read_back(expression: Expression) -> None:
    again = expression_from_json(json.loads(json.dumps(expression.to_json())))
    assert again == expression == expression.renamed({})
    assert hash(again) == hash(expression)
    assert str(again) == str(expression)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in (*CHOOSING, *DATES)])
def test_a_value_of_a_wrong_type_in_a_column_of_any_is_unknown(name: str) -> None:
    """A column may be of type any; a function must not end the query at a value of another type."""
    function = FUNCTIONS[name]
    schema = Schema.of(**{f"x{i}": "any" for i in range(len(function.parameters))})
    expression = Call(name, tuple(map(Col, schema.names)))
    for odd in ((1, 2), 1, 1.5, "x", True, 10**400, LARGEST):
        value = compiled(expression, schema)((odd,) * len(schema))
        assert value is not None or expression.kind(schema).nullable


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in CHOOSING])
def test_what_is_unknown_is_said_by_the_kind(name: str) -> None:
    """The unknown constant goes with every type, and a function over it is never refused."""
    function = FUNCTIONS[name]
    parts = [Const(1) if parameter.is_constant else Const(None) for parameter in function.parameters]
    if name in ("date_part", "date_trunc"):
        parts[0] = Const("day")
    expression = Call(name, tuple(parts))
    value = compiled(expression, Schema(()))(())
    expected = {"concat": "", "is distinct from": False}
    assert value == expected.get(name)
    assert expression.kind(Schema(())).nullable is (name not in expected)


def test_without_unknown_arguments_no_guard_is_generated() -> None:
    """What is certain to be known is computed in line, by Python's own operators."""
    from midstream.plans.expressions.expressions import row_scope

    schema = Schema.of(s="string", i="integer")
    sources = {
        call("lower", col("s")): "row[0].lower()",
        call("like", col("s"), "a%"): "row[0].startswith(_k0)",
        call("date_part", "hour", col("i"), 10**6): "(row[1] // 3600000 % 24)",
        call("||", col("s"), "x"): "(row[0] + 'x')",
        call("in", col("i"), 1, 2): "(row[1] in _k0)",
        call("coalesce", col("i"), 1): "(row[1])",
        call("mod", col("i"), -3): "(_k0 % 3 if (_k0 := row[1]) >= 0 else -(-_k0 % 3))",
        case((col("i") > 1, col("i")), default=0): "(row[1] if (row[1] > 1) else 0)",
    }
    for operand, source in sources.items():
        expression = operand.expression
        assert expression.source(row_scope(schema, "row")) == source
        assert not expression.kind(schema).nullable


# Cases that a random search seldom meets


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (call("repeat", "ab", 10**12), None),
        (call("lpad", "ab", 10**12, "x"), None),
        (call("replace", "a" * 10**4, "a", "b" * 10**4), None),
        (call("repeat", "", 10**12), ""),
        (call("regexp_replace", "abc", "b*", "x", "g"), "xaxcx"),
        (call("regexp_replace", "abc", "", "-", "g"), "-a-b-c-"),
        (call("regexp_matches", "a\n", "a$"), False),
        (lit("0e99999999").cast("integer"), 0),
        (lit("1e99999999").cast("integer"), None),
        (call("length", call("repeat", "ab", LONGEST // 2)), LONGEST),
        (call("like", "a" * 3000 + "c", "%a" * 40 + "%b"), False),
        (call("like", "a" * 3000 + "b", "%a" * 40 + "%b"), True),
        (call("ilike", "ABC", "%b_"), True),
        (call("like", "abab", "ab%ab"), True),
        (call("like", "aba", "ab%ba"), False),
        (call("round", 10**30, -29), 10**30),
        (call("round", 7, -(10**12)), 0),
        (call("chr", 0xD800), None),
        (call("ascii", "\U0010ffff"), 0x10FFFF),
        (call("concat_ws", ", ", "a", None, 1, True), "a, 1, true"),
        (call("trim", "\u3000a\u00a0\t"), "a\u00a0\t"),
        (call("date_part", "week", 21960, 24 * 60 * 60 * 10**9), 7),
        (call("strftime", -1, "%c", 10**9), "1969-12-31 23:59:59"),
    ],
    ids=lambda x: str(x)[:40],
)
def test_borders(expression: Expression, value: Any) -> None:
    assert compiled(expression, Schema(()))(()) == value


def test_the_first_match_of_each_segment_decides() -> None:
    """Taking a segment's first place loses no match, and needs no other try."""
    schema = Schema.of(s="string")
    holds = compiled(call("like", col("s"), "a_b%c_d%e"), schema)
    for text, expected in (
        ("axbcxde", True),
        ("axbbcxdcxdee", True),
        ("axbe", False),
        ("axbcxd", False),
        ("xaxbcxde", False),
    ):
        assert holds((text,)) is expected


@pytest.mark.parametrize("options", ["g", "gi"])
def test_letters_beyond_ascii_are_of_no_perl_class(options: str) -> None:
    """Also where case is ignored, which they have."""
    schema = Schema.of(x="string")
    for pattern, expected in ((r"[^\w]", "a--1"), (r"\W", "a--1"), (r"\w", "-é -"), (r"[\d\s]", "aé--")):
        replaced = call("regexp_replace", col("x"), pattern, "-", options)
        assert compiled(replaced, schema)(("aé 1",)) == expected
    assert compiled(call("regexp_matches", col("x"), "É", "i"), schema)(("é",)) is True


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("repeat", ("ab", LONGEST)),
        ("lpad", ("ab", LONGEST + 1, "x")),
        ("rpad", ("ab", LONGEST + 1, "x")),
        ("replace", ("a", "a", "b" * (LONGEST + 1))),
        ("regexp_replace", ("a", "a", "b" * (LONGEST + 1), "g")),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_text_that_is_too_long_is_unknown_and_told_once(name: str, arguments: tuple[Any, ...]) -> None:
    too_long.cache_clear()
    function = compiled(call(name, *(lit(one) for one in arguments)), Schema(()))
    with pytest.warns(TextTooLong, match=f"{name}: a text of more than 10,000,000 characters") as told:
        assert [function(()), function(())] == [None, None]
    assert len(told) == 1
