"""Relations are loaded as they were written, whatever holds them, and what does not fit is named."""

from __future__ import annotations

import csv
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.io.relations import DatabaseError, content, load_csv, load_parquet, load_sql, sql_reading
from midstream.io.time_units import Clock
from midstream.plans.values.errors import InputFileError, IntervalError, MissingExtra, SchemaError
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.streams import BEGINNING, FOREVER, Element

SCHEMA = Schema.of(number="integer", share="float?", text="string", flag="boolean")
TYPES = [pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.int64(), pa.int64()]
NAMES = [*SCHEMA.names, "from", "to"]
INTEGERS = st.integers(-(2**62), 2**62)
ROWS = st.lists(
    st.tuples(
        INTEGERS,
        st.none() | st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        st.booleans(),
        INTEGERS,
        st.none() | st.integers(1, 100),
    ).map(lambda row: (*row[:5], None if row[5] is None else row[4] + row[5]))
)
PERIOD = ("from", "to")


def write_csv(folder: Path, names: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (folder / "r.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *rows])


def write_parquet(folder: Path, names: list[str], rows: list[tuple[Any, ...]]) -> None:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, TYPES, strict=True)]
    pq.write_table(pa.table(arrays, names=names), folder / "r.parquet")


def write_sql(folder: Path, names: list[str], rows: list[tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(folder / "r.db")) as connection, connection:
        connection.execute(f"CREATE TABLE r ({', '.join(map(quoted, names))})")
        connection.executemany(f"INSERT INTO r VALUES ({', '.join('?' * len(names))})", rows)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


CHUNKS = (
    "midstream.io.sources.conversion.BATCH",
    "midstream.io.relations.parquet_file.CHUNK",
    "midstream.io.relations.sql_reading.CHUNK",
)
"""The numbers of rows that are read at once."""

Write = Callable[[Path, list[str], list[tuple[Any, ...]]], None]
Load = Callable[..., list[Element]]
FORMATS: dict[str, tuple[Write, Load]] = {
    "csv": (write_csv, lambda folder, *a, **k: load_csv(folder / "r.csv", *a, **k)),
    "parquet": (write_parquet, lambda folder, *a, **k: load_parquet(folder / "r.parquet", *a, **k)),
    "table": (write_sql, lambda folder, *a, **k: load_sql(folder / "r.db", *a, table="r", **k)),
    "query": (write_sql, lambda folder, *a, **k: load_sql(folder / "r.db", *a, query="SELECT * FROM r", **k)),
}
every_format = pytest.mark.parametrize(("write", "load"), FORMATS.values(), ids=FORMATS)


def database(folder: Path, script: str) -> Path:
    file = folder / "d.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)
    return file


def csv_file(folder: Path, text: str) -> Path:
    file = folder / "f.csv"
    file.write_text(text, encoding="utf-8")
    return file


@every_format
@settings(max_examples=settings.default.max_examples // 2)
@given(rows=ROWS, chunk=st.integers(1, 3))
def test_what_was_written_is_loaded(
    write: Write, load: Load, rows: list[tuple[Any, ...]], chunk: int
) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        for constant in CHUNKS:
            patch.setattr(constant, chunk)
        folder = Path(name)
        write(folder, NAMES, rows)
        payloads = [row[:4] for row in rows]
        assert load(folder, SCHEMA) == [(BEGINNING, FOREVER, payload) for payload in payloads]
        loaded = load(folder, SCHEMA, period=PERIOD)
        elements = [(row[4], FOREVER if row[5] is None else row[5], row[:4]) for row in rows]
        assert loaded == sorted(elements, key=lambda element: element[0])
        SCHEMA.check([payload for _, _, payload in loaded])


@every_format
def test_columns_are_chosen_ordered_and_renamed(write: Write, load: Load, tmp_path: Path) -> None:
    names = ["a.b", "C d", "e", "f", "g", "h"]
    write(tmp_path, names, [(1, 0.5, "x", True, 2, 3)])
    columns = {"x": "e", "y": "a.b", "again": "a.b"}
    loaded = load(tmp_path, Schema.of(x="string", y="integer", again="integer"), columns=columns)
    assert loaded == [(BEGINNING, FOREVER, ("x", 1, 1))]


@every_format
def test_an_unknown_column_is_named(write: Write, load: Load, tmp_path: Path) -> None:
    write(tmp_path, NAMES, [])
    with pytest.raises((InputFileError, SchemaError), match=r"column numbr: found no such .* mean number\?"):
        load(tmp_path, Schema.of(numbr="integer"))
    with pytest.raises((InputFileError, SchemaError), match="column until: found no such column"):
        load(tmp_path, SCHEMA, period=("from", "until"))
    with pytest.raises(SchemaError, match="there is no column nmber"):
        load(tmp_path, SCHEMA, columns={"nmber": "from"})


@every_format
@pytest.mark.parametrize(("start", "end"), [(5, 5), (5, 4)])
def test_validity_that_is_empty_is_refused(
    write: Write, load: Load, tmp_path: Path, start: int, end: int
) -> None:
    write(tmp_path, NAMES, [(1, 0.5, "x", True, 0, 9), (2, 0.5, "x", True, start, end)])
    place = r"(r.csv, line 3|r.parquet, row 2|r.db, (table r|query), row 2)"
    with pytest.raises(
        IntervalError, match=f"{place}: found validity from {start} to {end}, expected to to be"
    ):
        load(tmp_path, SCHEMA, period=PERIOD)


@every_format
def test_a_start_must_be_there(write: Write, load: Load, tmp_path: Path) -> None:
    write(tmp_path, NAMES, [(1, 0.5, "x", True, 0, 9), (2, 0.5, "x", True, None, 7)])
    with pytest.raises(
        (InputFileError, SchemaError), match=r"(line 3|row 2), column from: found nothing, exp"
    ):
        load(tmp_path, SCHEMA, period=PERIOD)


@every_format
def test_progress_is_told(write: Write, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for constant in CHUNKS:
        monkeypatch.setattr(constant, 2)
    write(tmp_path, NAMES, [(i, 0.5, "x", True, i, None) for i in range(5)])
    told: list[tuple[int, int | None]] = []
    load(tmp_path, SCHEMA, progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == [2, 4, 5]
    assert {total for _, total in told} == ({5} if (tmp_path / "r.parquet").exists() else {None})


@every_format
def test_the_second_chunk_counts_on(
    write: Write, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant in CHUNKS:
        monkeypatch.setattr(constant, 2)
    write(tmp_path, NAMES, [(i, None if i == 3 else 0.5, "x", True, i, None) for i in range(5)])
    with pytest.raises((InputFileError, SchemaError), match=r"(line 5|row 4), column share: found "):
        load(tmp_path, Schema.of(share="float"))


# CSV


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.csv, line 1: found nothing, expected the names of the columns"),
        ("id,name\n1\n", "f.csv, line 2: found 1 fields, expected 2, as there are columns"),
        ("id,name\n1,Ann\nx,Bob\n", "f.csv, line 3, column id: found 'x', expected integer"),
        ("id,id,name\n", "f.csv, line 1, column id: found 2 columns of this name, expected one"),
    ],
)
def test_mistakes_in_csv_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputFileError, match=message):
        load_csv(csv_file(tmp_path, text), Schema.of(id="integer", name="string"))


def test_dates_are_converted_by_the_clock(tmp_path: Path) -> None:
    file = csv_file(
        tmp_path, "id,since,until\n1,2024-01-03,\n2,2024-01-01 12:00,2024-01-02T00:00+01:00\n3,7,NA\n"
    )
    hours = Clock("h", datetime(2024, 1, 1, tzinfo=UTC))
    loaded = load_csv(file, Schema.of(id="integer"), period=("since", "until"), clock=hours)
    assert loaded == [(7, FOREVER, (3,)), (12, 23, (2,)), (48, FOREVER, (1,))]


def test_dates_need_a_clock(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "id,since,until\n1,2024-01-03,\n")
    period = ("since", "until")
    expected = "line 2, column since: found '2024-01-03', expected an integer; dates and times need a clock"
    with pytest.raises(InputFileError, match=expected):
        load_csv(file, Schema.of(id="integer"), period=period)
    with pytest.raises(SchemaError, match="clock: found unit 'day', expected one of ns, us, ms, s, m, h, d"):
        load_csv(file, Schema.of(id="integer"), period=period, clock="day")


# Parquet


def test_instants_of_parquet_are_exact(tmp_path: Path) -> None:
    kinds = [pa.timestamp(unit, tz) for unit in ("s", "ms", "us", "ns") for tz in (None, "Europe/Berlin")]
    for kind in kinds:
        since = pa.array([1, 2], pa.int64()).cast(kind)
        until = pa.array([date(1970, 1, 2), None])
        pq.write_table(pa.table({"id": [1, 2], "since": since, "until": until}), tmp_path / "r.parquet")
        loaded = load_parquet(
            tmp_path / "r.parquet", Schema.of(id="integer"), period=("since", "until"), clock="ns"
        )
        length = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[kind.unit]
        assert loaded == [(length, 86400 * 10**9, (1,)), (2 * length, FOREVER, (2,))]


@pytest.mark.parametrize(
    ("array", "type_"),
    [
        (pa.array([1.5]), "integer"),
        (pa.array([1]), "string"),
        (pa.array(["x"]), "float"),
        (pa.array([1]), "boolean"),
        (pa.array([b"x"]), "string"),
    ],
)
def test_types_of_parquet_are_compared(tmp_path: Path, array: pa.Array, type_: str) -> None:
    pq.write_table(pa.table({"x": array}), tmp_path / "r.parquet")
    with pytest.raises(InputFileError, match=f"r.parquet, column x: found {array.type}, expected {type_}"):
        load_parquet(tmp_path / "r.parquet", Schema.of(x=type_))


def test_values_of_parquet_are_checked(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0, float("nan")], "y": [[1], [2]]}), tmp_path / "r.parquet")
    with pytest.raises(InputFileError, match=r"row 2, column x: found NaN, expected a finite number"):
        load_parquet(tmp_path / "r.parquet", Schema.of(x="float"))
    with pytest.raises(InputFileError, match=r"row 1, column y: unhashable type: 'list', expected hashable"):
        load_parquet(tmp_path / "r.parquet", Schema.of(y="any"))


