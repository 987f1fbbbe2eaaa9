"""Files that hold several streams, and texts for missing values: rows of other streams are not read."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.io import ConnectorError, open_source
from midstream.io.readers import UNKNOWN
from midstream.plans.sql.declarations import ColumnDeclaration, Constant, SourceClause, StreamDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Element
from midstream.plans.values.units import TimeUnit

SECOND = TimeUnit.of("seconds")
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
ROWS = st.lists(
    st.tuples(
        st.integers(-(10**15), 10**15),
        st.sampled_from(["A", "B"]),
        TEXT,
        st.none() | st.integers(-(10**15), 10**15),
        st.booleans(),
    )
)
TIME = ColumnDeclaration("t", Type.INTEGER, nullable=False, is_timestamp=True)
FREE = StreamDeclaration(
    "free",
    (
        TIME,
        ColumnDeclaration("s", Type.STRING, nullable=False),
        ColumnDeclaration("i", Type.INTEGER),
        ColumnDeclaration("b", Type.BOOLEAN, nullable=False),
    ),
    ordered_by="t",
)
BIDS = StreamDeclaration(
    "bids",
    (
        ColumnDeclaration("second", Type.INTEGER, nullable=False, is_timestamp=True),
        ColumnDeclaration("item", Type.INTEGER, nullable=False),
        ColumnDeclaration("price", Type.FLOAT),
    ),
    ordered_by="second",
)


def read(
    declared: StreamDeclaration,
    file: Path,
    where: Mapping[str, Constant] | None = None,
    unknown: Sequence[str] = (),
) -> list[Element]:
    """All elements that a file has of a stream whose rows have some values."""
    form = file.suffix.removeprefix(".")
    source = SourceClause(form, (str(file),), tuple(unknown) if form == "csv" else ())
    stream = replace(declared, where=tuple((where or {}).items()), source=source)
    return [element for batch in open_source(stream, SECOND) for element in batch]


def bids(folder: Path, text: str | bytes) -> list[Element]:
    """The bids of house A in a file with a text."""
    file = folder / "bids.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(BIDS, file, where={"house": "A"}, unknown=UNKNOWN)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@given(rows=ROWS, unknown=st.sampled_from(["", "NA"]))
def test_what_was_written_of_a_stream_is_read(form: str, rows: list[Any], unknown: str) -> None:
    names = ["t", "house", "s", "i", "b"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"rows.{form}")
        with file.open("w", encoding="utf-8", newline="") as opened:
            if form == "csv":
                writer = csv.writer(opened)
                writer.writerow(names)
                writer.writerows([t, h, s, unknown if i is None else i, b] for t, h, s, i, b in rows)
            else:
                opened.writelines(f"{json.dumps(dict(zip(names, row, strict=True)))}\n" for row in rows)
        found = read(FREE, file, where={"house": "A"}, unknown=[unknown])
    assert found == [(t, t + 1, (s, i, b)) for t, house, s, i, b in rows if house == "A"]


def test_rows_of_other_streams_are_not_read(tmp_path: Path) -> None:
    text = "second,house,item,price\n1,A,7,2.5\nsoon,B,any,dear\n2,A,8,NA\n"
    assert bids(tmp_path, text) == [(1, 2, (7, 2.5)), (2, 3, (8, None))]


def test_a_batch_may_have_only_rows_of_other_streams(tmp_path: Path) -> None:
    text = "second,house,item,price\n" + "1,B,7,2.5\n" * 5000 + "2,A,8,1\n"
    assert bids(tmp_path, text) == [(2, 3, (8, 1.0))]


def test_a_condition_may_read_a_column_of_the_stream(tmp_path: Path) -> None:
    file = tmp_path / "bids.csv"
    file.write_text("second,item,price\n1,7,2.5\n2,8,3\n3,7,4\n")
    assert read(BIDS, file, where={"item": 7}) == [(1, 2, (7, 2.5)), (3, 4, (7, 4.0))]


def test_na_is_a_text_where_nothing_may_be_unknown(tmp_path: Path) -> None:
    declared = StreamDeclaration("c", (TIME, ColumnDeclaration("country", Type.STRING, False)), "t")
    file = tmp_path / "c.csv"
    file.write_text('t,country\n1,NA\n2,""\n')
    assert read(declared, file, unknown=UNKNOWN) == [(1, 2, ("NA",)), (2, 3, ("",))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: found nothing, expected the names of the columns"),
        ("second,item,price\n", "column house: found no such column, expected one of second, item, price"),
        (
            "second,house,item,price\n1,A,7,2\n2,A,,3\n",
            "line 3, column item: found nothing",
        ),
        ("second,house,item,price\n1,A,1_0,2\n", "line 2, column item: found '1_0', expected integer"),
        (
            "second,house,item,price\n1,B,x,2\n2,A,7,dear\n",
            "line 3, column price: found 'dear'",
        ),
        ("second,house,item,price\n1,A,7,nan\n", "line 2, column price: found 'nan'"),
        ("second,house,item,price\n1.5,A,7,2\n", "line 2, column second: found '1.5', expected an integer"),
        ("second,house,item,price\n\n1,A,7\n", "line 3: found 3 fields, expected 4"),
        (b"second,house,item,price\n1,A,7,\xff\n", "found the byte 0xff, expected text in UTF-8"),
    ],
)
def test_mistakes_are_named(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=message) as caught:
        bids(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'bids.csv'}, line ")


def test_conditions_are_of_files_with_rows(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text('{"start": 0, "end": 1, "row": {"item": 1, "price": 2}}\n')
    declared = StreamDeclaration("r", BIDS.columns[1:], where=(("item", 1),))
    with pytest.raises(ConnectorError, match="found conditions on rows, expected none"):
        open_source(declared, SECOND, SourceClause("elements", (str(file),)))


def test_recorded_departures(shared_data: Path) -> None:
    """The reader finds all rows that the data's description counts, in order."""
    file = shared_data / "nycflights13" / "departures.csv"
    declared = StreamDeclaration(
        "departures",
        (
            ColumnDeclaration("dep_ts", Type.INTEGER, nullable=False, is_timestamp=True),
            ColumnDeclaration("dest", Type.STRING, nullable=False),
            ColumnDeclaration("arr_delay_min", Type.INTEGER),
        ),
        ordered_by="dep_ts",
    )
    rows = {
        airport: read(declared, file, where={"origin": airport}, unknown=UNKNOWN)
        for airport in ("EWR", "JFK", "LGA")
    }
    assert sum(map(len, rows.values())) == 37_126
    assert rows["EWR"][0] == (1359712560, 1359712561, ("CLT", 4))
    for stream in rows.values():
        assert [start for start, _, _ in stream] == sorted(start for start, _, _ in stream)
    assert sum(late is None for stream in rows.values() for _, _, (_, late) in stream) == 108
