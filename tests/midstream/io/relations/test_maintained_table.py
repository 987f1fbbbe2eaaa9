"""A maintained table is the stream's snapshot at its time, at every moment and for every reader."""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import box_of
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.schema import CreateTable

from midstream import testing
from midstream.engine import Engine
from midstream.io.relations import DatabaseError, MaintainedTable, sql_access, sql_tables
from midstream.plans.algebra.builder import stream
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.values.errors import MissingExtra, SchemaError, StreamOrderError
from midstream.plans.values.schema import Schema
from midstream.plans.values.snapshots import snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time, chronons, just_before

SCHEMA = Schema.of(
    **{"b.item": "integer", "no:te %(": "string?", "any": "any?", "f": "float", "ok": "boolean"}
)
PAYLOADS = st.sampled_from(
    [
        (1, "x", 7, 0.5, True),
        (1, None, "7", 0.5, True),
        (2, "it's", None, -3.0, False),
        (2**62, "", True, 1e300, False),
        (3, "y", 0.1 + 0.2, 0.1 + 0.2, True),
    ]
)
ONE = Schema.of(x="integer")
A, B = (1,), (2,)

Step = tuple[str, Any]


@st.composite
def deliveries(draw: st.DrawFn, elements: Sequence[Element]) -> list[Step]:
    """Batches of a stream, and progress between them, up to its end."""
    steps: list[Step] = []
    rest = list(elements)
    while rest:
        size = draw(st.integers(1, len(rest)))
        batch, rest = rest[:size], rest[size:]
        steps.append(("push", batch))
        if draw(st.booleans()):
            latest = int(rest[0][0]) if rest else 60
            steps.append(("advance", draw(st.integers(int(batch[-1][0]), latest))))
    if draw(st.booleans()):
        steps.append(("advance", FOREVER))
    return steps


STREAMS = testing.elements(PAYLOADS).flatmap(lambda e: st.tuples(st.just(e), deliveries(e)))


def read(file: Path) -> Counter[Any]:
    """What another program finds in the table."""
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute('SELECT "b.item", "no:te %(", "any", f, ok FROM "v %(i)s"').fetchall()
    return Counter((item, note, some, f, bool(ok)) for item, note, some, f, ok in rows)


def known(elements: Sequence[Element], time: Time) -> Counter[Any]:
    """The snapshot at the table's time; after the end, what is valid for ever."""
    if time == FOREVER:
        return Counter(payload for _, end, payload in elements if end == FOREVER)
    return snapshot(elements, time)


@given(STREAMS)
def test_in_memory_it_is_the_snapshot_at_every_moment(case: tuple[list[Element], list[Step]]) -> None:
    elements, steps = case
    table = MaintainedTable(SCHEMA)
    reached: Time = BEGINNING
    for name, what in steps:
        getattr(table, name)(what)
        reached = max(reached, what[-1][0] if name == "push" else what)
        assert table.time == (reached - 1 if reached != FOREVER else FOREVER)
        assert table.rows() == known(elements, table.time)


@settings(max_examples=settings.default.max_examples // 2)
@given(STREAMS)
def test_in_a_file_it_is_the_snapshot_at_every_moment(case: tuple[list[Element], list[Step]]) -> None:
    elements, steps = case
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "v.db")
        with MaintainedTable(SCHEMA, file, "v %(i)s", key="n %(") as table:
            for name, what in steps:
                getattr(table, name)(what)
                assert read(file) == table.rows() == known(elements, table.time)


@settings(max_examples=settings.default.max_examples // 3)
@given(STREAMS)
def test_a_reader_never_sees_half_a_step(case: tuple[list[Element], list[Step]]) -> None:
    elements, steps = case
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "v.db")
        engine = sql_access.connect(file, for_writing=True)
        with MaintainedTable(SCHEMA, engine, "v %(i)s") as table:
            seen: list[Counter[Any]] = []
            sa.event.listen(engine, "after_cursor_execute", lambda *_: seen.append(read(file)))
            for name, what in steps:
                before = table.time
                seen.clear()
                getattr(table, name)(what)
                assert all(rows == known(elements, before) for rows in seen)
            assert read(file) == known(elements, table.time)
        engine.dispose()