def test_dictionaries_and_nulls_of_parquet_are_read(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array(["a", "b", "a"]).dictionary_encode(), "n": pa.nulls(3)})
    pq.write_table(table, tmp_path / "r.parquet")
    loaded = load_parquet(tmp_path / "r.parquet", Schema.of(x="string", n="integer?"))
    assert [row for _, _, row in loaded] == [("a", None), ("b", None), ("a", None)]


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"f.csv: found no readable Parquet file: "):
        load_parquet(csv_file(tmp_path, "id\n1\n"), SCHEMA)
    with pytest.raises(InputFileError, match=r"none.parquet: found no readable Parquet file: .*No such file"):
        load_parquet(tmp_path / "none.parquet", SCHEMA)


@pytest.mark.parametrize(
    ("library", "extra", "load"),
    [
        ("pyarrow", "arrow", lambda: load_parquet("x", SCHEMA)),
        ("sqlalchemy", "sql", lambda: load_sql("x", SCHEMA, table="t")),
    ],
)
def test_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch, library: str, extra: str, load: Callable[[], object]
) -> None:
    monkeypatch.setattr("midstream.io.requirements.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=rf"found no {library}.*midstream\[{extra}\]"):
        load()


# SQL


def test_tables_and_columns_may_have_any_name(tmp_path: Path) -> None:
    for name in ('se"lect x', "a.b", "%(x)s :y", "group"):
        columns = {"x": 'od"d %(', "y": ":z.%s"}
        x, y = map(quoted, columns.values())
        file = database(
            tmp_path,
            f"CREATE TABLE {quoted(name)} ({x} INT, {y} TEXT); INSERT INTO {quoted(name)} VALUES (1, 'a')",
        )
        loaded = load_sql(file, Schema.of(y="string", x="integer"), table=name, columns=columns)
        assert loaded == [(BEGINNING, FOREVER, ("a", 1))]


def test_a_query_is_taken_as_it_is_written(tmp_path: Path) -> None:
    file = database(tmp_path, "CREATE TABLE t (a)")
    query = """SELECT ' :x ::y \\:z 12:30 %s %(k)s' AS "a:b" """
    loaded = load_sql(file, Schema.of(a="string"), query=query, columns={"a": "a:b"})
    assert loaded == [(BEGINNING, FOREVER, (" :x ::y \\:z 12:30 %s %(k)s",))]


def test_a_query_must_name_its_columns_apart(tmp_path: Path) -> None:
    file = database(tmp_path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    with pytest.raises(SchemaError, match="query, column a: found 2 columns of this name, expected one"):
        load_sql(file, Schema.of(a="integer"), query="SELECT a, a FROM t")
    with pytest.raises(DatabaseError, match="query: found a statement without rows, expected a SELECT"):
        load_sql(file, Schema.of(a="integer"), query="DELETE FROM t")
    assert load_sql(file, Schema.of(a="integer"), table="t") == [(BEGINNING, FOREVER, (1,))]


def test_either_a_table_or_a_query_is_given(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="found neither"):
        load_sql(tmp_path / "d.db", SCHEMA)
    with pytest.raises(SchemaError, match="found both"):
        load_sql(tmp_path / "d.db", SCHEMA, table="t", query="SELECT 1")


def test_values_of_sqlite_are_taken_as_they_are(tmp_path: Path) -> None:
    # SQLAlchemy's types for these declarations would lose digits, refuse texts and take 7 for true.
    file = database(
        tmp_path,
        "CREATE TABLE t (n NUMERIC, d DATETIME, b BOOLEAN, e DATE);"
        "INSERT INTO t VALUES (0.1234567890123, '2024-01-01T10:00:00Z', 1, 19)",
    )
    clock = Clock("s", datetime(2024, 1, 1, tzinfo=UTC))
    schema = Schema.of(n="float", b="boolean")
    row = (0.1234567890123, True)
    assert load_sql(file, schema, table="t", period=("e", "d"), clock=clock) == [(19, 36000, row)]
    file = database(tmp_path, "UPDATE t SET b = 7")
    with pytest.raises(SchemaError, match=r"table t, row 1, column b: found 7 \(int\), expected boolean"):
        load_sql(file, Schema.of(b="boolean"), table="t")


def test_views_are_tables(tmp_path: Path) -> None:
    file = database(tmp_path, "CREATE VIEW v AS SELECT 3 AS x")
    assert load_sql(f"sqlite:///{file}", Schema.of(x="integer"), table="v") == [(BEGINNING, FOREVER, (3,))]


def test_rows_of_sql_are_checked(tmp_path: Path) -> None:
    file = database(tmp_path, "CREATE TABLE t (x); INSERT INTO t VALUES (1), ('dear')")
    message = r"d.db, table t, row 2, column x: found 'dear' \(str\), expected integer"
    with pytest.raises(SchemaError, match=message) as caught:
        load_sql(file, Schema.of(x="integer"), table="t")
    assert caught.value.row == 2


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"none.db: found no such file"):
        load_sql(tmp_path / "none.db", SCHEMA, table="t")
    assert not (tmp_path / "none.db").exists()
    file = database(tmp_path, "CREATE TABLE people (x)")
    with pytest.raises(
        DatabaseError, match=r"d.db, table peple: found no such .*people; did you mean people\?"
    ):
        load_sql(file, SCHEMA, table="peple")
    with pytest.raises(DatabaseError, match=r"d.db, query: .*syntax error"):
        load_sql(file, SCHEMA, query="SELEC 1")
    with pytest.raises(DatabaseError, match=r"f.csv, table t: file is not a database"):
        load_sql(csv_file(tmp_path, "id\n" * 100), SCHEMA, table="t")
    with pytest.raises(DatabaseError, match=r"expected a URL such as"):
        load_sql("nonsense://", SCHEMA, table="t")


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    with pytest.raises(
        MissingExtra, match=r"psycopg2.* databases of type postgresql\+psycopg2 need; install it"
    ):
        load_sql("postgresql+psycopg2://host/name", SCHEMA, table="t")


def test_a_password_is_not_shown() -> None:
    engine = sa.create_engine("sqlite://")
    engine.dialect.name = "other"
    engine.url = sa.make_url("other://me:secret@host/name")
    with pytest.raises(DatabaseError) as caught:
        load_sql(engine, SCHEMA, query="SELEC 1")
    assert "other://me:***@host/name, query: " in str(caught.value)


def test_an_engine_of_the_caller_stays_open() -> None:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x)")
        connection.exec_driver_sql("INSERT INTO t VALUES (1)")
    for _ in range(2):
        assert load_sql(engine, Schema.of(x="integer"), table="t") == [(BEGINNING, FOREVER, (1,))]


