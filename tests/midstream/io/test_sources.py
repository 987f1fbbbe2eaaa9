"""Every kind of source gives the rows that are there, as soon as they are there."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import io
import json
import os
import socket
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.io import BadRows, ConnectorError, async_rows_source, open_source, parquet, rows_source
from midstream.io.relations import load_parquet
from midstream.io.sources import parquet_reader
from midstream.plans.sql.declarations import ColumnDeclaration, SourceClause, StreamDeclaration
from midstream.plans.values.errors import InputFileError, MissingExtra
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.streams import FOREVER, Batch
from midstream.plans.values.units import MILLISECONDS, TimeUnit

TS = ColumnDeclaration("ts", Type.INTEGER, False, True)
BID = StreamDeclaration(
    "bid",
    (ColumnDeclaration("item", Type.INTEGER), TS, ColumnDeclaration("price", Type.FLOAT, False)),
    ordered_by="ts",
)
UNSTAMPED = StreamDeclaration("ping", (ColumnDeclaration("item", Type.INTEGER),))
FIRST: Batch = [(1000, 1001, (7, 2.5))]
SECOND: Batch = [(2000, 2001, (None, 3.0))]
ROWS = FIRST + SECOND
CSV = b"Price,ts,other,ITEM\n2.5,1000,,7\n3,1970-01-01T00:00:02,x,\n"
JSON = (
    b'{"ts": 1000, "ITEM": 7, "price": 2.5}\n'
    b'{"price": 3, "ts": "1970-01-01T00:00:02Z", "item": null, "x": []}\n'
)
ELEMENTS = (
    b'{"start": 1, "end": 6, "row": {"item": 7, "price": 2.5}}\n'
    b'{"start": 2, "end": null, "row": {"price": 3, "item": 8}}\n'
)


def all_of(batches: Iterator[Batch]) -> Batch:
    return [element for batch in batches for element in batch]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("b.csv", CSV, "csv"),
        ("b.CSV.gz", gzip.compress(CSV, mtime=0), "csv"),
        ("b.jsonl", JSON, "jsonl"),
        ("b.ndjson", JSON, "ndjson"),
        ("b.json", JSON, "JSON"),
        ("b.jsonl.gz", gzip.compress(JSON, mtime=0), "jsonl"),
    ],
)
def test_files_of_text(name: str, content: bytes, kind: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    assert all_of(open_source(BID, MILLISECONDS, file).batches) == ROWS
    for clause in (SourceClause(kind, (str(file),)), SourceClause("file", (str(file),))):
        stream = StreamDeclaration("bid", BID.columns, "ts", clause)
        source = open_source(stream, MILLISECONDS)
        assert all_of(source.batches) == ROWS
        assert (source.name, source.is_live) == (str(file), False)


def test_results_of_midstream_as_a_source(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(ELEMENTS)
    source = open_source(BID, MILLISECONDS, SourceClause("elements", (str(file),)))
    assert all_of(source.batches) == [(1, 6, (7, 2.5)), (2, FOREVER, (8, 3.0))]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_parquet(unit: str, tmp_path: Path) -> None:
    file = tmp_path / "b.parquet"
    times = pa.array([1_000, 2_000], pa.timestamp("ms")).cast(pa.timestamp(unit, "UTC"))
    table = pa.table({"TS": times, "x": [1, 2], "price": [2.5, 3.0], "item": pa.array([7, None], pa.int32())})
    pq.write_table(table, file)
    assert all_of(open_source(BID, MILLISECONDS, file).batches) == ROWS
    assert all_of(open_source(BID, TimeUnit.of("seconds"), file).batches)[1] == (2, 3, (None, 3.0))


@pytest.mark.parametrize(
    "times",
    [
        pa.array([86_400_000, 2 * 86_400_000], pa.int64()),
        pa.array([1, 2], pa.int32()).cast(pa.date32()),
        pa.array([86_400_000, 2 * 86_400_000], pa.int64()).cast(pa.date64()),
        pa.array(["1970-01-02", "1970-01-03"]),
        pa.array([86_400 * 10**9 + 1, 2 * 86_400 * 10**9], pa.timestamp("ns")),
    ],
    ids=lambda array: str(array.type),
)
def test_timestamps_in_parquet(times: pa.Array, tmp_path: Path) -> None:
    file = tmp_path / "b.parquet"
    pq.write_table(pa.table({"ts": times, "item": [1, 2], "price": [1, 2]}), file)
    starts = [start for start, _, _ in all_of(open_source(BID, MILLISECONDS, file).batches)]
    assert starts == [86_400_000, 2 * 86_400_000]


LEGACY_TIMES = st.one_of(
    st.tuples(st.just("us"), st.lists(st.none() | st.datetimes(datetime(1, 1, 2)), min_size=1)),
    st.tuples(
        st.just("ns"),
        st.lists(st.none() | st.integers(-(2**63) + 1, 2**63 - 1), min_size=1),
    ),
)
"""Timestamps of any year that Arrow writes as INT96: to the microsecond, or near 1970 to the nanosecond."""


@given(LEGACY_TIMES)
def test_timestamps_of_type_int96_are_exact_in_any_year(times: tuple[str, list[Any]]) -> None:
    unit, instants = times
    column = pa.array(instants, pa.timestamp(unit))
    exact = [
        None if instant is None else instant * (1000 if unit == "us" else 1)
        for instant in column.cast(pa.int64()).to_pylist()
    ]
    columns = (
        ColumnDeclaration("at", Type.INTEGER, nullable=False, is_timestamp=True),
        ColumnDeclaration("until", Type.INTEGER, is_timestamp=True),
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "b.parquet")
        since = pa.array([datetime.min] * len(exact), pa.timestamp("us"))
        n = pa.array(range(len(exact)))
        table = pa.table({"n": n, "at": column.fill_null(0), "since": since, "until": column})
        pq.write_table(table, file, use_deprecated_int96_timestamps=True, row_group_size=3)
        found = all_of(open_source(StreamDeclaration("b", columns, "at"), TimeUnit.of("ns"), file).batches)
        assert found == [(at or 0, (at or 0) + 1, (at,)) for at in exact]
        if unit == "us":
            relation = load_parquet(
                file,
                Schema.of(until="any?"),
            )
            assert [row for _, _, (row,) in relation] == instants
        ends = load_parquet(file, Schema.of(n="integer"), period=("since", "until"), clock="ns")
        assert [end for _, end, _ in ends] == [FOREVER if at is None else at for at in exact]


def test_parquet_is_read_across_row_groups_and_slices(tmp_path: Path) -> None:
    file = tmp_path / "b.parquet"
    count = 5000
    table = pa.table({"ts": range(count), "item": range(count), "price": [float(i) for i in range(count)]})
    pq.write_table(table, file, row_group_size=1700)
    batches = list(open_source(BID, MILLISECONDS, file))
    assert all_of(iter(batches)) == [(i, i + 1, (i, float(i))) for i in range(count)]
    assert max(map(len, batches)) <= 1024


def test_bad_rows_of_parquet_have_numbers(tmp_path: Path) -> None:
    file, dead = tmp_path / "b.parquet", tmp_path / "dead.jsonl"
    prices = [1.0, None, float("nan"), 4.0]
    pq.write_table(pa.table({"ts": [1, 2, 3, None], "item": [1, 2, 3, 4], "price": prices}), file)
    with pytest.raises(InputFileError, match=r"b\.parquet, row 2, column price: found null, expected float"):
        list(open_source(BID, MILLISECONDS, file))
    with BadRows(dead) as bad:
        assert all_of(open_source(BID, MILLISECONDS, file, bad_rows=bad).batches) == [(1, 2, (1, 1.0))]
    letters = [json.loads(line) for line in dead.read_text().splitlines()]
    assert [(letter["line"], letter["reason"][:23]) for letter in letters] == [
        (2, "column price: found nul"),
        (3, "column price: found nan"),
        (4, "column ts: found null, "),
    ]
    assert bad.count == 3


def test_bad_rows_of_parquet_are_counted_across_batches(tmp_path: Path) -> None:
    file = tmp_path / "b.parquet"
    prices: list[float | None] = [1.0] * 3000
    prices[2500] = None
    pq.write_table(pa.table({"ts": range(3000), "item": range(3000), "price": prices}), file)
    with pytest.raises(InputFileError, match="row 2501, column price"):
        list(open_source(BID, MILLISECONDS, file))


def test_a_slice_of_an_array_is_read_as_such() -> None:
    for array in (pa.array([1, 2, 3]), pa.array([1.0, 2.0, 3.0]), pa.array([1, 2, 3], pa.timestamp("ns"))):
        assert parquet_reader.values_of(array.slice(1, 2)) == [2, 3]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"ts": [1], "item": [1], "prize": [1.0]}, "column price: found no such column.*did you mean prize"),
        ({"ts": [1], "item": ["x"], "price": [1.0]}, "column item: found string, expected integer"),
        (
            {"ts": [True], "item": [1], "price": [1.0]},
            "column ts: found bool, expected an integer, or a date",
        ),
    ],
)
def test_parquet_files_of_other_columns(table: dict[str, Any], message: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(table), tmp_path / "b.parquet")
    with pytest.raises(InputFileError, match=message):
        list(open_source(BID, MILLISECONDS, tmp_path / "b.parquet"))


def test_parquet_needs_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(names: Any, extra: str) -> None:
        raise MissingExtra(f"midstream[{extra}]")

    monkeypatch.setattr(parquet, "require_libraries", refuse)
    with pytest.raises(MissingExtra, match=r"midstream\[arrow\]"):
        list(open_source(BID, MILLISECONDS, tmp_path / "b.parquet"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, r"none\.csv: No such file"),
        ("none.parquet", None, r"none\.parquet: found no readable Parquet file: .*No such file"),
        ("b.parquet", b"PAR", "found no readable Parquet file"),
        ("b.csv.gz", CSV, r"b\.csv\.gz: Not a gzipped file"),
        ("b.csv.gz", gzip.compress(CSV, mtime=0)[:-9], r"b\.csv\.gz: Compressed file ended"),
    ],
)
def test_files_that_cannot_be_read(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputFileError, match=message):
        list(open_source(BID, MILLISECONDS, file))


GOOD = '{"ts": 1, "item": 7, "price": 2.5}'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"ts": 1, "item": 7.5, "price": 2}', "column item: found 7.5, expected integer, or null"),
        ('{"ts": 1, "item": "7", "price": 2}', "column item: found '7', expected integer, or null"),
        ('{"ts": 1, "item": true, "price": 2}', "column item: found True, expected integer, or null"),
        ('{"ts": 1, "item": [7], "price": 2}', "column item: found [7], expected integer, or null"),
        ('{"ts": 1, "item": 7, "price": null}', "column price: found null, expected float"),
        ('{"ts": 1, "item": 7, "price": 1e999}', "column price: found inf, expected float"),
        ('{"ts": 1, "item": 7, "price": 1' + "0" * 400 + "}", "column price: found 1000"),
        ('{"ts": 1, "item": 7, "price": NaN}', "found NaN, which is no JSON, expected a number or null"),
        ('{"ts": 1, "item": 1' + "0" * 5000 + "}", "found Exceeds the limit"),
        ('{"ts": null, "item": 7, "price": 1}', "column ts: found null, expected an integer, or a date"),
        ('{"ts": "then", "item": 7, "price": 1}', "column ts: found 'then', expected an integer, or a date"),
        (
            '{"ts": 1, "item": 7, "prise": 1}',
            "column price: found no such column, expected one of ts, item, prise; did",
        ),
        (
            '{"ts": 1, "item": 7, "Item": 7, "price": 1}',
            "column item: found 2 columns of this name, expected one",
        ),
        ('{"ts": 1, "item": 7, "price": 1', "found Expecting ',' delimiter at character 32, expected a JSON"),
        ('{"ts": 1}, {"ts": 2}', "found Extra data at character 10, expected a JSON object"),
        ("[" * 100_000, "found values nested too deeply, expected a JSON object"),
        ("[1, 2]", "found [1, 2], expected a JSON object"),
        ("7", "found 7, expected a JSON object"),
        ('{"ts": 1, "item": 7, "price": \udcff}', "found the byte 0xff, expected text in UTF-8"),
    ],
)
def test_every_reason_in_json(line: str, reason: str, tmp_path: Path) -> None:
    file, dead = tmp_path / "b.jsonl", tmp_path / "dead.jsonl"
    text = f"{GOOD}\n\n{line}\n  {GOOD}  \n"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with BadRows(dead) as bad:
        elements = all_of(open_source(BID, MILLISECONDS, file, bad_rows=bad).batches)
    assert elements == [(1, 2, (7, 2.5)), (1, 2, (7, 2.5))]
    (letter,) = [json.loads(line) for line in dead.read_text().splitlines()]
    assert letter["reason"].startswith(reason)
    assert (letter["source"], letter["line"], bad.count) == (str(file), 3, 1)
    assert letter["row"] == line.replace("\udcff", "\\udcff")
    with pytest.raises(InputFileError, match=r"b\.jsonl, line 3"):
        list(open_source(BID, MILLISECONDS, file))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            '{"start": 1, "end": 1, "row": {"item": 7, "price": 1}}',
            "column end: found 1, expected an integer after",
        ),
        ('{"start": 1, "end": 1e999, "row": {"item": 7, "price": 1}}', "column end: found inf, expected"),
        (
            '{"start": 1.0, "end": 2, "row": {"item": 7, "price": 1}}',
            "column start: found 1.0, expected an integer",
        ),
        ('{"start": true, "end": 2, "row": {"item": 7, "price": 1}}', "column start: found True"),
        ('{"start": 1, "end": 2}', "column row: found no such key, expected start, end and row"),
        ('{"start": 1, "end": 2, "row": 3}', "column row: found 3, expected a JSON object"),
        (
            '{"start": 1, "end": 2, "row": {"item": 7}}',
            "column price: found no such column, expected one of item",
        ),
    ],
)
def test_every_reason_in_elements(line: str, reason: str, tmp_path: Path) -> None:
    file, dead = tmp_path / "b.jsonl", tmp_path / "dead.jsonl"
    file.write_bytes(ELEMENTS + line.encode())
    with BadRows(dead) as bad:
        source = open_source(BID, MILLISECONDS, SourceClause("elements", (str(file),)), bad_rows=bad)
        assert len(all_of(source.batches)) == 2
    letter = json.loads(dead.read_text())
    assert letter["reason"].startswith(reason)
    assert (letter["line"], letter["row"]) == (3, line)


def test_lines_that_are_json_only_together_are_bad(tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    file.write_text('{"ts": 1, "item": 7\n"price": 1}\n{"ts": 1}, {"ts": 2}\n')
    with BadRows(tmp_path / "dead.jsonl") as bad:
        assert list(open_source(BID, MILLISECONDS, file, bad_rows=bad)) == []
    assert bad.count == 3


def test_objects_may_have_their_keys_in_any_order(tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    objects = [{"ts": i, "item": i, "price": float(i), f"x{i}": None} for i in range(600)]
    shuffled = [dict(reversed(o.items())) if i % 2 else o for i, o in enumerate(objects)]
    file.write_text("\r\n".join(map(json.dumps, shuffled)))
    assert all_of(open_source(BID, MILLISECONDS, file).batches) == [
        (i, i + 1, (i, float(i))) for i in range(600)
    ]


def spelled(key: str, which: int) -> str:
    """A key in JSON, with one of its letters as an escape, or as it is."""
    letters = (f"\\u{ord(x):04x}" if n == which else json.dumps(x)[1:-1] for n, x in enumerate(key))
    return '"' + "".join(letters) + '"'


PAIRS = st.lists(
    st.tuples(
        st.sampled_from(["ts", "item", "price", "ITEM", "x", 'a":b']),
        st.integers(-1, 8),
        st.sampled_from(["", "", " ", "\t"]),
        st.integers(0, 9) | st.sampled_from(['\\": 1', '"', {"ts": 1}, [{"item": 2}]]),
    ),
    max_size=6,
).map(lambda more: [("ts", -1, "", 5), ("item", -1, "", 1), ("price", -1, "", 2), *more])
"""Pairs of an object: a key, which of its letters is escaped, the room behind it, and a value."""


@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_columns_that_an_object_has_twice_are_misfits(lines: list[list[tuple[Any, ...]]]) -> None:
    text = "\n".join(
        "{" + ", ".join(f"{spelled(key, which)}{room}:{json.dumps(v)}" for key, which, room, v in pairs) + "}"
        for pairs in lines
    )
    good = [
        number
        for number, pairs in enumerate(lines, 1)
        if [sum(key.lower() == name for key, *_ in pairs) for name in ("ts", "item", "price")] == [1, 1, 1]
    ]
    with tempfile.TemporaryDirectory() as folder:
        file, dead = Path(folder, "b.jsonl"), Path(folder, "dead.jsonl")
        file.write_text(text)
        with BadRows(dead) as bad:
            found = all_of(open_source(BID, MILLISECONDS, file, bad_rows=bad).batches)
        letters = [json.loads(line) for line in dead.read_text().splitlines()]
    assert found == [(5, 6, (1, 2.0))] * len(good)
    assert [letter["line"] for letter in letters] == [n for n in range(1, len(lines) + 1) if n not in good]
    assert all("columns of this name" in letter["reason"] for letter in letters)


RESULTS = (
    '{"query": "a", "start": 1, "end": 3, "row": {"item": 7, "price": 1}}\n'
    '{"query": "b", "start": 1, "end": 4, "row": {"item": 8, "price": 2}}\n'
    '{"query": "a", "start": 2, "end": 3, "row": {"item": 9, "price": 3}}\n'
)


@pytest.mark.parametrize("key", ["start", "end", "row", "query", "item"])
def test_elements_that_have_a_key_twice(key: str, tmp_path: Path) -> None:
    file, dead = tmp_path / "b.jsonl", tmp_path / "dead.jsonl"
    line = RESULTS.splitlines()[0]
    again = {"start": 2, "end": 9, "row": {"item": 1, "price": 1}, "query": "a", "item": 3}[key]
    twice = line.replace(f'"{key}": ', f'"{key}": {json.dumps(again)}, "\\u{ord(key[0]):04x}{key[1:]}": ')
    file.write_text(f"{line}\n{twice}\n{line}\n")
    for arguments in ((str(file),), (str(file), "a")):
        with BadRows(dead) as bad:
            source = open_source(BID, MILLISECONDS, SourceClause("elements", arguments), bad_rows=bad)
            assert all_of(source.batches) == [(1, 3, (7, 1.0))] * 2
        (letter,) = map(json.loads, dead.read_text().splitlines())
        assert letter["line"] == 2 and letter["reason"].startswith(f"column {key}: found ")


def test_results_of_several_queries_are_one_stream_only_by_name(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(RESULTS)

    def read(*query: str) -> Batch:
        with BadRows(tmp_path / "dead.jsonl") as bad:
            clause = SourceClause("elements", (str(file), *query))
            return all_of(open_source(BID, MILLISECONDS, clause, bad_rows=bad).batches)

    # Dead letters are for rows that do not fit; here none does.
    with pytest.raises(InputFileError, match=r"r\.jsonl, line 2, .* of a and of b, .*'a'\) reads one"):
        read()
    assert read("a") == [(1, 3, (7, 1.0)), (2, 3, (9, 3.0))]
    assert read("b") == [(1, 4, (8, 2.0))]
    with pytest.raises(InputFileError, match="found results of a, b, expected some of A"):
        read("A")
    file.write_text(RESULTS.splitlines()[0] + "\n" + RESULTS.splitlines()[1].replace('"query": "b", ', ""))
    with pytest.raises(InputFileError, match=r"line 2, .* of a and of no named query, .*'a'\) reads one"):
        read()
    file.write_text(RESULTS.splitlines()[1])
    assert read() == read("b") == [(1, 4, (8, 2.0))]


@pytest.mark.parametrize("name", ["r.parquet", "r.csv", "r.csv.gz"])
def test_results_in_other_formats_are_no_elements(name: str) -> None:
    message = f"found a file in {name.split('.')[1]}, expected results in JSON Lines"
    with pytest.raises(ConnectorError, match=message):
        open_source(BID, MILLISECONDS, SourceClause("elements", (name,)))


def test_bad_rows_of_a_query_keep_their_lines(tmp_path: Path) -> None:
    file, dead = tmp_path / "r.jsonl", tmp_path / "dead.jsonl"
    file.write_text(RESULTS + RESULTS.replace('"end": 3', '"end": 0'))
    with BadRows(dead) as bad:
        source = open_source(BID, MILLISECONDS, SourceClause("elements", (str(file), "a")), bad_rows=bad)
        assert len(all_of(source.batches)) == 2
    assert [json.loads(line)["line"] for line in dead.read_text().splitlines()] == [4, 6]


def test_a_dead_letter_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match=r"dead letters, .*none/dead\.jsonl: No such file"):
        BadRows(tmp_path / "none" / "dead.jsonl")


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        (SourceClause("cvs", ("b.csv",)), "source cvs.*: found no such kind.*did you mean csv"),
        (SourceClause("csv"), r"source csv\(\): expected csv\('path'\)"),
        (SourceClause("csv", (7,)), r"source csv\(7\): expected csv"),
        (
            SourceClause("stdin", ("jsonle",)),
            "found the format 'jsonle', expected one of .*did you mean jsonl",
        ),
        (
            SourceClause("stdin", ("parquet",)),
            "found the format 'parquet', expected one of csv, jsonl, elements",
        ),
        (SourceClause("socket", ("host",)), r"expected socket\('host', port\)"),
        (SourceClause("socket", ("host", 0)), r"expected socket\('host', port\)"),
        ("bids.txt", r"bids\.txt: found no suffix of a known format"),
        ("bids.parquet.gz", r"bids\.parquet\.gz: found no suffix of a known format"),
        (None, "stream bid: found no source, expected SOURCE in its declaration"),
    ],
)
def test_sources_that_there_cannot_be(clause: SourceClause | str | None, message: str) -> None:
    with pytest.raises(ConnectorError, match=message):
        open_source(BID, MILLISECONDS, clause)


def test_rows_without_timestamps_are_stamped_by_a_clock_that_never_goes_back(tmp_path: Path) -> None:
    told = iter([5, 3, 8])
    rows = iter([(1,), (2,), (3,)])
    source = rows_source(rows, UNSTAMPED, MILLISECONDS, clock=lambda: next(told))
    assert all_of(source.batches) == [(5, 6, (1,)), (5, 6, (2,)), (8, 9, (3,))]
    for name, content in (("x.csv", "item\n7\n8\n"), ("x.jsonl", '{"item": 7}\n{"item": 8}\n')):
        file = tmp_path / name
        file.write_text(content)
        elements = all_of(open_source(UNSTAMPED, MILLISECONDS, file, clock=lambda: 4).batches)
        assert elements == [(4, 5, (7,)), (4, 5, (8,))]


def test_rows_of_python() -> None:
    rows = [
        (7, 1000, 2.5),
        [None, "1970-01-01T00:00:02", 3],
        {"ITEM": 7, "ts": 1000, "price": 2.5},
        (1000, (7, 2.5)),
        (1000, [7, 2.5]),
        (1000, {"price": 2.5, "item": 7}),
    ]
    expected = FIRST + SECOND + 4 * FIRST
    assert all_of(rows_source(rows, BID, MILLISECONDS).batches) == expected
    for row, element in zip(rows, expected, strict=True):
        # Alone, a row goes the fast way of its kind.
        assert all_of(rows_source([row], BID, MILLISECONDS).batches) == [element]
    assert all_of(rows_source([(4, (7,))], UNSTAMPED, MILLISECONDS).batches) == [(4, 5, (7,))]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((7, 1000), "bid, row 2: found 2 values, expected 3: item, ts, price"),
        ((1000, (7,)), "bid, row 2: found 1 values, expected 2: item, price"),
        (("then", (7, 2.5)), "bid, row 2, column ts: found 'then', expected an integer, or a date"),
        ({"item": 7, "ts": 1}, "bid, row 2, column price: found no such column, expected one of item, ts"),
        ((7, 1000, float("nan")), "bid, row 2, column price: found nan, expected float"),
        ((7, 1000, "2.5"), "bid, row 2, column price: found '2.5', expected float"),
        (7, "bid, row 2: found 7, expected a tuple, a list, a mapping or a dataclass"),
    ],
)
def test_bad_rows_of_python(row: Any, message: str) -> None:
    with pytest.raises(InputFileError, match=message):
        list(rows_source([(7, 1000, 2.5), row], BID, MILLISECONDS))


def test_rows_of_a_generator_are_not_waited_for() -> None:
    made = []

    def endless() -> Iterator[tuple[int, int, float]]:
        for number in range(10**9):
            made.append(number)
            yield number, number, 0.0

    source = rows_source(endless(), BID, MILLISECONDS)
    assert made == []
    assert next(source.batches) == [(0, 1, (0, 0.0))]
    assert made == [0]
    together = rows_source(endless(), BID, MILLISECONDS, together=3)
    assert [len(next(together.batches)) for _ in range(2)] == [3, 3]
    assert source.is_live and not rows_source([], BID, MILLISECONDS).is_live


def test_asynchronous_rows_come_together_where_they_are_there() -> None:
    closed = []

    async def endless() -> AsyncIterator[tuple[int, int, float]]:
        try:
            for number in range(10**9):
                if number % 3 == 0:
                    await asyncio.sleep(0.001)
                yield number, number, 0.0
        finally:
            closed.append(True)

    with async_rows_source(endless(), BID, MILLISECONDS) as source:
        for first in (0, 3, 6):
            assert next(source.batches) == [(n, n + 1, (n, 0.0)) for n in range(first, first + 3)]
        assert closed == []
    assert closed == [True]


def test_asynchronous_rows_end_and_fail_as_others_do() -> None:
    async def some(*rows: Any) -> AsyncIterator[Any]:
        for row in rows:
            yield row

    source = async_rows_source(some((7, 1000, 2.5), (None, 2000, 3)), BID, MILLISECONDS)
    assert all_of(source.batches) == ROWS
    with pytest.raises(InputFileError, match="bid, row 1: found 7"):
        list(async_rows_source(some(7), BID, MILLISECONDS))

    async def inside() -> None:
        list(async_rows_source(some(), BID, MILLISECONDS))

    with pytest.raises(ConnectorError, match="found a running event loop"):
        asyncio.run(inside())


def test_a_row_that_is_waited_for_is_given_up() -> None:
    seen = []

    async def slow() -> AsyncIterator[tuple[int, int, float]]:
        yield 7, 1000, 2.5
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    with async_rows_source(slow(), BID, MILLISECONDS) as source:
        assert next(source.batches) == FIRST
    assert seen == ["cancelled"]


def test_a_source_that_another_thread_reads_is_left_to_it() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def waiting() -> Iterator[tuple[int, int, float]]:
        reached.set()
        go_on.wait(20)
        yield 7, 1000, 2.5

    source = rows_source(waiting(), BID, MILLISECONDS)
    read: list[Batch] = []
    thread = threading.Thread(target=lambda: read.extend(source))
    thread.start()
    assert reached.wait(20)
    source.close()
    go_on.set()
    thread.join()
    assert read == [FIRST]


class Pipe:
    """A pipe that is closed after a while, so that a source that waits too long fails, and does not hang."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()
        self._timer = threading.Timer(20, self.close)
        self._timer.start()

    def send(self, data: bytes) -> None:
        os.write(self.writing, data)

    def close(self) -> None:
        self._timer.cancel()
        with contextlib.suppress(OSError):
            os.close(self.writing)
        self.writing = -1


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.close()