def test_the_reader_of_the_last_test_looks_between_statements(tmp_path: Path) -> None:
    engine = sql_access.connect(tmp_path / "v.db", for_writing=True)
    table = MaintainedTable(ONE, engine)
    table.push([(0, 5, A), (5, 9, B), (6, 9, B)])
    statements: list[str] = []
    sa.event.listen(engine, "after_cursor_execute", lambda *a: statements.append(a[2].split()[0]))
    table.advance(7)
    assert statements == ["INSERT"]
    table.push([(7, 8, A), (20, 21, A)])
    assert statements == ["INSERT", "DELETE"]
    engine.dispose()


def test_one_step_deletes_and_inserts_in_one_transaction(tmp_path: Path) -> None:
    engine = sql_access.connect(tmp_path / "v.db", for_writing=True)
    table = MaintainedTable(ONE, engine)
    table.push([(0, 5, A), (5, 9, B)])
    commits: list[int] = []
    sa.event.listen(engine, "commit", lambda _: commits.append(1))
    table.advance(6)
    assert (table.rows(), commits) == ({B: 1}, [1, 1])  # one of them for reading
    table.advance(8)
    assert commits == [1, 1]
    engine.dispose()


def test_a_row_that_is_valid_n_times_is_there_n_times(tmp_path: Path) -> None:
    table = MaintainedTable(ONE, tmp_path / "v.db", key="number")
    table.push([(0, 9, A), (1, 4, A), (1, 9, B), (2, 4, A), (4, 9, A)])
    with closing(sqlite3.connect(tmp_path / "v.db")) as connection:
        query = "SELECT x, count(*) FROM results GROUP BY x ORDER BY x"
        assert connection.execute(query).fetchall() == [(1, 3), (2, 1)]
        table.advance(5)
        assert connection.execute(query).fetchall() == [(1, 2), (2, 1)]
        numbers = connection.execute("SELECT number FROM results").fetchall()
        assert len(set(numbers)) == len(numbers) == 3
        table.advance(10)
        assert connection.execute(query).fetchall() == []
    table.close()


def test_results_of_an_engine_are_kept(tmp_path: Path) -> None:
    bids = stream("bids", item="integer", price="float").alias("b").window(10)
    query = bids.group_by("b.item").aggregate(bids=count(), best=max_("b.price"))
    results: list[Element] = []
    table = MaintainedTable(query.schema, tmp_path / "v.db", "best bids")
    engine = Engine(query.plan(), results.extend)
    engine.subscribe(table.push)
    for time in range(40):
        engine.push("bids", chronons([(time, (time % 3, float(time % 7)))]))
        table.advance(box_of(engine).progress())
        assert table.time == box_of(engine).progress() - 1
        assert table.rows() == snapshot(results, table.time)
        assert table.rows() or time < 5
    engine.close()
    table.advance(box_of(engine).progress())
    assert table.time == FOREVER
    assert not table.rows()
    table.close()


@pytest.mark.parametrize("is_file", [False, True])
def test_progress_inside_a_migration_is_a_finer_instant(is_file: bool, tmp_path: Path) -> None:
    table = MaintainedTable(ONE, tmp_path / "v.db" if is_file else None)
    table.push([(0, 5, A), (3, 4, B)])
    table.advance(just_before(5))
    assert (table.time, table.rows()) == (4, {A: 1})
    table.push([(5, 6, B)])
    table.advance(5)
    assert table.time == 4


def test_progress_that_tells_nothing_new_is_ignored() -> None:
    table = MaintainedTable(ONE)
    table.advance(BEGINNING)
    assert table.time == BEGINNING
    table.push([(0, 5, A)])
    table.advance(7)
    table.advance(3)
    assert (table.time, table.rows()) == (6, {})
    table.push([])
    assert table.time == 6


def test_what_is_no_result_is_refused() -> None:
    table = MaintainedTable(ONE, table="t")
    table.push([(3, 5, A)])
    with pytest.raises(
        StreamOrderError, match=r"table t: element \(2, 9, \(1,\)\) starts at 2 after progress 3"
    ):
        table.push([(2, 9, A)])
    with pytest.raises(StreamOrderError, match="starts at 4 after progress 5"):
        table.push([(5, 9, A), (4, 9, A)])
    table.advance(8)
    with pytest.raises(StreamOrderError, match="starts at 7 after progress 8"):
        table.push([(7, 9, A)])
    with pytest.raises(SchemaError, match=r"table t: column x: found 'a' \(str\), expected integer"):
        table.push([(9, 10, ("a",))])
    assert (table.time, table.rows()) == (7, {})


