"""Files that nobody declared: what is found in them, what is refused, and how to overrule it."""

from __future__ import annotations

import gzip
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.io import open_source
from midstream.io.errors import ConnectorError
from midstream.io.sniffing import csv_sniffing, samples
from midstream.io.sniffing.file_streams import FileNote
from midstream.io.sniffing.sniffing import SniffedStream, sniff
from midstream.plans.sql.catalog import Catalog
from midstream.plans.sql.declarations import ColumnDeclaration, SourceClause, StreamDeclaration
from midstream.plans.sql.statements import create_stream
from midstream.plans.values.errors import InputFileError, MissingExtra, SqlError
from midstream.plans.values.schema import Type
from midstream.plans.values.units import MICROSECONDS, TimeUnit

pytest.importorskip("duckdb")
DAY = 86_400 * 10**6


def written(folder: Path, text: str | bytes, name: str = "f.csv") -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def sniffed(path: str, **options: Any) -> SniffedStream:
    pairs = [
        (key, one)
        for key, value in options.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    return sniff(path, "s", None, pairs)


def columns(found: SniffedStream) -> dict[str, str]:
    return {one.name: one.time or one.type.value for one in found.declaration.columns}


def rows(found: SniffedStream) -> list[Any]:
    stream = found.declaration
    return [
        (start, *payload)
        for batch in open_source(stream, stream.unit or MICROSECONDS)
        for start, _, payload in batch
    ]


def source(found: SniffedStream) -> SourceClause:
    assert found.declaration.source is not None
    return found.declaration.source


def test_a_plain_file_needs_no_options(tmp_path: Path) -> None:
    path = written(tmp_path, "ts,country,n,price,paid\n1970-01-02,DE,1,2.5,true\n1970-01-03,,,,\n")
    found = sniffed(path)
    assert columns(found) == {
        "ts": "date",
        "country": "string",
        "n": "integer",
        "price": "float",
        "paid": "boolean",
    }
    assert (found.declaration.ordered_by, source(found).options) == ("ts", ())
    assert rows(found) == [(DAY, "DE", 1, 2.5, True), (2 * DAY, None, None, None, None)]
    assert [note.removeprefix(path) for note in found.notes] == [
        ": CSV in utf-8, fields by ','; columns ts DATE, country TEXT, n BIGINT, price DOUBLE, paid BOOLEAN",
        ": ordered by ts, timestamps like ISO 8601, in UTC unless they name a zone; rows: 2, in order",
        f": change what is wrong in FROM read_csv('{path}', time = 'ts'), or in the declaration that "
        "midstream init writes",
    ]


def test_a_file_as_excel_writes_it_in_germany(tmp_path: Path) -> None:
    text = "Datum;Land;Umsatz (€)\r\n13.01.1970 10:00;Österreich;1,5\r\n02.01.1970 8:30;;NA\r\n"
    found = sniffed(written(tmp_path, text.encode("cp1252")))
    assert rows(found) == [
        (DAY + 8 * 3600 * 10**6 + 1800 * 10**6, None, None),
        (12 * DAY + 10 * 3600 * 10**6, "Österreich", 1.5),
    ]
    assert source(found).options == (
        ("delim", ";"),
        ("decimal_separator", ","),
        ("encoding", "cp1252"),
        ("format", "%d.%m.%Y %H:%M"),
        ("nullstr", "NA"),
        ("sort", True),
    )
    assert "not in order (first in" in found.notes[1] and "line 3), so they are sorted" in found.notes[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ts,n\n1970-01-02,99999999999999999999\n1970-01-03,1\n", "integer"),
        ("ts,n\n1970-01-02,99999999999999999999999999999999999999999999\n1970-01-03,1\n", "integer"),
        ("ts,n\n1970-01-02,5.0\n1970-01-03,\n", "integer"),
        ("ts,n\n1970-01-02,5.0\n1970-01-03,6.0\n", "float"),
        ("ts,n\n1970-01-02,5.0\n1970-01-03,6.5\n", "float"),
        ("ts,n\n1970-01-02,nan\n1970-01-03,6.5\n", "float"),
        ("ts,n\n1970-01-02,null\n1970-01-03,6\n", "integer"),
        ("ts,n\n1970-01-02,NA\n1970-01-03,x\n", "string"),
        ("ts,n\n1970-01-02 01:00,08:15\n1970-01-03,09:00\n", "string"),
        ("ts,n\n1970-01-02,1.5\n1970-01-03,2.0e3\n", "float"),
        ("ts,n\n1970-01-02,\n1970-01-03,\n", "string"),
        ("ts,n\n1970-01-02,1.2.1970\n1970-01-03,31.12.1970\n", "string"),
        ("ts;n\n1970-01-02;1,5\n1970-01-03;2\n", "float"),
        ("ts;n\n1970-01-02;1,234\n1970-01-03;2\n", "string"),
        ("ts,n\n1970-01-02,1970-1-2\n1970-01-03,1970-11-12\n", "date"),
        ("ts,n\n1970-01-02,1970-11-12\n1970-01-03,1970-1-2\n", "date"),
        ("ts,n\n1970-01-02,1970-1-2 3:04\n1970-01-03,1970-1-2 13:04\n", "timestamp"),
        ("ts;n;m\n1970-01-02;1,5;2.5\n1970-01-03;2;3.5\n", "string"),
        ("ts;n\n1970-01-02;1,5e3\n1970-01-03;2,5E-2\n", "float"),
        ("ts;n\n1970-01-02;1,234e3\n1970-01-03;2\n", "float"),
        ("ts;n\n1970-01-02;,5\n1970-01-03;5,\n", "float"),
        ("ts;n\n1970-01-02;1.234,5\n1970-01-03;2,5\n", "string"),
        ("ts;n\n1970-01-02;0.234\n1970-01-03;2.500\n", "float"),
        ("ts;n;m\n1970-01-02;1.234;2.5\n1970-01-03;2.500;3.5\n", "float"),
        ("ts\tn\n1970-01-02\t1.234\n1970-01-03\t2.500\n", "float"),
        ("ts,n\n1970-01-02,02139\n1970-01-03,2139\n", "string"),
        ("ts,n\n1970-01-02,+49\n1970-01-03,49\n", "string"),
    ],
)
def test_types(tmp_path: Path, text: str, expected: str) -> None:
    found = sniffed(written(tmp_path, text))
    assert columns(found)["n"] == expected
    assert len(rows(found)) == 2