LIVE = pytest.mark.parametrize(
    ("word", "first", "second"),
    [
        ("csv", b"item,ts,price\n7,1000,2.5\n,20", b"00,3\n"),
        ("jsonl", JSON.splitlines()[0] + b"\n{", JSON.splitlines()[1][1:] + b"\n"),
    ],
)


def require_liveness(
    batches: Iterator[Batch], send: Callable[[bytes], None], second: bytes, end: Any
) -> None:
    assert next(batches) == FIRST
    send(second)
    assert next(batches) == SECOND
    end()
    assert next(batches, None) is None


@LIVE
def test_standard_input_is_read_as_it_arrives(
    word: str, first: bytes, second: bytes, pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    with os.fdopen(pipe.reading, "rb") as reading:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(reading))
        pipe.send(first)
        source = open_source(BID, MILLISECONDS, SourceClause("stdin", (word,)))
        assert source.is_live
        require_liveness(source.batches, pipe.send, second, pipe.close)


def test_what_a_program_has_read_ahead_of_standard_input_is_not_lost(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    with os.fdopen(pipe.reading, "rb") as reading:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(reading))
        pipe.send(b"a line of the program's own\n" + JSON)
        assert reading.readline().startswith(b"a line")
        pipe.close()
        assert all_of(open_source(BID, MILLISECONDS, "-").batches) == ROWS


