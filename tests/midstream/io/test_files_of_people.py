"""Files as people have them: each gives what DuckDB gives for the same query on snapshots, or is refused.

DuckDB reads a copy in UTF-8 that is not packed, with the options that were found in the file. The files that
are refused say what to do.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import midstream as ms
from midstream.io.sniffing.file_streams import FileNote, FileStreams
from midstream.plans.sql.catalog import Catalog
from midstream.plans.sql.declarations import ISO, SourceClause, StreamDeclaration, literal
from midstream.plans.sql.statements import create_stream
from midstream.plans.values.instants import EPOCH, nanoseconds, of_datetime
from midstream.plans.values.units import TimeUnit

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

WINDOW = timedelta(hours=5)
DRAW = random.Random(7)
COUNTRIES = ("DE", "FR", "Österreich", None)
MINUTES = sorted(DRAW.choices(range(3 * 24 * 60), k=60))
ROWS = [
    (
        nanoseconds("2026-01-14") + minute * 60 * 10**9,
        DRAW.choice(COUNTRIES),
        DRAW.choice((None, -3, 0, 7, 12)),
        DRAW.choice((None, 0.25, 1.5, 1234.5, -2.0)),
    )
    for minute in MINUTES
]
"""The instant of a row in nanoseconds, a country, an integer and a float."""

NAMES = ("ts", "country", "n", "price")
Show = Callable[[int], str]


def moment(at: int) -> datetime:
    return EPOCH + timedelta(microseconds=at // 1000)


def form(text: str) -> Show:
    """Shows instants in a form of strftime."""
    return lambda at: moment(at).strftime(text)


ISO_TEXT = form("%Y-%m-%d %H:%M:%S")


def text_of(
    show: Show = ISO_TEXT,
    *,
    delim: str = ",",
    quote: str = '"',
    names: tuple[str, ...] | None = NAMES,
    nothing: str = "",
    end: str = "\n",
    price: Callable[[float], str] = str,
    n: Callable[[int], str] = str,
    rows: list[Any] = ROWS,
    country: Callable[[str], str] = str,
) -> str:
    """The rows in CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delim, quotechar=quote, lineterminator=end)
    if names is not None:
        writer.writerow(names)
    for at, where, count, amount in rows:
        writer.writerow(
            (
                show(at),
                nothing if where is None else country(where),
                nothing if count is None else n(count),
                nothing if amount is None else price(amount),
            )
        )
    return text.getvalue()


ZULU = form("%Y-%m-%dT%H:%M:%SZ")


def objects(show: Callable[[int], Any] = ZULU, *, sparse: bool = False) -> str:
    """The rows in JSON Lines."""
    lines = []
    for row in ROWS:
        values = dict(zip(NAMES, (show(row[0]), *row[1:]), strict=True))
        kept = {key: value for key, value in values.items() if not sparse or value is not None}
        lines.append(json.dumps(kept, ensure_ascii=False) + "\n")
    return "".join(lines)