@pytest.mark.parametrize(
    ("values", "unit", "first"),
    [
        (("1700000000", "1700000001"), "seconds", 1_700_000_000),
        (("1700000000000", "1700000001000"), "milliseconds", 1_700_000_000_000),
        (("1700000000000000",), "microseconds", 1_700_000_000_000_000),
        (("1700000000000000001",), "nanoseconds", 1_700_000_000_000_000_001),
        (("1970-01-01T00:00:00.000000001",), "nanoseconds", 1),
        (("1970-01-01T00:00:00.000001000",), None, 1),
    ],
)
def test_units(tmp_path: Path, values: Sequence[str], unit: str | None, first: int) -> None:
    found = sniffed(written(tmp_path, "time,n\n" + "".join(f"{value},1\n" for value in values)))
    assert found.declaration.unit == (None if unit is None else TimeUnit.of(unit))
    assert rows(found)[0] == (first, 1)


@pytest.mark.parametrize(
    ("times", "form"),
    [
        (["26.11.1970"], "%d.%m.%Y"),
        (["11/26/1970"], "%m/%d/%Y"),
        (["1970/11/26 10:00:00"], "%Y/%m/%d %H:%M:%S"),
        (["26-Nov-1970"], "%d-%b-%Y"),
        (["26/11/70 5:00 PM"], "%d/%m/%y %I:%M %p"),
        (["26/Nov/1970:10:00:00 +0100"], "%d/%b/%Y:%H:%M:%S %z"),
        (["Thu, 26 Nov 1970 10:00:00 +0000"], "%a, %d %b %Y %H:%M:%S %z"),
        (["19701126"], "%Y%m%d"),
        (["03.03.1970", "04.04.1970"], "%d.%m.%Y"),
        (["1970-11-02 3:04", "1970-11-2 13:04"], "%Y-%m-%d %H:%M"),
        (["1970-11-26 10:00:00 UTC"], "%Y-%m-%d %H:%M:%S UTC"),
        (["Thu, 26 Nov 1970 10:00:00 GMT"], "%a, %d %b %Y %H:%M:%S GMT"),
    ],
)
def test_forms_of_dates(tmp_path: Path, times: list[str], form: str) -> None:
    lines = "".join(f'"{time}",1\n' for time in times)
    found = sniffed(written(tmp_path, f"date,n\n{lines}"))
    assert source(found).formats == (form,)
    assert len(rows(found)) == len(times)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_names_of_zones_are_the_same_on_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        path = written(tmp_path, "at,n\n1970-01-02 12:00 UTC,1\n")
        assert rows(sniffed(path)) == [(DAY + DAY // 2, 1)]
        path = written(tmp_path, "at,n\n1970-01-02 12:00 CET,1\n")
        with pytest.raises(InputFileError, match=r"found '1970-01-02 12:00 CET', .* write \+01:00 in place"):
            sniffed(path)
        with pytest.raises(ConnectorError, match=r"format: found '%Y-%m-%d %H:%M %Z', expected %z, .* UTC'"):
            sniffed(path, format="%Y-%m-%d %H:%M %Z")
    finally:
        monkeypatch.undo()
        time.tzset()


def test_rows_behind_the_sample_look_like_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SIZE", 1 << 15)
    text = "ts,day,n\n" + "".join(f"{1767225600 + i},2026-01-01,{10000 + i}\n" for i in range(4000))
    for row, message in (
        ("1767230000,2026-01-01,00042", "column n: found '00042', .* without a plus or zeros in front"),
        ("1767230000000,2026-01-01,1", "column ts: found '1767230000000', .* unit = 'seconds' takes all"),
        ("2026-01-01,2026-01-01,1", "column ts: found '2026-01-01', expected an integer of seconds"),
        ("1767230000,2026-01-01 09:00,1", "column day: found '2026-01-01 09:00', .*TIMESTAMP takes"),
        ("1767230000,20260101,1", "column day: found '20260101', expected a date in ISO 8601"),
    ):
        path = written(tmp_path, f"{text}{row}\n")
        with pytest.raises(InputFileError, match=f"line 4002, {message}"):
            rows(sniffed(path))


def test_a_date_with_two_readings_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "date,n\n03/04/2026,1\n05/06/2026,2\n")
    message = (
        "column date: found 03/04/2026, which is 2026-04-03 by format = '%d/%m/%Y' or 2026-03-04 by format = "
        "'%m/%d/%Y', and no row tells which"
    )
    with pytest.raises(InputFileError, match=message):
        sniffed(path)
    assert source(sniffed(path, format="%m/%d/%Y")).formats == ("%m/%d/%Y",)


def test_the_whole_file_may_tell_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SIZE", 1 << 15)  # the size of a block
    lines = [f"{1 + i % 12:02}/04/2026,{i}" for i in range(4000)]
    path = written(tmp_path, "\n".join(["date,n", *lines, "04/13/2026,1"]))
    assert source(sniffed(path)).formats == ("%m/%d/%Y",)
    for start in ("01/04/2026", "01/01/2026"):  # the beginning may not even show that there are two readings
        text = "\n".join(["date,n", *(f"{start},{i}" for i in range(4000)), "01/04/2026,1"])
        with pytest.raises(InputFileError, match="found 01/04/2026, which is"):
            sniffed(written(tmp_path, text))


def test_other_files_may_tell_the_reading(tmp_path: Path) -> None:
    for name, day in (("a", "01/04/1970"), ("b", "13/04/1970")):
        written(tmp_path, f"date,n\n{day},1\n", f"{name}.csv")
    assert source(sniffed(str(tmp_path / "?.csv"))).formats == ("%d/%m/%Y",)
    written(tmp_path, "date,n\n01/01/1970,1\n", "a.csv")
    written(tmp_path, "date,n\n01/02/1970,1\n", "b.csv")
    with pytest.raises(InputFileError, match="found 01/02/1970, which is"):
        sniffed(str(tmp_path / "?.csv"))


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("born,ts", "1970-01-02,1970-01-03", "ts"),
        ("born,created_at", "1970-01-02,1970-01-03", "created_at"),
        ("id,Event Time", "1700000000,1700000000", "Event Time"),
        ("ts,born", "1700000000,1970-01-02", "ts"),
        ("when,n", "1970-01-02,3", "when"),
    ],
)
def test_the_column_of_time(tmp_path: Path, header: str, row: str, expected: str) -> None:
    assert sniffed(written(tmp_path, f"{header}\n{row}\n{row}\n")).declaration.ordered_by == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found nothing, expected rows"),
        ("ts,n\n", "no column of timestamps among ts, n"),
        (
            "a,n\nx,5\n",
            "no column of timestamps among a, n, .*; CREATE RELATION declares",
        ),
        ("a,b\nx,y\n", "no column of timestamps among a, b.*format = '%d.%m.%Y %H:%M' says"),
        (
            "a_at,b_at\n1970-01-02,1970-01-02\n",
            "timestamps in a_at, b_at, expected one column.*time = 'a_at'",
        ),
        ("ts,n,N\n1970-01-02,1,2\n", "several columns n, expected different names"),
        ("ts,n\n1700000000.5,1\n", "column ts: found '1700000000.5', .*integers of a finer unit"),
        (
            "ts,a,b\n1970-01-02,2,3\n1970-01-03,5,6,7\n",
            "line 3: found 4 fields, expected 3, as most lines have; mend",
        ),
        ("ts,a,b\n1970-01-02,2,3\n1970-01-03,5\n1970-01-04,8,9\n", "line 3: found 2 fields, expected 3"),
        (
            "# orders\n\nts,a\n1970-01-02,2\n1970-01-03,2\n",
            "line 1: found 1 fields, expected 2, as most lines have",
        ),
        (
            "ts,a\n1970-01-02,0x1f\n",
            "column a: found '0x1f', which DuckDB reads as integer.*types = 'a TEXT'",
        ),
        ("ts,a\n1970-01-02,inf\n", "column a: found 'inf', which DuckDB reads as"),
        ('ts,a\n1970-01-02,"2"x\n', "line 2: found .*, expected comma-separated values"),
    ],
)
def test_refusals_of_csv(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputFileError, match=f"f.csv.*{message}"):
        sniffed(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"ts": 1}]', r"line 1: found an array.*jq -c '\.\[\]' < .*f.jsonl > mended.jsonl writes"),
        ('{\n"ts": 1}', "line 1: found .*jq -c . < .*f.jsonl > mended.jsonl writes one object a line"),
        (
            '{"ts": "1970-01-02", "user": {"id": 5}}',
            "line 1, column user: found a nested value, .*types = 'user TEXT'",
        ),
        ('{"ts": "1970-01-02", "tags": ["a"]}', "column tags: found a nested value, .*types = 'tags TEXT'"),
        (
            '{"ts": "1970-01-02", "n": 5}\n{"ts": "1970-01-02", "n": "x"}',
            "line 2, column n: found 'x', expected int",
        ),
        ("5", "line 1: found 5, expected an object a line"),
    ],
)
def test_refusals_of_json(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputFileError, match=f"f.jsonl.*{message}"):
        sniffed(written(tmp_path, text, "f.jsonl"))


