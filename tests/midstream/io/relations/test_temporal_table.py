"""A temporal table holds all results of the time that it remembers, and is a relation that can be loaded."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream import testing
from midstream.io.relations import DatabaseError, TemporalTable, load_sql
from midstream.plans.values.errors import SchemaError, StreamOrderError
from midstream.plans.values.schema import Schema
from midstream.plans.values.snapshots import equivalent, snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time, just_before

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


@st.composite
def deliveries(draw: st.DrawFn, elements: Sequence[Element]) -> list[tuple[str, Any]]:
    """Batches of a stream, and progress between them."""
    steps: list[tuple[str, Any]] = []
    rest = list(elements)
    while rest:
        size = draw(st.integers(1, len(rest)))
        batch, rest = rest[:size], rest[size:]
        steps.append(("push", batch))
        if draw(st.booleans()):
            steps.append(("advance", draw(st.integers(int(batch[-1][0]), int(rest[0][0]) if rest else 60))))
    return steps


STREAMS = testing.elements(PAYLOADS).flatmap(deliveries)
RETENTIONS = st.none() | st.integers(0, 12)


def keep(table: TemporalTable, steps: list[tuple[str, Any]], retention: int | None) -> None:
    """Let a table take a stream, and compare it at every moment with what it should hold."""
    received: list[Element] = []
    reached: Time = BEGINNING
    for name, what in steps:
        getattr(table, name)(what)
        if name == "push":
            received += what
        reached = max(reached, what[-1][0] if name == "push" else what)
        kept = table.elements()
        if retention is None:
            assert kept == received
        else:
            assert kept == [e for e in received if e[1] > reached - retention]
            for instant in range(int(reached) - retention, int(reached)):
                assert snapshot(kept, instant) == snapshot(received, instant)


@given(STREAMS, RETENTIONS)
def test_what_is_kept_in_memory(steps: list[tuple[str, Any]], retention: int | None) -> None:
    keep(TemporalTable(SCHEMA, retention=retention), steps, retention)


@settings(max_examples=settings.default.max_examples // 2)
@given(STREAMS, RETENTIONS)
def test_what_is_kept_in_a_file(steps: list[tuple[str, Any]], retention: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "h.db")
        period = ("from", "to %(")
        with TemporalTable(SCHEMA, file, "h %(i)s", period=period, retention=retention) as table:
            keep(table, steps, retention)
            kept = table.elements()
        loaded = load_sql(file, SCHEMA, table="h %(i)s", period=period)
        assert equivalent(loaded, kept)
        SCHEMA.check([payload for _, _, payload in loaded])


def test_the_table_is_a_temporal_relation(tmp_path: Path) -> None:
    with TemporalTable(ONE, tmp_path / "h.db") as table:
        table.push([(0, 5, A), (3, FOREVER, B)])
    with closing(sqlite3.connect(tmp_path / "h.db")) as connection:
        rows = connection.execute("SELECT valid_from, valid_to, x FROM results").fetchall()
        assert rows == [(0, 5, 1), (3, None, 2)]
        (indices,) = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'index'").fetchone()
        assert indices == 0


@pytest.mark.parametrize("is_file", [False, True])
def test_what_no_remembered_instant_sees_is_forgotten(is_file: bool, tmp_path: Path) -> None:
    table = TemporalTable(ONE, tmp_path / "h.db" if is_file else None, retention=5)
    table.push([(0, 5, A), (0, 6, B), (3, FOREVER, A)])
    table.advance(9)
    assert table.elements() == [(0, 5, A), (0, 6, B), (3, FOREVER, A)]
    table.push([(10, 11, B)])
    assert table.elements() == [(0, 6, B), (3, FOREVER, A), (10, 11, B)]
    table.close()


def test_forgetting_has_an_index(tmp_path: Path) -> None:
    with TemporalTable(ONE, tmp_path / "h.db", retention=5), closing(sqlite3.connect(tmp_path / "h.db")) as c:
        plan = c.execute("EXPLAIN QUERY PLAN DELETE FROM results WHERE valid_to <= 3").fetchall()
    assert "USING" in plan[0][3]
    assert "INDEX" in plan[0][3]


@pytest.mark.parametrize("is_file", [False, True])
def test_the_end_of_the_stream_makes_nothing_forgotten(is_file: bool, tmp_path: Path) -> None:
    table = TemporalTable(ONE, tmp_path / "h.db" if is_file else None, retention=5)
    table.push([(0, 5, A), (3, 20, B)])
    table.advance(just_before(10))
    assert table.elements() == [(3, 20, B)]
    table.advance(FOREVER)
    assert table.elements() == [(3, 20, B)]
    with pytest.raises(StreamOrderError):
        table.push([(30, 31, A)])
    table.close()


@pytest.mark.parametrize("is_file", [False, True])
def test_what_is_no_result_is_refused(is_file: bool, tmp_path: Path) -> None:
    table = TemporalTable(ONE, tmp_path / "h.db" if is_file else None, "t", retention=5)
    table.advance(4)
    with pytest.raises(
        StreamOrderError, match=r"table t: element \(3, 9, \(1,\)\) starts at 3 after progress 4"
    ):
        table.push([(3, 9, A)])
    with pytest.raises(SchemaError, match=r"table t: column x: found 'a' \(str\), expected integer"):
        table.push([(9, 10, ("a",))])
    table.advance(2)
    with pytest.raises(StreamOrderError, match="starts at 3 after progress 4"):
        table.push([(3, 9, A)])
    table.push([(4, 5, A)])
    assert table.elements() == [(4, 5, A)]
    table.close()


def test_a_refused_batch_can_be_pushed_again(tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'h.db'}", connect_args={"timeout": 0})
    table = TemporalTable(ONE, engine, retention=1)
    with pytest.raises(DatabaseError, match=r"h\.db, table results: .*too large"):
        table.push([(0, 9, A), (2, 9, (2**63,))])
    assert table.elements() == []
    table.push([(0, 9, A), (2, 9, B)])
    with closing(sqlite3.connect(tmp_path / "h.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseError, match="database is locked"):
            table.advance(20)
        other.execute("ROLLBACK")
    assert table.elements() == [(0, 9, A), (2, 9, B)]
    table.advance(20)
    assert table.elements() == []
    engine.dispose()


def test_an_existing_table(tmp_path: Path) -> None:
    file = tmp_path / "h.db"
    with TemporalTable(ONE, file) as table:
        table.push([(0, 5, A)])
    with pytest.raises(DatabaseError, match="found a table of this name, expected none"):
        TemporalTable(ONE, file)
    with TemporalTable(ONE, file, existing="append") as table:
        table.push([(7, 9, B)])
        assert table.elements() == [(0, 5, A), (7, 9, B)]
    message = (
        "found columns valid_from, valid_to, x in the table to append to, expected valid_from, valid_to, y"
    )
    with pytest.raises(SchemaError, match=message):
        TemporalTable(Schema.of(y="integer"), file, existing="append")
    with TemporalTable(Schema.of(y="integer"), file, existing="replace") as table:
        assert table.elements() == []


def test_the_period_is_no_column(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="column x occurs twice"):
        TemporalTable(ONE, tmp_path / "h.db", period=("x", "until"))