def parquet(**columns: Any) -> bytes:
    """The rows in Parquet, with some columns replaced."""
    usual = {
        "ts": pa.array([at // 1000 for at, *_ in ROWS], pa.timestamp("us")),
        **{name: pa.array([row[i] for row in ROWS]) for i, name in enumerate(NAMES) if i},
    }
    sink = io.BytesIO()
    pq.write_table(pa.table({**usual, **columns}), sink)
    return sink.getvalue()


def comma(value: float) -> str:
    return str(value).replace(".", ",")


@dataclass(frozen=True)
class Case:
    """Files, what stands in FROM, and, if they are refused, the message.

    key, sum    the column by which rows are counted, and the one that is summed
    texts       the columns that the query makes texts
    """

    files: Mapping[str, str | bytes]
    frm: str = "'{}/f.csv'"
    refusal: str = ""
    key: str = "country"
    sum: str = "n"
    texts: tuple[str, ...] = ()


def one(content: str | bytes, name: str = "f.csv", **more: Any) -> Case:
    return Case({name: content}, more.pop("frm", f"'{{}}/{name}'"), **more)


def refused(content: str | bytes, message: str, name: str = "f.csv", **more: Any) -> Case:
    return one(content, name, refusal=message, **more)


BACKWARDS = ROWS[::-1]
MIXED = DRAW.sample(ROWS, len(ROWS))
EXCEL = text_of(form("%d.%m.%Y %H:%M"), delim=";", end="\r\n", price=comma)
HOSTILE = [(at, f'{where or "x"};\n"{i}", ä', n, price) for i, (at, where, n, price) in enumerate(ROWS)]

CASES: dict[str, Case] = {
    "plain": one(text_of()),
    "excel-in-germany": one(EXCEL.encode("cp1252")),
    "excel-utf-8": one(b"\xef\xbb\xbf" + EXCEL.encode()),
    "excel-unicode-text": one(text_of(delim="\t").encode("utf-16"), "f.txt"),
    "latin-1": one(text_of().encode("latin-1")),
    "utf-16-without-mark": one(text_of().encode("utf-16-le")),
    "tabs": one(text_of(delim="\t"), "f.tsv"),
    "pipes": one(text_of(delim="|")),
    "carriage-returns": one(text_of(end="\r\n")),
    "gzip": one(gzip.compress(text_of().encode()), "f.csv.gz"),
    "zstd": one(pa.compress(text_of().encode(), "zstd", asbytes=True), "f.csv.zst"),
    "seconds": one(text_of(lambda at: str(at // 10**9))),
    "milliseconds": one(text_of(lambda at: str(at // 10**6))),
    "microseconds": one(text_of(lambda at: str(at // 10**3))),
    "nanoseconds": one(text_of(lambda at: str(at + 1))),
    "iso-in-utc": one(text_of(form("%Y-%m-%dT%H:%M:%SZ"))),
    "iso-with-offsets": one(
        text_of(lambda at: moment(at).astimezone(timezone(timedelta(hours=at // 10**12 % 3))).isoformat())
    ),
    "iso-with-milliseconds": one(text_of(form("%Y-%m-%d %H:%M:%S.123"))),
    "iso-with-nanoseconds": one(text_of(form("%Y-%m-%dT%H:%M:%S.000000001"))),
    "dates": one(text_of(form("%Y-%m-%d"))),
    "us-with-am-and-pm": one(text_of(form("%m/%d/%Y %I:%M %p"))),
    "british": one(text_of(form("%d/%m/%Y %H:%M:%S"))),
    "two-digit-years": one(text_of(form("%d.%m.%y %H:%M"))),
    "slashes-from-the-year": one(text_of(form("%Y/%m/%d %H:%M"))),
    "compact": one(text_of(form("%Y%m%d%H%M%S"))),
    "apache": one(text_of(form("%d/%b/%Y:%H:%M:%S +0100"))),
    "mail": one(text_of(form("%a, %d %b %Y %H:%M:%S +0000"))),
    "names-of-months": one(text_of(form("%d %B %Y %H:%M"))),
    "newest-first": one(text_of(rows=BACKWARDS)),
    "no-order": one(text_of(rows=MIXED)),
    "na": one(text_of(nothing="NA")),
    "mysql": one(text_of(nothing="\\N", delim="\t"), "f.tsv"),
    "nan-of-pandas": one(text_of(nothing="nan")),
    "pandas": one(
        "".join(
            f"{'' if i == 0 else i - 1},{line}\n"
            for i, line in enumerate(text_of(n=lambda n: f"{n}.0").splitlines())
        )
    ),
    "quoted-separators-and-newlines": one(text_of(delim=";", rows=HOSTILE)),
    "single-quotes": one(text_of(quote="'", rows=[(t, f"it's, {c}", n, p) for t, c, n, p in ROWS])),
    "names-with-blanks": one(
        text_of(names=("Order Date", "Länder Name", "Menge (Stück)", 'a"b')),
        key='"Länder Name"',
        sum='"Menge (Stück)"',
    ),
    "names-that-sql-has": one(
        text_of(names=("date", "select", "order", "from")), key='"select"', sum='"order"'
    ),
    "no-header": one(text_of(names=None), key="column1", sum="column2"),
    "no-header-in-germany": one(
        text_of(form("%d.%m.%Y %H:%M"), names=None, delim=";", price=comma), key="column1", sum="column2"
    ),
    "files-of-days": Case(
        {f"f-{i}.csv": text_of(rows=ROWS[i * 20 : i * 20 + 20]) for i in range(3)}, "'{}/f-*.csv'"
    ),
    "files-that-overlap": Case({f"f-{i}.csv": text_of(rows=ROWS[i::3]) for i in range(3)}, "'{}/f-*.csv'"),
    "booleans": one(text_of(country=lambda c: str(c == "DE").upper())),
    "large-integers": one(text_of(n=lambda n: str(n * 10**20))),
    "leading-zeros": one(text_of(n=lambda n: f"{abs(n):05}"), key="n", sum="price"),
    "two-times": one(
        text_of(form("%Y-%m-%d %H:%M:%S,1990-02-0%w"), names=("created_at", "born", "n", "x"), delim=";")
        .replace(";", ",")
        .replace("created_at,born,n,x", "created_at,born,country,n,x")
    ),
    "json": one(objects(), "f.jsonl"),
    "json-that-lacks-keys": one(objects(sparse=True), "f.ndjson"),
    "json-in-milliseconds": one(objects(lambda at: at // 10**6), "f.json"),
    "json-packed": one(gzip.compress(objects().encode()), "f.jsonl.gz"),
    "json-with-german-dates": one(objects(form("%d.%m.%Y %H:%M:%S")), "f.jsonl"),
    "parquet": one(parquet(), "f.parquet"),
    "parquet-of-pandas": one(
        parquet(
            ts=pa.array([at for at, *_ in ROWS], pa.timestamp("ns")),
            country=pa.array([row[1] for row in ROWS]).dictionary_encode(),
            price=pa.array([None if p is None else Decimal(str(p)) for *_, p in ROWS], pa.decimal128(9, 2)),
        ),
        "f.parquet",
    ),
    "parquet-with-a-zone": one(
        parquet(ts=pa.array([at // 1000 for at, *_ in ROWS], pa.timestamp("us", "Europe/Vienna"))),
        "f.parquet",
    ),
    "parquet-in-seconds": one(parquet(ts=pa.array([at // 10**9 for at, *_ in ROWS])), "f.parquet"),
    "options": one(
        text_of(names=("a", "country", "n", "at")).replace("FR", "0"),
        frm="read_csv('{}/f.csv', time = 'a', nullstr = '0', types = 'at TEXT', sort = false)",
        texts=("at",),
    ),
    "dates-with-two-readings": refused(
        text_of(form("%m/03/2026")), "01/03/2026, which is 2026-03-01 by format = '%d/%m/%Y' or 2026-01-03"
    ),
    "a-field-too-many": refused(text_of().replace("DE", "DE,x", 1), "line .: found 5 fields, expected 4"),
    "a-field-too-few": refused(text_of() + "2026-02-01\n", "line 62: found 1 fields, expected 4"),
    "a-title": refused("Orders of 2026\n\n" + text_of(), "line 1: found 1 fields, expected 4"),
    "a-sum-below": refused(
        text_of() + "total,,99,\n", "line 62, column ts: found 'total', expected a timestamp"
    ),
    "separators-at-the-end": refused(
        "ts,n\n" + "".join(f"{ISO_TEXT(at)},{n or 0},\n" for at, _, n, _ in ROWS),
        "line 1: found 2 fields, expected 3",
    ),
    "empty": refused("", "found nothing, expected rows"),
    "only-a-header": refused("ts,country,n,price\n", "no column of timestamps"),
    "a-name-twice": refused(text_of(names=("ts", "n", "N", "x")), "several columns n"),
    "no-time": refused(
        text_of(names=("a", "b", "c", "d")).replace("2026-01", "x"), "no column of timestamps"
    ),
    "times-of-day": refused(text_of(form("%H:%M")), "no column of timestamps"),
    "times-of-two-forms": refused(
        text_of(lambda at: form("%d.%m.%Y" if at // 60_000_000_000 % 2 else "%Y-%m-%d")(at)),
        "no column of timestamps",
    ),
    "two-times-that-do-not-tell": refused(
        text_of(form("%Y-%m-%d,%Y-%m-%d"), names=("a_at,b_at", "c", "d", "e"), delim=";").replace(";", ","),
        "timestamps in a_at, b_at, expected one column",
    ),
    "seconds-with-fractions": refused(text_of(lambda at: f"{at // 10**9}.5"), "integers of a finer unit"),
    "blanks-behind-commas": refused(
        text_of(rows=[row for row in ROWS if None not in row]).replace(",", ", "),
        "column  n: found ' .*', which DuckDB reads as integer.*types =",
    ),
    "yes-and-no": refused(
        text_of(country=lambda c: "yes" if c == "DE" else "no"),
        r"column country: found '.*', which DuckDB reads as boolean.*types = 'country TEXT'",
    ),
    "text-late-in-a-column": refused(
        text_of(rows=ROWS * 1500).replace(",7,", ",5,") + "2026-03-01,DE,x,\n",
        "line 90002, column n: found 'x', expected integer, or nothing",
    ),
    "nested-json": refused(objects().replace('"n": 7', '"n": {"m": 7}'), r"nested value.*types =", "f.jsonl"),
    "json-array": refused(json.dumps([{"ts": "2026-01-01", "n": 1}]), r"an array.*jq -c '\.\[\]'", "f.json"),
    "json-of-many-lines": refused(json.dumps({"ts": 1}, indent=1), "jq -c . < .* > mended.jsonl", "f.json"),
    "json-of-several-types": refused(
        objects().replace('"n": 7', '"n": "7"'),
        "column n: found .*, expected .*, as in the lines before",
        "f.jsonl",
    ),
    "parquet-lists": refused(
        parquet(tags=pa.array([["a"]] * len(ROWS))), "column tags: found list", "f.parquet"
    ),
    "old-mac": refused(text_of(end="\r"), r"a carriage return \(CR\) alone"),
    "a-pipe-of-spaces": refused(text_of(delim=" ", show=form("%Y-%m-%dT%H:%M")), "no column of timestamps"),
}


@pytest.fixture
def queried(tmp_path: Path) -> Callable[[Case, str], tuple[Any, StreamDeclaration]]:
    """The plan of a query over the files of a case, and the declaration that was found."""

    def ask(case: Case, query: str) -> tuple[Any, StreamDeclaration]:
        for name, content in case.files.items():
            (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        catalog = Catalog(None, checks=True, files=FileStreams())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FileNote)
            (asked,) = catalog.execute(query.format(case.frm.format(tmp_path)))
        (stream,) = catalog.streams.values()
        return asked.plan, stream

    return ask


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.refusal])
def test_snapshots_are_those_of_duckdb(
    name: str, queried: Callable[[Case, str], tuple[Any, StreamDeclaration]], tmp_path: Path
) -> None:
    case = CASES[name]
    frm = "{} WINDOW(RANGE 5 HOURS)"
    everything, stream = queried(case, f"SELECT * FROM {frm}")
    grouped, _ = queried(
        case, f"SELECT {case.key} AS k, COUNT(*) AS c, SUM({case.sum}) AS s FROM {frm} GROUP BY {case.key}"
    )
    unit = stream.unit or TimeUnit.of("microseconds")
    oracle = Oracle(tmp_path, case, stream, unit)
    rows, groups = ms.run(everything), ms.run(grouped)
    begin, end = min(start for start, _, _ in rows), max(end for _, end, _ in rows)
    draw = random.Random(name)
    for instant in [begin, end - 1, *(draw.randrange(begin, end) for _ in range(18))]:
        assert at(rows, instant) == oracle.rows(instant)
        assert at(groups, instant) == oracle.groups(instant)
    assert sum(oracle.rows(instant).total() for instant in {start for start, _, _ in rows}) > 0


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.refusal])
def test_the_declaration_is_the_same_as_a_statement(
    name: str, queried: Callable[[Case, str], tuple[Any, StreamDeclaration]]
) -> None:
    plan, stream = queried(CASES[name], "SELECT * FROM {}")
    catalog = Catalog(None, files=FileStreams())
    again = catalog.query(f"{create_stream(stream)} SELECT * FROM {stream.name}").plan
    assert catalog.streams == {stream.name: stream} and ms.run(again) == ms.run(plan)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.refusal])
def test_other_files_are_refused_with_a_remedy(
    name: str, queried: Callable[[Case, str], tuple[Any, StreamDeclaration]]
) -> None:
    case = CASES[name]
    with pytest.raises(ms.MidstreamError, match=case.refusal):
        ms.run(queried(case, "SELECT * FROM {}")[0])


def at(elements: list[Any], instant: int) -> Counter[Any]:
    """The bag of rows that are valid at an instant."""
    return Counter(payload for start, end, payload in elements if start <= instant < end)


class Oracle:
    """DuckDB over the files of a case, with the options that were found."""

    def __init__(self, folder: Path, case: Case, stream: StreamDeclaration, unit: TimeUnit) -> None:
        assert stream.source is not None and stream.ordered_by is not None
        self.case, self.stream, self.unit = case, stream, unit
        copies = folder / "copies"
        copies.mkdir(exist_ok=True)
        for name in case.files:
            copy(folder / name, copies, stream.source)
        self._connection = duckdb.connect()
        time, read = quoted(stream.ordered_by), reading(stream, case, copies)
        self._connection.execute(f"CREATE TABLE t AS SELECT {instant_of(stream, time)} AS _at, * FROM {read}")
        self._names = [quoted(column.name) for column in stream.columns if column.name != stream.ordered_by]

    def rows(self, instant: int) -> Counter[Any]:
        return self._snapshot(instant, f"SELECT {', '.join(self._names)}", "")

    def groups(self, instant: int) -> Counter[Any]:
        key, total = self.case.key, self.case.sum
        return self._snapshot(instant, f"SELECT {key}, COUNT(*), SUM({total})", f"GROUP BY {key}")

    def _snapshot(self, instant: int, select: str, group: str) -> Counter[Any]:
        now, length = instant * self.unit.nanoseconds, WINDOW // timedelta(microseconds=1) * 1000
        where = f"_at <= {now}::HUGEINT AND {now}::HUGEINT < _at + {length}"
        found = self._connection.execute(f"{select} FROM t WHERE {where} {group}").fetchall()
        return Counter(tuple(map(self._value, row)) for row in found)

    def _value(self, value: Any) -> Any:
        if isinstance(value, datetime):
            return of_datetime(value) // self.unit.nanoseconds
        if isinstance(value, date):
            return self._value(datetime(value.year, value.month, value.day, tzinfo=UTC))
        return float(value) if isinstance(value, Decimal) else value


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def copy(file: Path, folder: Path, source: SourceClause) -> None:
    """A copy of a file that DuckDB reads without extensions."""
    data = file.read_bytes()
    if file.suffix == ".gz":
        data = gzip.decompress(data)
    elif file.suffix == ".zst":
        data = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    if source.encoding is not None:
        data = data.decode(source.encoding).encode()
    (folder / f"{file.name}.copy").write_bytes(data)


def reading(stream: StreamDeclaration, case: Case, folder: Path) -> str:
    """What reads the copies in DuckDB."""
    source, time = stream.source, stream.ordered_by
    assert source is not None and time is not None
    path = literal(f"{folder}/*.copy")
    if source.kind == "parquet":
        return f"read_parquet({path})"
    if source.kind == "jsonl":
        return f"read_json({path}, format = 'newline_delimited', sample_size = -1)"
    nothing = ", ".join(map(literal, ("", *source.unknown)))
    texts = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in (time, *case.texts))
    options = {
        "delim": literal(source.delim or ","),
        "quote": literal('"' if source.quote is None else source.quote),
        "header": str(source.header is not False).lower(),
        "decimal_separator": literal(source.decimal or "."),
        "nullstr": f"[{nothing}]",
        "types": f"{{{texts}}}",
        "sample_size": "-1",
    }
    return f"read_csv({path}, {', '.join(f'{name} = {value}' for name, value in options.items())})"


def instant_of(stream: StreamDeclaration, time: str) -> str:
    """The nanoseconds since 1970 of a column in DuckDB."""
    assert stream.source is not None
    column = next(column for column in stream.columns if column.name == stream.ordered_by)
    if not column.is_timestamp:
        assert stream.unit is not None
        return f"{time}::HUGEINT * {stream.unit.nanoseconds}"
    forms = [form for form in stream.source.formats if form != ISO]
    if forms:
        return f"epoch_ns(strptime({time}::VARCHAR, {literal(forms[0])}))::HUGEINT"
    if stream.unit is not None:
        return f"epoch_ns({time}::TIMESTAMP_NS)::HUGEINT"
    return f"epoch_us({time}::TIMESTAMPTZ AT TIME ZONE 'UTC')::HUGEINT * 1000"