def test_json_lines(tmp_path: Path) -> None:
    objects = [{"ts": "1970-01-02T00:00:00Z", "n": 1, "x": 1}, {"ts": "1970-01-03", "x": 2.5, "late": True}]
    path = written(tmp_path, "".join(f"{json.dumps(one)}\n" for one in objects), "f.json")
    found = sniffed(path)
    assert columns(found) == {"ts": "timestamp", "n": "integer", "x": "float", "late": "boolean"}
    assert source(found).options == (("sparse", True),)
    assert rows(found) == [(DAY, 1, 1.0, None), (2 * DAY, None, 2.5, True)]


def test_json_with_separators_of_lines_in_texts(tmp_path: Path) -> None:
    path = written(tmp_path, '{"ts": "1970-01-02", "x": "a\u2028\x85b"}\r\n\n', "f.jsonl")
    assert rows(sniffed(path)) == [(DAY, "a\u2028\x85b")]


def test_parquet(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        {
            "ts": pa.array([2 * 10**9 + 1, 10**9], pa.timestamp("ns")),
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "price": pa.array([1, 2], pa.decimal128(9, 2)),
            "born": pa.array([1, 2], pa.date32()),
            "n": pa.array([1, None], pa.int32()),
        }
    )
    pq.write_table(table, tmp_path / "f.parquet")
    found = sniffed(str(tmp_path / "f.parquet"))
    assert columns(found) == {
        "ts": "timestamp",
        "kind": "string",
        "price": "float",
        "born": "date",
        "n": "integer",
    }
    assert rows(found) == [(10**9, "b", 2.0, 2 * DAY * 1000, None), (2 * 10**9 + 1, "a", 1.0, DAY * 1000, 1)]
    assert "column price has decimals, which become floats" in found.notes[0]
    pq.write_table(table.append_column("deep", pa.array([[1], [2]])), tmp_path / "g.parquet")
    with pytest.raises(InputFileError, match=r"column deep: found list.*types = .deep TEXT."):
        sniffed(str(tmp_path / "g.parquet"))


