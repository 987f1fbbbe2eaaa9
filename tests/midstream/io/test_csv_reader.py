"""The fast ways through a block of CSV give what the row-by-row way gives."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.io.sources.bad_rows import BadRows, Misfit
from midstream.io.sources.conversion import BATCH, Conversion
from midstream.io.sources.csv_reader import CsvReader
from midstream.io.sources.texts import text_converter
from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Batch
from midstream.plans.values.units import MILLISECONDS

STREAM = StreamDeclaration(
    "bid",
    (
        ColumnDeclaration("item", Type.INTEGER),
        ColumnDeclaration("ts", Type.INTEGER, False, True),
        ColumnDeclaration("name", Type.STRING),
        ColumnDeclaration("price", Type.FLOAT, False),
    ),
    ordered_by="ts",
)
ONE = StreamDeclaration("one", (ColumnDeclaration("x", Type.STRING),))
HEADER = b"Name,PRICE,extra,item,ts\n"


class Letters(BadRows):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.letters: list[tuple[int, str, str]] = []

    def report(self, source: str, unit: str, number: int, misfit: Misfit, row: str) -> None:
        self.count += 1
        self.letters.append((number, str(misfit), row))


class SlowReader(CsvReader):
    """Goes row by row, always."""

    def _unquoted(self, text: str) -> Batch | None:
        return None

    _quoted = _unquoted


def read(
    kind: type[CsvReader],
    arrivals: list[bytes],
    stream: StreamDeclaration = STREAM,
    *,
    has_header: bool = True,
) -> tuple[Batch, list[tuple[int, str, str]]]:
    """The elements and the bad rows."""
    letters = Letters()
    conversion = Conversion(stream, MILLISECONDS, text_converter, lambda: 0)
    reader = kind("bids.csv", conversion, letters, has_header=has_header)
    return [element for batch in reader.batches(arrivals) for element in batch], letters.letters


PLAIN = ["1", "2.5", "-3", "lamp", "", "é", "1_0", " 7", "nan", "1970-01-01"]
QUOTED = ['""', '"a,b"', '"a\nb"', '"a\r\nb"', '"a""b"', 'a"b', '"open', '"x"y']
CONTROL = ["\r", "\x85", "\u2028", "\x0b", "\x00", "\x1c"]
FIELDS = st.sampled_from([*PLAIN, *QUOTED, *CONTROL])
LINES = st.lists(
    st.builds(
        lambda good, fields, end: ("lamp,2.5,,7,1000" if good else ",".join(fields)) + end,
        st.booleans(),
        st.lists(FIELDS, min_size=4, max_size=6),
        st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", ""]),
    ),
    max_size=8,
)
DIRTY = LINES.map(lambda lines: "".join(lines).encode()) | st.binary(max_size=40)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(bounds) if a < b]


@given(DIRTY, st.lists(st.integers(0, 200), max_size=4))
def test_all_ways_give_the_same(dirty: bytes, places: list[int]) -> None:
    arrivals = [HEADER, *cut(dirty, places)]
    slow = read(SlowReader, arrivals)
    assert repr(read(CsvReader, arrivals)) == repr(slow)
    # Nor does it matter how the bytes arrive.
    assert repr(read(CsvReader, [HEADER + dirty])) == repr(slow)


@given(
    st.lists(st.sampled_from(["a", "", '""', "\r", '"a\nb"', "a,b"]), max_size=5),
    st.sampled_from(["\n", "\r\n"]),
)
def test_all_ways_give_the_same_of_one_column(fields: list[str], end: str) -> None:
    data = end.join(fields).encode()
    assert read(CsvReader, [data], ONE, has_header=False) == read(SlowReader, [data], ONE, has_header=False)


def test_rows_that_are_right_only_on_average_are_bad() -> None:
    two = StreamDeclaration("two", (ColumnDeclaration("x", Type.STRING), ColumnDeclaration("y", Type.STRING)))
    for kind in (CsvReader, SlowReader):
        elements, letters = read(kind, [b"a\nb,c,d\n"], two, has_header=False)
        assert elements == []
        assert [row for _, _, row in letters] == ["a", "b,c,d"]


ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(),
        st.integers(),
        st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    max_size=5,
)


@given(ROWS, st.lists(st.integers(0, 200), max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_what_the_csv_module_wrote_is_read(rows: list[tuple[Any, ...]], places: list[int], end: str) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=end)
    writer.writerow(["item", "ts", "name", "price"])
    writer.writerows(rows)
    data = file.getvalue().encode()
    elements = [(ts, ts + 1, (item, name, price)) for item, ts, name, price in rows]
    if end == "\n" and any("\r" in (name or "") for _, _, name, _ in rows):
        return  # then the module does not quote what it does not read
    assert read(CsvReader, cut(data, places)) == (elements, [])
    assert read(SlowReader, cut(data, places)) == (elements, [])


def test_columns_are_matched_by_name_whatever_the_case() -> None:
    assert read(CsvReader, [b"\xef\xbb\xbf", HEADER, b"lamp,2.5,x,7,1000\n"]) == (
        [(1000, 1001, (7, "lamp", 2.5))],
        [],
    )


def test_columns_are_matched_by_position_without_names() -> None:
    assert read(CsvReader, [b"7,1000,lamp,2.5"], has_header=False) == ([(1000, 1001, (7, "lamp", 2.5))], [])


def test_the_names_may_arrive_in_pieces_and_behind_blank_lines() -> None:
    arrivals = [b"\n", b'"item",ts,"the\n', b'name",name', b",price\n7,1,,", b"lamp,2\n", b"x,1,,,2\n"]
    expected = "column item: found 'x', expected integer, or nothing"
    assert read(CsvReader, arrivals) == ([(1, 2, (7, "lamp", 2.0))], [(5, expected, "x,1,,,2")])


@pytest.mark.parametrize("kind", [CsvReader, SlowReader])
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            b"lamp,2.5,,7,",
            "column ts: found nothing, expected an integer, or a date or a date with a time in ISO",
        ),
        (
            b"lamp,2.5,,7,soon",
            "column ts: found 'soon', expected an integer, or a date or a date with a time",
        ),
        (b"lamp,2.5,,7.5,1", "column item: found '7.5', expected integer, or nothing"),
        (b"lamp,2.5,,1_0,1", "column item: found '1_0', expected integer, or nothing"),
        (b"lamp,2.5,, 7,1", "column item: found ' 7', expected integer, or nothing"),
        (b"lamp,,,7,1", "column price: found nothing, expected float"),
        (b"lamp,nan,,7,1", "column price: found 'nan', expected float"),
        (b"lamp,1e999,,7,1", "column price: found '1e999', expected float"),
        (b"lamp,2.5,,7", "found 4 fields, expected 5, as there are columns"),
        (b"lamp,2.5,,7,1,1", "found 6 fields, expected 5, as there are columns"),
        (b"l\xffmp,2.5,,7,1", "found the byte 0xff, expected text in UTF-8"),
        (b'"lamp"s,2.5,,7,1', "found ',' expected after '\"', expected comma-separated values"),
        (b"la\rmp,2.5,,7,1", "found a carriage return (CR) alone, expected lines that end with LF or CR LF"),
        (b'"lamp,2.5,,7,1', "found unexpected end of data, expected comma-separated values"),
    ],
)
def test_every_reason(kind: type[CsvReader], line: bytes, reason: str) -> None:
    good = b"lamp,2.5,,7,1\n"
    elements, letters = read(kind, [HEADER + good, line + b"\n", good])
    element = (1, 2, (7, "lamp", 2.5))
    text = line.decode(errors="surrogateescape")
    assert elements == [element, element]
    assert [(number, row) for number, _, row in letters] == [(3, text)]
    assert letters[0][1].startswith(reason)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"", "bids.csv, line 1: found nothing, expected the names of the columns"),
        (b"\n\n", "bids.csv, line 3: found nothing, expected the names of the columns"),
        (b"item,ts,naem,price\n", "bids.csv, line 1, column name: found no such .* did you mean naem"),
        (
            b"item,ts,name,price,Price\n",
            "bids.csv, line 1, column price: found 2 columns of this name, expected",
        ),
        (b"item,ts,n\xffame,price\n", "bids.csv, line 1: found the byte 0xff, expected text in UTF-8"),
    ],
)
def test_names_that_do_not_fit_end_the_run_whatever_the_policy(header: bytes, message: str) -> None:
    with pytest.raises(InputFileError, match=message):
        read(CsvReader, [header])


def test_lines_are_counted_behind_fields_of_several_lines() -> None:
    data = HEADER + b'"a\nb",1,,7,1\n\nlamp,1,,x,1\n"c\nd",1,,x,1\nlamp,1,,x,1\n'
    for arrivals in ([data], cut(data, list(range(0, len(data), 3)))):
        letters = read(CsvReader, arrivals)[1]
        assert [number for number, _, _ in letters] == [5, 6, 8]
        assert letters[1][2] == '"c\nd",1,,x,1'


@pytest.mark.slow
def test_a_field_may_be_as_long_as_a_line() -> None:
    lamp = b"lamp,2.5,,7,1\n"
    long = b"x" * 140_000 + b",2.5,,7,1\n"
    quoted = b'"' + b'a ""b"",\n' * 300_000 + b'",2.5,,7,1\n'
    for kind in (CsvReader, SlowReader):
        assert "x" * 140_000 in read(kind, [HEADER, long + lamp])[0][0][2]
        rows, letters = read(kind, [HEADER, *cut(quoted + lamp, list(range(0, len(quoted), 1 << 15)))])
        texts = [value for _, _, row in rows for value in row if isinstance(value, str)]
        assert letters == [] and texts == ['a "b",\n' * 300_000, "lamp"]
    line = b"x" * (csv.field_size_limit() + 1) + b",2.5,,7,1\n"
    rows, letters = read(CsvReader, [HEADER, line, lamp])
    assert len(rows) == 1
    assert [(number, reason) for number, reason, _ in letters] == [
        (2, "found a field of more than 16,777,216 characters, expected a shorter one")
    ]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_columns_that_no_comma_separates_are_told(separator: str) -> None:
    header = HEADER.strip().replace(b",", separator.encode()) + b"\n"
    with pytest.raises(
        InputFileError,
        match=r"names separated by .*, expected commas between fields; declare SOURCE csv",
    ):
        read(CsvReader, [header, b"1\n"])
    with pytest.raises(InputFileError, match=r"found no such column, expected one of a"):
        read(CsvReader, [b"a" + separator.encode() + b"b\n"])


def test_rows_are_given_as_soon_as_they_have_arrived() -> None:
    seen = []

    def arrivals() -> Iterator[bytes]:
        for number in range(10**9):
            seen.append(number)
            yield (
                HEADER
                if number == 0
                else b"lamp,2.5,,7,%d\nla" % number
                if number == 1
                else b"mp,2.5,,7,8\nla"
            )

    conversion = Conversion(STREAM, MILLISECONDS, text_converter)
    batches = CsvReader("bids.csv", conversion, BadRows()).batches(arrivals())
    assert seen == []
    assert next(batches) == [(1, 2, (7, "lamp", 2.5))]
    assert seen == [0, 1]
    assert next(batches) == [(8, 9, (7, "lamp", 2.5))]
    assert seen == [0, 1, 2]


def test_batches_are_not_too_long() -> None:
    conversion = Conversion(STREAM, MILLISECONDS, text_converter)
    data = HEADER + b"lamp,2.5,,7,1\n" * (BATCH + 1)
    batches = list(CsvReader("bids.csv", conversion, BadRows()).batches([data]))
    assert list(map(len, batches)) == [BATCH, 1]


def test_the_facts_of_a_mistake_are_attributes() -> None:
    conversion = Conversion(STREAM, MILLISECONDS, text_converter)
    reader = CsvReader("bids.csv", conversion, BadRows())
    with pytest.raises(InputFileError) as caught:
        list(reader.batches([HEADER, b"lamp,dear,,7,1\n"]))
    assert str(caught.value) == "bids.csv, line 2, column price: found 'dear', expected float"
    assert vars(caught.value) == {
        "path": Path("bids.csv"),
        "line": 2,
        "column": "price",
        "found": "'dear'",
        "expected": "float",
    }