def test_rows_are_taken_as_they_stream_in() -> None:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    made: list[int] = []
    with engine.connect() as connection:
        connection.connection.driver_connection.create_function("made", 1, lambda n: made.append(n) or n)
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
    schema = Schema.of(x="integer")

    class Enough(Exception):
        pass

    def stop(done: int, total: int | None) -> None:
        raise Enough

    with pytest.raises(Enough):
        load_sql(engine, schema, query=f"{numbers} SELECT made(i) AS x FROM n", progress=stop)
    assert content.CHUNK <= len(made) < 2 * content.CHUNK


def test_databases_are_asked_to_stream() -> None:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    asked: list[object] = []
    sa.event.listen(
        engine, "before_cursor_execute", lambda *a: asked.append(a[4].execution_options.get("yield_per"))
    )
    load_sql(engine, Schema.of(x="integer"), query="SELECT 1 AS x")
    assert asked == [content.CHUNK]


def test_json_of_sqlite_is_read(tmp_path: Path) -> None:
    file = database(
        tmp_path, """CREATE TABLE t (x JSON); INSERT INTO t VALUES ('"a"'), ('7'), (NULL), ('true')"""
    )
    assert [row for _, _, row in load_sql(file, Schema.of(x="any?"), table="t")] == [
        ("a",),
        (7,),
        (None,),
        (True,),
    ]
    file = database(tmp_path, "INSERT INTO t VALUES ('{')")
    with pytest.raises(SchemaError, match=r"table t, row 5, column x: found '\{', expected JSON"):
        load_sql(file, Schema.of(x="any?"), table="t")


@pytest.mark.parametrize(
    ("type_", "found", "expected"),
    [
        ("integer", Decimal("7.0"), 7),
        ("integer", Decimal("7.5"), Decimal("7.5")),
        ("integer", Decimal("NaN"), None),
        ("float", Decimal("7.5"), 7.5),
        ("boolean", 0, False),
        ("boolean", 2, 2),
        ("string", 7, 7),
    ],
)
def test_values_that_other_drivers_give(type_: str, found: object, expected: object) -> None:
    column = Column("x", Type(type_))
    origin = content.RelationOrigin("t", "row", SchemaError)
    (value,) = sql_reading._converted([1], "x", column, [found], False, origin)
    assert type(value) is type(found if expected is None else expected)
    assert expected is None or value == expected