def test_a_word_that_is_null_in_texts_as_well_is_told(tmp_path: Path) -> None:
    found = sniffed(written(tmp_path, "ts,country,n\n1970-01-02,NA,1\n1970-01-03,DE,NA\n"))
    assert rows(found) == [(DAY, None, 1), (2 * DAY, "DE", None)]
    assert found.notes[0].endswith("; 'NA' is NULL, also in country")
    found = sniffed(written(tmp_path, "ts,country,n\n1970-01-02,DE,NA\n1970-01-03,FR,1\n"))
    assert found.notes[0].endswith("; 'NA' is NULL")


def test_files_without_a_header(tmp_path: Path) -> None:
    for text in ("1970-01-02,DE,5\n1970-01-03,FR,6\n", "02.01.1970;DE;1,5\n13.01.1970;FR;2,5\n"):
        found = sniffed(written(tmp_path, text))
        assert list(columns(found)) == ["column0", "column1", "column2"]
        assert (source(found).header, len(rows(found))) == (False, 2)
    assert sniffed(written(tmp_path, "5,1970-01-02\n6,1970-01-01\n")).declaration.ordered_by == "column1"


def test_years_may_be_names_of_columns(tmp_path: Path) -> None:
    found = sniffed(written(tmp_path, "date,2024,2025\n1970-01-02,1,2\n1970-01-03,3,4\n"))
    assert columns(found) == {"date": "date", "2024": "integer", "2025": "integer"}