def test_an_existing_table_is_refused_unless_it_may_go(tmp_path: Path) -> None:
    with MaintainedTable(ONE, tmp_path / "v.db") as table:
        table.push([(0, 5, A), (1, 5, A)])
    message = "v.db, table results: found a table of this name, expected none; say existing='replace'"
    with pytest.raises(DatabaseError, match=message):
        MaintainedTable(ONE, tmp_path / "v.db")
    with MaintainedTable(ONE, tmp_path / "v.db", "other") as table:
        assert not table.rows()
    with MaintainedTable(Schema.of(y="string"), tmp_path / "v.db", existing="replace") as table:
        assert not table.rows()
        table.push([(0, 9, ("b",)), (1, 2, ("a",))])
        assert table.rows() == {("b",): 1}


def test_a_key_is_no_column(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="column x occurs twice"):
        MaintainedTable(ONE, tmp_path / "v.db", key="x")


def test_a_busy_database_loses_nothing(tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'v.db'}", connect_args={"timeout": 0})
    table = MaintainedTable(ONE, engine)
    table.push([(0, 5, A), (0, 9, A), (2, 3, B)])
    with closing(sqlite3.connect(tmp_path / "v.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for act in (lambda: table.push([(6, 20, B)]), lambda: table.advance(7)):
            with pytest.raises(DatabaseError, match=r"v\.db, table results: database is locked"):
                act()
            assert table.time == 1
        other.execute("ROLLBACK")
    assert table.rows() == {A: 2}
    table.advance(7)
    assert (table.time, table.rows()) == (6, {A: 1, B: 1})
    engine.dispose()


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("integer", 2**63, "too large to convert to SQLite INTEGER"),
        ("any", (1, 2), r"found \(1, 2\) \(tuple\), expected a number, a text, a boolean or None"),
        ("string", "\ud800", "surrogates not allowed"),
    ],
)
def test_what_a_database_cannot_hold_is_named(tmp_path: Path, type_: str, value: Any, message: str) -> None:
    table = MaintainedTable(Schema.of(x=type_), tmp_path / "v.db")
    with pytest.raises((DatabaseError, SchemaError), match=f"v.db, table results: .*{message}"):
        table.push([(0, 5, ("ok" if type_ == "any" else value,)), (0, 5, (value,)), (1, 5, (value,))])
    assert not table.rows()
    table.close()


def test_sqlalchemy_is_needed_for_databases_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("midstream.io.requirements.find_spec", lambda name: None)
    MaintainedTable(ONE)
    with pytest.raises(MissingExtra, match=r"found no sqlalchemy.*midstream\[sql\]"):
        MaintainedTable(ONE, tmp_path / "v.db")


@pytest.mark.parametrize(
    ("dialect", "types"),
    [
        (sqlite, ["BIGINT", "DOUBLE", "TEXT", "BOOLEAN", "JSON"]),
        (postgresql, ["BIGINT", "DOUBLE PRECISION", "TEXT", "BOOLEAN", "JSON"]),
        (mysql, ["BIGINT", "DOUBLE", "TEXT", "BOOL", "JSON"]),
    ],
    ids=["sqlite", "postgresql", "mysql"],
)
@pytest.mark.parametrize("nullable", ["", "?"])
def test_types_of_sql(dialect: Any, types: list[str], nullable: str) -> None:
    names = ["integer", "float", "string", "boolean", "any"]
    schema = Schema.of(**{f"a {name}": name + nullable for name in names})
    columns = sql_tables._columns(schema)
    made = str(CreateTable(sa.Table("t", sa.MetaData(), *columns)).compile(dialect=dialect.dialect()))
    if dialect is sqlite:
        types = ["INTEGER", *types[1:-1], "BLOB"]
    quote = "`" if dialect is mysql else '"'
    null = "" if nullable else " NOT NULL"
    lines = [f"{quote}a {name}{quote} {type_}{null}" for name, type_ in zip(names, types, strict=True)]
    assert [line.strip().rstrip(",").rstrip() for line in made.splitlines()[2:-2]] == lines
