"""Options of sources: how a file is written, and the order of its rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.io import BadRows, ConnectorError, open_source
from midstream.io.sources.csv_reader import CsvReader
from midstream.io.sources.rows import Rows, number_of
from midstream.io.sources.selecting import conversion_of
from midstream.io.sources.sorting import in_order
from midstream.io.sources.text_reader import in_utf8
from midstream.plans.sql.catalog import Catalog
from midstream.plans.sql.declarations import SourceClause, StreamDeclaration
from midstream.plans.values.errors import InputFileError, MidstreamError, SqlError
from midstream.plans.values.units import TimeUnit

SECONDS = TimeUnit.of("seconds")
COLUMNS = "t TIMESTAMP, name TEXT, price REAL, n INT"
PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\x85"))


def declared(options: str = "", path: object = "f.csv", kind: str = "csv", columns: str = COLUMNS) -> Any:
    catalog = Catalog(None)
    source = f"{kind}('{path}'{', ' * bool(options)}{options})"
    catalog.execute(f"CREATE STREAM s({columns}) SOURCE {source} ORDERED BY t TIME_UNIT 's'")
    return catalog.streams["s"]


def elements(stream: StreamDeclaration) -> list[Any]:
    return [element for batch in open_source(stream, SECONDS) for element in batch]


def rows(stream: StreamDeclaration) -> list[Any]:
    return [(start, *payload) for start, _, payload in elements(stream)]


def test_a_file_as_a_german_program_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    text = "01.02.2026 10:00;'Müller; Söhne';1,5;NA\r\n01.02.2026 10:01;'O''Hara';-;7.0\r\n"
    file.write_bytes(text.encode("latin-1"))
    stream = declared(
        "delim = ';', quote = '''', header = false, encoding = 'latin-1', format = '%d.%m.%Y %H:%M', "
        "nullstr = 'NA', nullstr = '-', decimal_separator = ','",
        file,
    )
    at = 1769940000
    assert rows(stream) == [(at, "Müller; Söhne", 1.5, None), (at + 60, "O'Hara", None, 7)]


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "delim": st.sampled_from([";", "\t", "|"]),
        "quote": st.sampled_from(["'", '"', ""]),
        "header": st.booleans(),
        "decimal": st.sampled_from([".", ","]),
        "thousands": st.sampled_from(["'", " "]),
        "time_of_day": PLAIN.filter(bool),
        "encoding": st.sampled_from(["utf-8", "utf-16", "latin-1", "cp1252"]),
        "sparse": st.booleans(),
        "formats": st.lists(st.sampled_from(["iso", "%d.%m.%Y", "%H'%M"]), max_size=2).map(tuple),
        "unknown": st.lists(PLAIN, max_size=2).map(tuple),
        "sort": st.booleans(),
    },
)


@given(OPTIONS, PLAIN)
def test_a_clause_reads_back_as_it_was_written(options: dict[str, Any], path: str) -> None:
    clause = SourceClause("csv", (path,), **options)
    if clause.header is None or "\n" not in path:
        catalog = Catalog(None)
        catalog.execute(f"CREATE STREAM s(a INT) SOURCE {clause}")
        assert catalog.streams["s"].source == clause
        assert SourceClause.of("csv", (path,), clause.options) == clause


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"])
@given(
    st.lists(st.tuples(st.integers(0, 9), st.text("aé ü;,'\"\n"), st.none() | st.integers())),
    st.sampled_from(";|\t,"),
    st.sampled_from("\"'"),
    st.integers(1, 50),
)
def test_whatever_the_separators_and_the_encoding(
    encoding: str, table: list[tuple[Any, ...]], delim: str, quote: str, size: int
) -> None:
    written = io.StringIO()
    writer = csv.writer(written, delimiter=delim, quotechar=quote)
    writer.writerow(["t", "name", "n"])
    writer.writerows(table)
    stream = declared(columns="t INT, name TEXT, n INT")
    data = written.getvalue().encode(encoding)
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    reader = CsvReader(
        "f.csv", conversion_of(stream, SECONDS, "csv"), BadRows(), delim=delim, quote=quote, encoding=encoding
    )
    read = [element for batch in reader.batches(in_utf8(blocks, encoding, "f.csv")) for element in batch]
    # In a nullable column an empty text is unknown; in the file, writers end lines with CR LF.
    assert read == [(t, t + 1, (name or None, n)) for t, name, n in table]


@pytest.mark.parametrize("end", ["csv", "jsonl"])
@given(st.lists(st.tuples(st.dates(), st.times(), st.none() | st.integers())))
def test_dates_and_times_of_day_apart(end: str, table: list[tuple[Any, ...]]) -> None:
    texts = [(day.isoformat(), clock.isoformat(), n) for day, clock, n in table]
    stream = declared("time_of_day = 'Clock'", kind=end, columns="t DATE, clock TEXT, n INT")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "f"
        if end == "csv":
            lines = [f"{day},{clock},{'' if n is None else n}\n" for day, clock, n in texts]
            file.write_text("".join(["t,clock,n\n", *lines]))
        else:
            file.write_text(
                "".join(f"{json.dumps({'t': day, 'clock': clock, 'n': n})}\n" for day, clock, n in texts)
            )
        source = replace(stream.source, arguments=(str(file),))
        read = [element for batch in open_source(stream, SECONDS, source) for element in batch]
    expected = [datetime.combine(day, clock, UTC) for day, clock, _ in table]
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert read == [
        (start := (at - epoch) // timedelta(seconds=1), start + 1, (clock, n))
        for at, (_, clock, n) in zip(expected, texts, strict=True)
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1970-01-02,,5", "line 2, column clock: found nothing, expected a time of day"),
        ("1970-01-02,25:00,5", "line 2, column clock: found '25:00', expected a time of day"),
        ("1970-01-02,930,5", "line 2, column clock: found '930', expected a time of day"),
        ("1970-01-02 09:00,08:15,5", "line 2, column t: found '1970-01-02 09:00', expected a date alone"),
        (",08:15,5", "line 2, column t: found nothing"),
    ],
)
def test_what_is_no_date_with_a_time_of_day(tmp_path: Path, row: str, message: str) -> None:
    file = tmp_path / "f.csv"
    file.write_text(f"t,clock,n\n{row}\n1970-01-02,8:15 PM,6\n")
    stream = declared("time_of_day = 'clock'", file, columns="t TIMESTAMP, clock TEXT, n INT")
    with pytest.raises(InputFileError, match=message):
        rows(stream)
    with BadRows(tmp_path / "dead.jsonl") as bad:
        batches = open_source(stream, SECONDS, bad_rows=bad)
        assert [element for batch in batches for element in batch] == [
            (86400 + 20 * 3600 + 900, 86401 + 20 * 3600 + 900, ("8:15 PM", 6))
        ]
    with pytest.raises(ConnectorError, match=r"time_of_day: found clok, .*: clock, n; did you mean clock"):
        rows(declared("time_of_day = 'clok'", file, columns="t TIMESTAMP, clock TEXT, n INT"))


def test_files_may_lack_columns_where_the_source_says_so(tmp_path: Path) -> None:
    for name, text in (("1", "t,name,price,n\n1,x,1.5,2\n"), ("2", 't,n\n2,"3"\n3,4\n')):
        (tmp_path / f"f{name}.csv").write_text(text)
    assert rows(declared("sparse = true", tmp_path / "f?.csv")) == [
        *((1, "x", 1.5, 2), (2, None, None, 3), (3, None, None, 4))
    ]
    with pytest.raises(InputFileError, match="column name: found no such column"):
        rows(declared("", tmp_path / "f?.csv"))
    known = declared("sparse = true", tmp_path / "f2.csv", columns="t TIMESTAMP, name TEXT NOT NULL")
    with pytest.raises(InputFileError, match="column name: found no such column"):
        rows(known)


def test_numbers_with_characters_between_thousands(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("t;name;price;n\n1;1.5;1.234,5;1.234\n2;x;12,5;7\n3;;;\n")
    options = "delim = ';', thousands = '.', decimal_separator = ','"
    assert rows(declared(options, file)) == [
        (1, "1.5", 1234.5, 1234),
        (2, "x", 12.5, 7),
        (3, None, None, None),
    ]
    file.write_text("t;name;price;n\n1;x;12.34;1\n")
    with pytest.raises(InputFileError, match=r"column price: found '12.34', expected float"):
        rows(declared(options, file))
    with pytest.raises(SqlError, match=r"thousands: found '.', which is decimal_separator"):
        declared("thousands = '.'")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_bytes(b"t,name,price,n\n1,\x81,,\n")
    with pytest.raises(InputFileError, match="line 2: found the byte 0x81, expected text in cp1252"):
        rows(declared("encoding = 'cp1252'", file))
    file.write_bytes("t,name\n1,x\n".encode("utf-16") + b"\x00")
    with pytest.raises(InputFileError, match=r"line 3 or later: .*, expected text in utf-16"):
        rows(declared("encoding = 'utf-16'", file, columns="t INT, name TEXT"))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("csv", "t,name,price,n\n5,x,,\n"),
        ("jsonl", '{"t": 5, "name": "x", "price": null, "n": null}\n'),
        ("jsonl", '{"t": "2026-02-01", "name": "x", "price": null, "n": null}\n'),
    ],
)
def test_another_form_than_the_declared_one_does_not_fit(tmp_path: Path, kind: str, text: str) -> None:
    file = tmp_path / "f"
    file.write_text(text)
    form = "format = '%d.%m.%Y'"
    with pytest.raises(
        InputFileError, match=r"column t: found .*, expected a timestamp of the form %d.%m.%Y"
    ):
        rows(declared(form, file, kind))
    assert len(rows(declared(f"{form}, format = 'iso'", file, kind))) == 1


def test_the_first_form_that_fits_counts(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text(
        "t,n\n02/01/1970,1\n2 January 1970,2\n1970-01-02,3\n86400,4\n02/01/1970 00:00:05 +0100,5\n"
    )
    forms = ("%d/%m/%Y", "%d %B %Y", "iso", "%d/%m/%Y %H:%M:%S %z")
    stream = declared(", ".join(f"format = '{form}'" for form in forms), file, columns="t TIMESTAMP, n INT")
    assert rows(stream) == [(86400, 1), (86400, 2), (86400, 3), (86400, 4), (82805, 5)]


def test_integers_that_order_a_stream_have_no_form(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("t,born\n7,01.02.1970\n")
    assert rows(declared("format = '%d.%m.%Y'", file, columns="t INT, born DATE")) == [(7, 31 * 86400)]


def test_json_may_lack_columns_where_the_source_says_so(tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text('{"t": 1, "N": 5}\n{"t": 2, "name": "x"}\n{"price": 1.5, "t": 3}\n')
    assert rows(declared("sparse = true", file, "jsonl")) == [
        (1, None, None, 5),
        (2, "x", None, None),
        (3, None, 1.5, None),
    ]
    with pytest.raises(InputFileError, match="line 1, column name: found no such column"):
        rows(declared("", file, "jsonl"))
    with pytest.raises(InputFileError, match="line 1, column t: found null"):
        file.write_text('{"name": "x"}\n')
        rows(declared("sparse = true", file, "jsonl"))


def test_timestamps_as_texts_in_parquet(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    file = tmp_path / "f.parquet"
    pq.write_table(pa.table({"t": ["03.01.1970", "02.01.1970"], "n": [1, 2]}), file)
    stream = declared("format = '%d.%m.%Y', sort = true", file, "parquet", "t TIMESTAMP, n INT")
    assert rows(stream) == [(86400, 2), (2 * 86400, 1)]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            "jsonl",
            "delim = ';'",
            "the option delim for jsonl, expected encoding, sparse, .* or sort",
        ),
        (
            "parquet",
            "encoding = 'latin-1'",
            "the option encoding for parquet, expected sparse, .* or sort",
        ),
        ("elements", "format = 'iso'", "the option format for elements, expected encoding or sort"),
        ("ingested", "sort = true", "the option sort for ingested, expected none"),
        ("stdin", "sort = true", "found sort = true for stdin, expected it for files"),
    ],
)
def test_options_of_other_kinds_are_refused(kind: str, options: str, message: str) -> None:
    with pytest.raises(ConnectorError, match=message):
        open_source(declared(options, "csv" if kind == "stdin" else "f", kind), SECONDS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("delim = '||'", "delim: found '||', expected one character"),
        ("quote = 'ab'", "quote: found 'ab', expected one character"),
        ("delim = '\"'", "which is delim, expected another"),
        ("quote = ','", "which is delim, expected another"),
        ("delim = ',', decimal_separator = ','", "decimal_separator: found delim"),
        ("decimal_separator = ';'", "decimal_separator: found ';', expected ',' or '.'"),
        ("encoding = 'zip'", "encoding: found 'zip', expected 'utf-8', 'utf-16'"),
        ("format = 'dd.mm.yyyy'", "format: found 'dd.mm.yyyy', expected directives of strptime"),
        ("format = '%Q'", "format: found '%Q', expected directives of strptime"),
        ("format = '%d.%d.%Y'", "format: found '%d.%d.%Y', expected directives of strptime"),
        ("header = 'yes'", "header: found 'yes', expected true or false"),
        ("delim = true", "delim: found true, expected a text"),
        ("header = yes", "found yes, expected header = true or false"),
        ("sep = ';'", "found the option sep, expected .*; did you mean delim?"),
        ("delim = ';', delim = ','", "delim: found it twice, expected it once"),
    ],
)
def test_values_that_are_none_are_refused(options: str, message: str) -> None:
    with pytest.raises(SqlError, match=message.replace("|", r"\|")):
        declared(options)


ORDERED = st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=5))


@given(ORDERED, st.sampled_from([0, 500, 1 << 20]), st.booleans())
def test_sorting_keeps_rows_of_equal_times_in_their_order(
    batches: list[list[int]], memory: int, has_numbers: bool
) -> None:
    number = 100

    def arriving() -> Iterator[list[Any]]:
        nonlocal number
        for batch in batches:
            some = [(t, t + 1, (number + i,)) for i, t in enumerate(batch)]
            yield Rows(some, range(number, number + len(batch))) if has_numbers else some
            number += len(batch)

    found = [
        (element, number_of(element, batch)) for batch in in_order(arriving(), memory) for element in batch
    ]
    expected = sorted((t, 100 + i) for i, t in enumerate(t for batch in batches for t in batch))
    assert [(start, payload[0]) for (start, _, payload), _ in found] == expected
    if has_numbers:
        assert [number for _, number in found] == [i for _, i in expected]


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(ConnectorError, match=r"sorting by time: No such file or directory in .*TMPDIR"):
        list(in_order([[(1, 2, ())]], 0))


def test_files_of_a_pattern_are_one_stream(tmp_path: Path) -> None:
    for name, text in (("b2", "t,n\n1,20\n9,21\n"), ("b1", "n,t\n10,5\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    pattern = tmp_path / "b*.csv"
    stream = declared("", pattern, columns="t INT, n INT")
    assert rows(stream) == [(5, 10), (1, 20), (9, 21)]
    ordered = replace(stream, source=replace(stream.source, sort=True))
    assert rows(ordered) == [(1, 20), (5, 10), (9, 21)]
    source = open_source(ordered, SECONDS)
    (batch,) = source
    places = [source.place(number_of(element, batch) or 0) for element in batch]
    assert [(Path(name).name, line) for name, line in places] == [("b2.csv", 2), ("b1.csv", 2), ("b2.csv", 3)]
    assert source.file_progress is not None
    assert source.file_progress.read == source.file_progress.size == 23
    for name in ("b1", "b2"):
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress((tmp_path / f"{name}.csv").read_bytes()))
    packed = open_source(declared("", tmp_path / "b*.csv.gz", columns="t INT, n INT"), SECONDS)
    assert [start for batch in packed for start, _, _ in batch] == [5, 1, 9]
    assert packed.file_progress is not None
    assert packed.file_progress.read == packed.file_progress.size
    with pytest.raises(InputFileError, match=r"none-\*.csv: found no such file"):
        open_source(declared("", tmp_path / "none-*.csv"), SECONDS)


def test_bad_rows_of_several_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"t": 1, "n": 1}) + "\n")
    (tmp_path / "b.jsonl").write_text(json.dumps({"t": 1, "n": "x"}) + "\n")
    with pytest.raises(MidstreamError, match=r"b.jsonl, line 1, column n: found 'x'"):
        rows(declared("", tmp_path / "?.jsonl", "jsonl", "t INT, n INT"))


def test_integers_as_pandas_writes_them_beside_missing_values(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("t,n,m\n1,5.0,7\n2,,8\n3,-6.0,9\n")
    assert rows(declared("", file, columns="t INT, n INT, m INT NOT NULL")) == [
        (1, 5, 7),
        (2, None, 8),
        (3, -6, 9),
    ]
    for text, column in (("1,5.5,7", "n"), ("1,.0,7", "n"), ("1,5,7.0", "m")):
        file.write_text(f"t,n,m\n{text}\n")
        with pytest.raises(InputFileError, match=f"column {column}: found"):
            rows(declared("", file, columns="t INT, n INT, m INT NOT NULL"))