def test_a_sample_ends_with_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SIZE", 1 << 15)
    for size in range(5):  # the end of the sample is at each place of a record once
        line = '1970-01-02,"a\nb\n' + "c" * size + '",5\n'
        found = sniffed(written(tmp_path, "ts,text,n\n" + line * 3000))
        assert columns(found)["n"] == "integer" and len(rows(found)) == 3000
    line = "1970-01-02,5'\n"
    assert len(rows(sniffed(written(tmp_path, "ts,text\n" + line * 9000)))) == 9000


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    found = sniffed(written(tmp_path, ",ts,n\n0,1970-01-02,5\n1,1970-01-03,6\n"))
    assert list(columns(found)) == ["ts", "n"] and "without a name are left out" in found.notes[0]
    assert rows(found) == [(DAY, 5), (2 * DAY, 6)]


def test_packed_files_of_a_pattern(tmp_path: Path) -> None:
    for day in (3, 2):
        text = f"ts\tn\n1970-01-0{day}\t{day}\n"
        written(tmp_path, gzip.compress(text.encode("utf-16")), f"f-{day}.tsv.gz")
    found = sniffed(str(tmp_path / "f-*.tsv.gz"))
    assert rows(found) == [(DAY, 2), (2 * DAY, 3)]
    assert (source(found).delim, source(found).encoding, source(found).sort) == ("\t", "utf-16", False)


