"""What sinks write, sources read; and what is there after an error is whole."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.io import ConnectorError, open_sink, open_source
from midstream.io.sinks import parquet_sink
from midstream.io.sinks.sink import Times, integers
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import ColumnDeclaration, SourceClause, StreamDeclaration
from midstream.plans.values.errors import MissingExtra
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element
from midstream.plans.values.units import MILLISECONDS, TimeUnit
from midstream.plans.values.units import NANOSECONDS as TIME_UNITS

NAMES = ["item", "a b", 'say "x"', "{start}", "x\\n'", "naïve\n", "c0"]
TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ['"', ",", "a,b", "\n", "\r\n", "\r", "null", "{}", ": inf", "\u2028", "\x00", " x "]
)
VALUES: dict[Type, st.SearchStrategy[Any]] = {
    Type.INTEGER: st.integers() | st.integers(2**200, 2**210),
    Type.FLOAT: st.floats(allow_nan=False, allow_infinity=False),
    Type.STRING: TEXT,
    Type.BOOLEAN: st.booleans(),
}
SMALL = {**VALUES, Type.INTEGER: st.integers(-(2**63), 2**63 - 1)}


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
    return Schema(
        tuple(
            Column(name, draw(st.sampled_from(sorted(VALUES, key=str))), draw(st.booleans()))
            for name in names
        )
    )


@st.composite
def results(
    draw: st.DrawFn, values: dict[Type, st.SearchStrategy[Any]], bound: int
) -> tuple[Schema, list[Batch]]:
    """Batches in order of start."""
    schema = draw(schemas())
    row = st.tuples(*(values[c.type] | st.none() if c.nullable else values[c.type] for c in schema))
    start = st.integers(-bound, bound)
    element = st.tuples(start, st.none() | st.integers(1, 100), row).map(
        lambda e: (e[0], FOREVER if e[1] is None else e[0] + e[1], e[2])
    )
    elements = sorted(draw(st.lists(element, max_size=6)), key=lambda e: e[0])
    place = draw(st.integers(0, 6))
    return schema, [elements[:place], elements[place:]]


def written(folder: str, name: str, schema: Schema, batches: list[Batch], times: Times = integers) -> Path:
    file = Path(folder, name)
    with open_sink(file, schema, times=times) as sink:
        for batch in batches:
            sink.write(batch)
            sink.flush()
    return file


def declaration(schema: Schema, *validity: ColumnDeclaration) -> StreamDeclaration:
    columns = (ColumnDeclaration(c.name, c.type, c.nullable) for c in schema)
    return StreamDeclaration("results", (*validity, *columns), validity[0].name if validity else None)


START = ColumnDeclaration("start", Type.INTEGER, False, True)
END = ColumnDeclaration("end", Type.INTEGER)
UNTIL = ColumnDeclaration("end", Type.INTEGER, True, True)


@given(results(VALUES, 2**70), st.sampled_from(["r.jsonl", "r.jsonl.gz"]))
def test_json_lines_come_back(given_: tuple[Schema, list[Batch]], name: str) -> None:
    schema, batches = given_
    with tempfile.TemporaryDirectory() as folder:
        file = written(folder, name, schema, batches)
        clause = SourceClause("elements", (str(file),))
        back = [e for batch in open_source(declaration(schema), MILLISECONDS, clause) for e in batch]
        content = gzip.decompress(file.read_bytes()) if name.endswith("gz") else file.read_bytes()
    elements = [element for batch in batches for element in batch]
    assert repr(back) == repr(elements)
    lines = content.decode().split("\n")
    assert lines.pop() == ""
    rows = [dict(zip(schema.names, row, strict=True)) for _, _, row in elements]
    expected = [
        {"start": start, "end": None if end == FOREVER else end, "row": row}
        for (start, end, _), row in zip(elements, rows, strict=True)
    ]
    assert [json.dumps(o, ensure_ascii=False) for o in expected] == lines or [
        json.loads(s) for s in lines
    ] == expected


@given(results(VALUES, 2**70))
def test_csv_comes_back(given_: tuple[Schema, list[Batch]]) -> None:
    schema, batches = given_
    with tempfile.TemporaryDirectory() as folder:
        file = written(folder, "r.csv", schema, batches)
        source = open_source(declaration(schema, START, END), MILLISECONDS, file)
        back = [element for batch in source for element in batch]
        with file.open(encoding="utf-8", newline="") as opened:
            records = list(csv.reader(opened, strict=True))
    # Nothing is unknown in a nullable column, and an empty string is nothing.
    unknown = {i for i, column in enumerate(schema) if column.nullable and column.type is Type.STRING}
    expected = [
        (
            start,
            start + 1,
            (
                None if end == FOREVER else end,
                *(v if v != "" or i not in unknown else None for i, v in enumerate(row)),
            ),
        )
        for batch in batches
        for start, end, row in batch
    ]
    assert repr(back) == repr(expected)
    assert records[0] == ["start", "end", *schema.names]
    assert len(records) == 1 + len(expected)


@given(results(SMALL, 2**40))
def test_parquet_comes_back(given_: tuple[Schema, list[Batch]]) -> None:
    schema, batches = given_
    with tempfile.TemporaryDirectory() as folder:
        file = written(folder, "r.parquet", schema, batches)
        source = open_source(declaration(schema, START, END), MILLISECONDS, file)
        back = [element for batch in source for element in batch]
    expected = [
        (start, start + 1, (None if end == FOREVER else end, *row))
        for batch in batches
        for start, end, row in batch
    ]
    assert repr(back) == repr(expected)


UNITS = st.sampled_from([TimeUnit.of(name) for name in TIME_UNITS])


@given(results(VALUES, 2**70), UNITS, st.sampled_from(["r.jsonl", "r.csv"]))
def test_instants_in_texts_come_back(given_: tuple[Schema, list[Batch]], unit: TimeUnit, name: str) -> None:
    """At every resolution, before 1970, in leap years, and where no calendar of Python goes."""
    schema, batches = given_
    elements = [element for batch in batches for element in batch]
    with tempfile.TemporaryDirectory() as folder:
        file = written(folder, name, schema, batches, lambda: unit)
        # Integers would be refused: all times must be instants.
        timestamps = Timestamps(unit, None)
        if name == "r.jsonl":
            source = open_source(declaration(schema), timestamps, SourceClause("elements", (str(file),)))
            assert repr([element for batch in source for element in batch]) == repr(elements)
        else:
            source = open_source(declaration(schema, START, UNTIL), timestamps, file)
            back = [(start, row[0]) for batch in source for start, _, row in batch]
            assert back == [(start, None if end == FOREVER else end) for start, end, _ in elements]
    assert (timestamps.cut, timestamps.has_dates) == (0, bool(elements))


@given(results(SMALL, 2**62), UNITS)
def test_instants_in_parquet_come_back(given_: tuple[Schema, list[Batch]], unit: TimeUnit) -> None:
    schema, batches = given_
    scale = max(1, unit.nanoseconds // 10**6)
    scaled = [
        [
            (int(start // scale), end if end == FOREVER else int(start // scale) + 7, row)
            for start, end, row in batch
        ]
        for batch in batches
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = written(folder, "r.parquet", schema, scaled, lambda: unit)
        source = open_source(declaration(schema, START, UNTIL), Timestamps(unit, None), file)
        back = [(start, row) for batch in source for start, _, row in batch]
    assert repr(back) == repr(
        [(start, (None if end == FOREVER else end, *row)) for batch in scaled for start, end, row in batch]
    )


SCHEMA = Schema.of(item="integer", price="float?", what="any?")
ELEMENT: Element = (1000, 6000, (7, 12.5, "x"))


def test_the_format_of_json_lines(tmp_path: Path) -> None:
    elements = [ELEMENT, (1000, FOREVER, (8, None, (1, "é", None))), (1001, 1002, (9, 8, None))]
    file = written(str(tmp_path), "r.jsonl", SCHEMA, [elements])
    assert file.read_text(encoding="utf-8").splitlines() == [
        '{"start": 1000, "end": 6000, "row": {"item": 7, "price": 12.5, "what": "x"}}',
        '{"start": 1000, "end": null, "row": {"item": 8, "price": null, "what": [1, "é", null]}}',
        '{"start": 1001, "end": 1002, "row": {"item": 9, "price": 8, "what": null}}',
    ]


def test_the_format_of_csv(tmp_path: Path) -> None:
    elements = [ELEMENT, (1000, FOREVER, (8, None, (1, "é", None))), (1001, 1002, (9, 8, None))]
    file = written(str(tmp_path), "r.csv", SCHEMA, [elements])
    assert file.read_text(encoding="utf-8").splitlines() == [
        "start,end,item,price,what",
        "1000,6000,7,12.5,x",
        '1000,,8,,"[1, ""é"", null]"',
        "1001,1002,9,8,",
    ]


def test_what_is_valid_from_the_beginning_of_time(tmp_path: Path) -> None:
    schema = Schema.of(item="integer")
    batches: list[Batch] = [[(BEGINNING, FOREVER, (1,)), (3, 4, (2,))]]
    lines = written(str(tmp_path), "r.jsonl", schema, batches).read_text().splitlines()
    assert lines[0] == '{"start": null, "end": null, "row": {"item": 1}}'
    assert json.loads(lines[1])["start"] == 3
    assert written(str(tmp_path), "r.csv", schema, batches).read_text() == "start,end,item\n,,1\n3,4,2\n"
    table = pq.read_table(written(str(tmp_path), "r.parquet", schema, batches))
    assert table.to_pylist() == [{"start": None, "end": None, "item": 1}, {"start": 3, "end": 4, "item": 2}]


@pytest.mark.parametrize("text", ["a,b", "a\rb", "a\nb", 'a"b', "\r", "\n"])
def test_each_character_that_csv_has_a_use_for_is_quoted(text: str, tmp_path: Path) -> None:
    file = written(str(tmp_path), "r.csv", Schema.of(name="string"), [[(1, 2, (text,)), (1, 2, ("plain",))]])
    with file.open(encoding="utf-8", newline="") as opened:
        assert list(csv.reader(opened, strict=True))[1:] == [["1", "2", text], ["1", "2", "plain"]]


def test_a_text_that_looks_like_infinity_is_a_text(tmp_path: Path) -> None:
    schema = Schema.of(name="string", price="float")
    file = written(str(tmp_path), "r.jsonl", schema, [[(1, 2, (": inf", 1.0))]])
    assert json.loads(file.read_text())["row"] == {"name": ": inf", "price": 1.0}


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("r.jsonl", (7, float("inf"), None), "column price is inf, and JSON has finite numbers only"),
        ("r.jsonl", (7, float("nan"), None), "column price is nan"),
        ("r.jsonl", (7, 1.0, float("inf")), "Out of range float values"),
        (
            "r.jsonl",
            (10**5000, 1.0, None),
            r"column item: found an integer of more than 4,300 digits, .* write CAST\(item AS TEXT\)",
        ),
        (
            "r.csv",
            (10**5000, 1.0, None),
            r"result 3, column item: found an integer of more than 4,300 digits",
        ),
        (
            "r.parquet",
            (2**63, 1.0, None),
            "result 3, column item: found an integer beyond 64 bits, for which there is no type",
        ),
    ],
)
def test_what_was_written_before_an_error_is_kept(
    name: str, row: tuple[Any, ...], message: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    with pytest.raises(ConnectorError, match=message), open_sink(file, SCHEMA) as sink:
        sink.write([ELEMENT])
        sink.write([ELEMENT, (2000, 2001, row)])
    if name == "r.parquet":
        assert pq.read_table(file).num_rows == 1
    else:
        text = file.read_text()
        assert text.endswith("\n")
        assert [line for line in text.splitlines() if "1000" in line] == text.splitlines()[name == "r.csv" :]
        assert text.count("1000") == 1


def test_parquet_is_written_by_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_sink, "ROW_GROUP", 3)
    file = written(str(tmp_path), "r.parquet", SCHEMA, [[ELEMENT] * 2] * 5)
    assert pq.ParquetFile(file).metadata.num_row_groups == 3
    assert pq.read_table(file).num_rows == 10


def test_parquet_needs_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(names: Any, extra: str) -> None:
        raise MissingExtra(f"midstream[{extra}]")

    monkeypatch.setattr(parquet_sink, "require_libraries", refuse)
    with pytest.raises(MissingExtra, match=r"midstream\[arrow\]"):
        open_sink(tmp_path / "r.parquet", SCHEMA)


@pytest.mark.parametrize(
    ("name", "form", "message"),
    [
        ("r.txt", None, r"r\.txt: found no suffix of a known format"),
        ("r.txt", "jsonle", "found the format 'jsonle', expected one of .*did you mean jsonl"),
        ("none/r.csv", None, r"r\.csv: No such file"),
        ("none/r.parquet", None, r"r\.parquet: .*No such file"),
    ],
)
def test_sinks_that_there_cannot_be(name: str, form: str | None, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match=message):
        open_sink(tmp_path / name, SCHEMA, form)


@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
def test_a_column_must_not_be_called_as_validity_is(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        ConnectorError, match="found a column Start, expected other names than those of validity"
    ):
        open_sink(tmp_path / name, Schema.of(Start="integer"))
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("form", [None, "csv"])
def test_standard_output_is_flushed_when_asked_and_stays_open(
    form: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding="ascii")  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdout", stdout)
    with open_sink("-", Schema.of(name="string"), form) as sink:
        sink.write([(1, 2, ("é",))])
        sink.flush()
        flushed = raw.getvalue().decode()
        assert "é" in flushed and flushed.endswith("\n")
        sink.write([(2, 3, ("x",))])
    assert raw.getvalue().count(b"\n") == (3 if form else 2)
    assert not stdout.closed


def test_a_reader_that_goes_away_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        with open_sink("-", SCHEMA) as sink:
            assert sink.is_wanted
            sink.write([ELEMENT])
            sink.flush()
            assert not sink.is_wanted
            sink.write([ELEMENT] * 100_000)
        # What is still in its buffer goes nowhere, and nobody complains of it.


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error() -> None:
    with (
        pytest.raises(ConnectorError, match="/dev/full: No space left"),
        open_sink("/dev/full", SCHEMA, "csv") as sink,
    ):
        sink.write([ELEMENT])
        sink.flush()


def test_half_a_surrogate_pair_is_escaped(tmp_path: Path) -> None:
    file = written(str(tmp_path), "r.jsonl", Schema.of(name="string"), [[(1, 2, ("\ud800",))]])
    assert json.loads(file.read_bytes())["row"] == {"name": "\ud800"}
