"""Recorded streams are read as they are declared, and mistakes in them are named."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.io.readers import CsvStream
from midstream.plans.values.errors import InputFileError, SchemaError
from midstream.plans.values.schema import Schema

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
ROWS = st.lists(
    st.tuples(
        st.integers(),
        TEXT,
        st.none() | st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
    )
)


def written(folder: Path, text: str | bytes) -> Path:
    """A file with a text."""
    file = folder / "bids.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def bids(file: Path) -> CsvStream:
    """A stream with a nullable column, over part of a file."""
    return CsvStream(
        file, "second", {"item": ("item", "integer"), "price": ("price", "float?")}, {"house": "A"}
    )


@given(ROWS, st.sampled_from(["", "NA"]))
def test_what_was_written_is_read(rows: list[tuple[Any, ...]], unknown: str) -> None:
    columns = {
        "s": ("text", "string"),
        "i": ("number", "integer?"),
        "f": ("f", "float"),
        "b": ("b", "boolean"),
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.csv")
        with file.open("w", encoding="utf-8", newline="") as opened:
            writer = csv.writer(opened)
            writer.writerow(["t", "s", "i", "f", "b"])
            writer.writerows([t, s, unknown if i is None else i, f, b] for t, s, i, f, b in rows)
        stream = CsvStream(file, "t", columns)
        read = list(stream.rows())
    assert read == [(t, (s, i, f, b)) for t, s, i, f, b in rows]
    stream.schema.check([payload for _, payload in read])


def test_columns_are_chosen_ordered_and_renamed(tmp_path: Path) -> None:
    file = written(tmp_path, "a,b,second,c\n1,2,3,4\n")
    stream = CsvStream(file, "second", {"c": ("last", "integer"), "a": ("first", "float")})
    assert stream.schema == Schema.of(last="integer", first="float")
    assert list(stream.rows()) == [(3, (4, 1.0))]


def test_rows_of_other_streams_are_not_read(tmp_path: Path) -> None:
    file = written(tmp_path, "second,house,item,price\n1,A,7,2.5\nsoon,B,any,dear\n2,A,8,NA\n")
    assert list(bids(file).rows()) == [(1, (7, 2.5)), (2, (8, None))]


def test_na_is_a_text_where_nothing_may_be_unknown(tmp_path: Path) -> None:
    file = written(tmp_path, 't,country\n1,NA\n2,""\n')
    stream = CsvStream(file, "t", {"country": ("country", "string")})
    assert list(stream.rows()) == [(1, ("NA",)), (2, ("",))]


def test_blank_lines_and_a_byte_order_mark_are_passed_over(tmp_path: Path) -> None:
    file = written(tmp_path, "\ufeffsecond,house,item,price\r\n\r\n1,A,7,2.5\r\n\r\n")
    assert list(bids(file).rows()) == [(1, (7, 2.5))]


def test_rows_come_as_they_are_asked_for(tmp_path: Path) -> None:
    rows = bids(written(tmp_path, "second,house,item,price\n1,A,7,2.5\nbroken\n")).rows()
    assert next(rows) == (1, (7, 2.5))
    with pytest.raises(InputFileError, match="line 3: found 1 fields, expected 4"):
        next(rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: found nothing, expected the names of the columns"),
        (
            "second,house,item\n",
            "line 1, column price: found no such column, expected one of second, house, item",
        ),
        ("second,house,item,prices\n", "one of .*; did you mean prices?"),
        ("sec,house,item,price\n", "column second: found no such column"),
        ("second,house,item,price,price\n", "column price: found 2 columns of this name, expected one"),
        ("second,item,price\n", "column house: found no such column"),
        ("second,house,item,price\n1,A,7,2\n2,A,,3\n", "line 3, column item: found '', expected integer"),
        ("second,house,item,price\n1,A,7.5,2\n", "line 2, column item: found '7.5', expected integer"),
        ("second,house,item,price\n1,A,1_0,2\n", "column item: found '1_0', expected integer"),
        (
            "second,house,item,price\n1,A,7,dear\n",
            "column price: found 'dear', expected float, NA or nothing",
        ),
        ("second,house,item,price\n1,A,7,nan\n", "column price: found 'nan'"),
        ("second,house,item,price\n1,A,7,1e999\n", "column price: found '1e999'"),
        ("second,house,item,price\n1.5,A,7,2\n", "line 2, column second: found '1.5', expected integer"),
        ("second,house,item,price\n\n1,A,7\n", "line 3: found 3 fields, expected 4"),
        ('second,house,item,price\n1,"B\nC",,\n2,A,x,3\n', "line 4, column item: found 'x'"),
        ('second,house,item,price\n1,A,7,"2"2\n', "line 2: found .*, expected comma-separated values"),
        (b"second,house,item,price\n1,A,7,\xff\n", "found the byte 0xff .*, expected text in UTF-8"),
    ],
)
def test_mistakes_are_named(text: str | bytes, message: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InputFileError, match=message) as caught:
        list(bids(file).rows())
    assert str(caught.value).startswith(f"{file}, line ")


def test_the_facts_of_a_mistake_are_attributes(tmp_path: Path) -> None:
    file = written(tmp_path, "second,house,item,price\n1,A,seven,2\n")
    with pytest.raises(InputFileError) as caught:
        list(bids(file).rows())
    assert vars(caught.value) == {
        "path": file,
        "line": 2,
        "column": "item",
        "found": "'seven'",
        "expected": "integer",
    }


def test_a_boolean_is_spelled_out(tmp_path: Path) -> None:
    stream = CsvStream(written(tmp_path, "t,x\n1,TRUE\n2,yes\n"), "t", {"x": ("x", "boolean")})
    rows = stream.rows()
    assert next(rows) == (1, (True,))
    with pytest.raises(InputFileError, match="line 3, column x: found 'yes', expected boolean"):
        next(rows)


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"nothing\.csv: No such file"):
        list(bids(tmp_path / "nothing.csv").rows())
    with pytest.raises(InputFileError, match="Is a directory"):
        list(bids(tmp_path).rows())


def test_a_type_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="found type 'money'"):
        _ = CsvStream(tmp_path, "t", {"x": ("x", "money")}).schema


def test_recorded_departures(shared_data: Path) -> None:
    """The reader finds all rows that the data's description counts, in order."""
    file = shared_data / "nycflights13" / "departures.csv"
    columns = {"dest": ("dest", "string"), "arr_delay_min": ("late", "integer?")}
    rows = {
        airport: list(CsvStream(file, "dep_ts", columns, {"origin": airport}).rows())
        for airport in ("EWR", "JFK", "LGA")
    }
    assert sum(map(len, rows.values())) == 37_126
    assert rows["EWR"][0] == (1359712560, ("CLT", 4))
    for stream in rows.values():
        times = [time for time, _ in stream]
        assert times == sorted(times)
    assert sum(late is None for stream in rows.values() for _, (_, late) in stream) == 108