def test_everything_can_be_overruled(tmp_path: Path) -> None:
    path = written(tmp_path, "a|b|c\n5|7|1970-01-02\n4|NA|x\n")
    options = {
        "delim": "|",
        "time": "A",
        "unit": "s",
        "types": "b TEXT, C TEXT",
        "sort": True,
        "nullstr": ["x"],
    }
    found = sniffed(path, **options)
    assert (found.declaration.ordered_by, found.declaration.unit) == ("a", TimeUnit.of("seconds"))
    assert rows(found) == [(4, "NA", None), (5, "7", "1970-01-02")]
    assert "rows: sorted" in found.notes[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spars": True}, "found the option spars, expected one of delim, .*time, unit, types"),
        ({"sep": ";"}, "found the option sep, .*did you mean delim?"),
        ({"time": "tss"}, "time: found tss, expected one of ts, n; did you mean ts?"),
        ({"time": True}, "time: found true, expected a text"),
        ({"types": "m TEXT"}, "types: found m, expected one of ts, n"),
        ({"types": "n WHAT"}, "types, line 1.*WHAT"),
        ({"unit": "s"}, "unit: found seconds, expected none, as column ts has no integers"),
        ({"unit": "moons"}, "found the time unit 'moons'"),
        ({"delim": "||"}, r"delim: found '\|\|', expected one character"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConnectorError, match=message):
        sniffed(written(tmp_path, "ts,n\n1970-01-02,5\n"), **options)


def test_wide_rows_can_be_set_aside(tmp_path: Path) -> None:
    path = written(tmp_path, "ts,n\n1970-01-02,5\n1970-01-03,5,6\n1970-01-04,7\n")
    found = sniffed(path, delim=",")
    assert columns(found) == {"ts": "date", "n": "integer"}
    with pytest.raises(InputFileError, match="line 3: found 3 fields, expected 2"):
        rows(found)


def test_files_that_cannot_be_looked_through(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"none.csv: found no such file"):
        sniffed(str(tmp_path / "none.csv"))
    with pytest.raises(InputFileError, match=r"none-\*.csv: found no such file"):
        sniffed(str(tmp_path / "none-*.csv"))
    with pytest.raises(ConnectorError, match=r"f.xls: found no suffix of a known format, .*read_csv\('"):
        sniffed(str(tmp_path / "f.xls"))
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(InputFileError, match=r"d.csv: found a pipe or a folder, expected a file"):
        sniffed(str(tmp_path / "d.csv"))


def test_without_duckdb_csv_must_be_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(names: Sequence[str], extra: str, need: str) -> None:
        raise MissingExtra(f"{names} {extra} {need}")

    monkeypatch.setattr(csv_sniffing, "require_libraries", missing)
    with pytest.raises(MissingExtra, match=r"duckdb.*CSV needs unless CREATE STREAM declares it"):
        sniffed(written(tmp_path, "ts,n\n1970-01-02,5\n"))
    assert sniffed(written(tmp_path, '{"ts": "1970-01-02", "n": 1}', "f.jsonl")).notes


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5).filter(str.strip)


@given(
    st.lists(
        st.tuples(
            NAMES | st.sampled_from(["date", "order", "select", "a b", "unique", "Key"]),
            st.sampled_from(Type),
        ),
        min_size=2,
        max_size=4,
        unique_by=lambda one: one[0].lower(),
    ),
    NAMES,
    st.sampled_from([None, "ms", "days"]),
)
def test_a_statement_declares_the_same(columns: list[tuple[str, Type]], name: str, unit: str | None) -> None:
    (first, _), *others = columns
    declared = tuple(ColumnDeclaration(one, type_) for one, type_ in others if type_ is not Type.ANY)
    if declared:
        time = ColumnDeclaration(first, Type.INTEGER, is_timestamp=True, is_date=unit is None)
        source = SourceClause("csv", (f"{name}'s.csv",), sort=True)
        stream = StreamDeclaration(
            name, (time, *declared), first, source, None if unit is None else TimeUnit.of(unit)
        )
        catalog = Catalog(None)
        catalog.execute(create_stream(stream))
        assert catalog.streams == {name: stream}