def test_standard_input_is_json_lines_if_nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for stdin in (io.TextIOWrapper(io.BytesIO(JSON)), io.StringIO(JSON.decode())):
        for clause in ("-", SourceClause("stdin")):
            stdin.seek(0)
            monkeypatch.setattr(sys, "stdin", stdin)
            assert all_of(open_source(BID, MILLISECONDS, clause).batches) == ROWS


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="needs /dev/fd")
@LIVE
def test_a_pipe_in_place_of_a_file_is_read_as_it_arrives(
    word: str, first: bytes, second: bytes, pipe: Pipe
) -> None:
    pipe.send(first)
    source = open_source(BID, MILLISECONDS, SourceClause(word, (f"/dev/fd/{pipe.reading}",)))
    assert source.is_live
    require_liveness(source.batches, pipe.send, second, pipe.close)
    os.close(pipe.reading)


@LIVE
def test_a_socket_is_read_as_it_arrives(word: str, first: bytes, second: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        port = server.getsockname()[1]
        clause = SourceClause("tcp", ("127.0.0.1", port) + (() if word == "jsonl" else (word,)))
        source = open_source(BID, MILLISECONDS, clause)
        assert source.name == f"127.0.0.1:{port}"
        accepted: list[socket.socket] = []

        def serve() -> None:
            accepted.append(server.accept()[0])
            send(first)

        def send(data: bytes) -> None:
            accepted[0].sendall(data)

        def end() -> None:
            accepted[0].close()

        thread = threading.Thread(target=serve)
        thread.start()
        timer = threading.Timer(20, end)
        timer.start()
        try:
            require_liveness(source.batches, send, second, end)
        finally:
            timer.cancel()
            thread.join()
            end()


def test_a_server_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(InputFileError, match=f"127.0.0.1:{port}: Connection refused"):
        list(open_source(BID, MILLISECONDS, SourceClause("socket", ("127.0.0.1", port))))


def test_a_file_is_opened_late_and_closed_early(tmp_path: Path) -> None:
    file = tmp_path / "b.csv"
    source = open_source(BID, MILLISECONDS, file)
    file.write_bytes(b"item,ts,price\n" + b"7,1000,2.5\n" * 10_000)
    with source:
        assert next(source.batches)[0] == FIRST[0]
    assert next(source.batches, None) is None