def test_files_in_from(tmp_path: Path) -> None:
    orders = written(tmp_path, "ts,country\n1970-01-02,DE\n1970-01-03,FR\n", "orders.csv")
    users = written(tmp_path, '{"ts": 86400000001000, "land": "DE"}\n', "users.jsonl")
    with pytest.warns(FileNote):
        plan = ms.sql(
            f"SELECT o.country FROM read_csv('{orders}', time = 'ts') o WINDOW(RANGE 1 DAY), "
            f"read_json('{users}', unit = 'ns', time = 'ts') WINDOW(RANGE 2 DAYS) u WHERE u.land = o.country"
        )
    assert [one.stream for one in plan.sources] == ["orders", "users"]
    day = DAY * 1000
    assert ms.run(plan) == [(day + 1000, 2 * day, ("DE",))]
    assert ms.run(plan, {"users": ms.chronons([(day, ("FR",))], "ns")}) == [(2 * day, 3 * day, ("FR",))]


def test_a_file_is_declared_once(tmp_path: Path) -> None:
    path = written(tmp_path, "ts,n\n1970-01-02,5\n", "orders.csv")
    catalog = ms.catalog()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        catalog.execute(f"SELECT n FROM '{path}' UNION ALL SELECT n FROM '{path}'; SELECT n FROM '{path}'")
        catalog.execute(f"SELECT n FROM read_csv('{path}', types = 'n TEXT')")
    assert len(caught) == 6 and list(catalog.streams) == ["orders", "orders_2"]


def test_a_later_query_may_have_a_finer_unit(tmp_path: Path) -> None:
    coarse = written(tmp_path, "ts,n\n1970-01-02,5\n", "coarse.csv")
    fine = written(tmp_path, "ts,n\n1970-01-02T00:00:00.000000001,6\n", "fine.csv")
    first, second = ms.catalog().execute(f"SELECT n FROM '{coarse}'; SELECT n FROM '{fine}'")
    assert ms.run(first.plan) == [(DAY * 1000, DAY * 1000 + 1, (5,))]
    assert ms.run(second.plan) == [(DAY * 1000 + 1, DAY * 1000 + 2, (6,))]


def test_errors_in_files_have_a_place(tmp_path: Path) -> None:
    with pytest.raises(SqlError, match=r"line 1, column 15: x.csv: found no such file"):
        ms.sql("SELECT n FROM 'x.csv'")
    with pytest.raises(SqlError, match=r"found the file x.csv in FROM, expected a declared stream"):
        Catalog().execute("SELECT n FROM 'x.csv'")
    with pytest.raises(SqlError, match="read_csv: found 0 arguments, expected a path"):
        ms.sql("SELECT n FROM read_csv()")
    for name in ("rel.csv", '"rel.csv"'):
        with pytest.raises(SqlError, match="a file stands in single quotes"):
            ms.sql(f"SELECT n FROM {name}")
    with pytest.raises(SqlError, match=r"or a file in single quotes; did you mean read_csv\?"):
        ms.sql("SELECT n FROM read_cvs('x.csv')")
    path = written(tmp_path, "ts\n1970-01-02\n")
    with pytest.raises(SqlError, match="found no columns besides timestamps"):
        ms.sql(f"SELECT * FROM '{path}'")


def test_streams_of_python(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text("ts;n\n1970-01-02;NA\n1970-01-03;7\n")
    with pytest.warns(FileNote):
        orders = ms.read_csv(path, "o", delim=";", nullstr=["NA"])
    assert ms.run(orders.filter(ms.col("n") > 5)) == [(2 * DAY, 2 * DAY + 1, (7,))]
    assert ms.run(orders, {"o": []}) == []
    for options, message in (({"time": 5}, "read_csv: time"), ({"nullstr": [5]}, "read_csv: nullstr")):
        with pytest.raises(ms.MidstreamError, match=message):
            ms.read_csv(path, **options)  # type: ignore[arg-type]
