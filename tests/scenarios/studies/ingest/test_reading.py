"""Files are found, cut and read without Spark: what a task does."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.io.file_formats import file_format
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.scenarios.stages.ingest import survey as survey_module
from midstream.scenarios.stages.ingest.reading import PieceReader
from midstream.scenarios.stages.ingest.survey import survey
from midstream.scenarios.streams.recorded.feeds import Feed
from midstream.scenarios.streams.recorded.input_files import InputFile, input_files
from midstream.scenarios.streams.recorded.script import load_feeds

DECLARED = """
CREATE STREAM s(at BIGINT, "n.o" INTEGER NOT NULL, price REAL) SOURCE file('{path}', nullstr = 'NA')
    WHERE house = 'A' ORDERED BY at TIME_UNIT 's'
"""
ROWS = [(-6, "A", 1, 1.5), (4, "B", 2, 2.0), (8, "A", 3, None), (8, "A", 4, -2.0)]
READ = [(1, (-6, -5, (1, 1.5))), (2, None), (3, (8, 9, (3, None))), (4, (8, 9, (4, -2.0)))]


def listed(path: Path, form: str | None = None) -> InputFile:
    (found,) = input_files(str(path), form)
    return found


def feed(folder: Path, path: str, declared: str = DECLARED) -> Feed:
    words = ", nullstr = 'NA'"  # of CSV only
    script = declared if ".csv" in path else declared.replace(words, "")
    (found,) = feeds(folder, script.format(path=path))
    return found


def feeds(folder: Path, script: str) -> list[Feed]:
    (folder / "q.sql").write_text(script, encoding="utf-8")
    return load_feeds(str(folder / "q.sql"), folder)[1]


def read(
    feed: Feed, path: Path, piece_size: int = 2**20
) -> tuple[list[tuple[int, Any]], list[tuple[int, str]]]:
    """What the pieces of a file hold, and what does not fit."""
    found, bad = [], []
    for piece in survey(listed(path), piece_size):
        reader = PieceReader(feed, piece)
        for positions, elements in reader.batches():
            found += list(zip(positions, elements, strict=True))
        bad += [(one.position, one.reason) for one in reader.bad.take()]
    return found, bad


def csv_text(rows: list[tuple[Any, ...]] = ROWS) -> str:
    lines = [",".join("NA" if value is None else str(value) for value in row) for row in rows]
    return "\n".join(["at,house,n.o,price", *lines]) + "\n"


def json_text() -> str:
    names = ("at", "house", "n.o", "price")
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in ROWS)


def as_zstd(text: str) -> bytes:
    pa = pytest.importorskip("pyarrow")
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(text.encode())
    return bytes(sink.getvalue())


def as_parquet(file: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = list(zip(*ROWS, strict=True))
    pq.write_table(
        pa.table(
            {
                "at": pa.array([at * 10**6 for at in columns[0]], pa.timestamp("us")),  # without a time zone
                "house": columns[1],
                "n.o": pa.array(columns[2], pa.decimal128(5, 0)),
                "price": columns[3],
                "more": [{"nested": True}] * len(ROWS),
            }
        ),
        file,
    )


def write(folder: Path, name: str) -> Path:
    file = folder / name
    text = csv_text() if ".csv" in name else json_text()
    match file.suffix:
        case ".gz":
            file.write_bytes(gzip.compress(text.encode()))
        case ".zst":
            file.write_bytes(as_zstd(text))
        case ".parquet":
            as_parquet(file)
        case _:
            file.write_text(text)
    return file


NAMES = ["s.csv", "s.csv.gz", "s.csv.zst", "s.jsonl", "s.jsonl.gz", "s.ndjson.zst", "s.parquet"]


@pytest.mark.parametrize("name", NAMES)
def test_formats_give_the_same_rows_in_their_places(tmp_path: Path, name: str) -> None:
    first = 2 if ".csv" in name else 1
    expected = [(position + first - 1, element) for position, element in READ]
    assert read(feed(tmp_path, name), write(tmp_path, name)) == (expected, [])


def test_iso_timestamps(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(
        "at,house,n.o,price\n2013-02-01T00:00:07.5,A,1,1\n2013-02-01 01:00:08+01:00,A,2,1\n"
    )
    found, _ = read(feed(tmp_path, "s.csv"), tmp_path / "s.csv")
    start = 1359676807
    assert [element[:2] for _, element in found] == [(start, start + 1), (start + 1, start + 2)]


def test_what_does_not_fit_is_told_by_line_and_reason(tmp_path: Path) -> None:
    text = "at,house,n.o,price\nx,A,1,1\nx,B,y,z\n2,A,1\n\n3,A,1.5,1\n4,A,5,1\n"
    (tmp_path / "s.csv").write_text(text)
    found, bad = read(feed(tmp_path, "s.csv"), tmp_path / "s.csv")
    assert [one for one in found if one[1] is not None] == [(7, (4, 5, (5, 1.0)))]
    assert bad == [
        (2, "column at: found 'x', expected an integer, or a date or a date with a time in ISO 8601"),
        (4, "found 3 fields, expected 4, as there are columns"),
        (6, "column n.o: found '1.5', expected integer"),
    ]


@given(
    st.lists(st.integers(0, 40), max_size=30),
    st.integers(1, 60),
    st.booleans(),
    st.booleans(),
    st.integers(1, 99),
)
def test_pieces_hold_all_lines_once(
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[int],
    size: int,
    has_end: bool,
    is_csv: bool,
    block: int,
) -> None:
    folder = tmp_path_factory.mktemp("cut", numbered=True)
    text = "\n".join(["h" * 7, *("x" * length for length in lengths)]) + "\n" * has_end
    file = folder / ("s.csv" if is_csv else "s.jsonl")
    file.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey_module, "BLOCK", block)
        pieces = survey(listed(file), size)
    assert all(one.header == text.find("\n") + 1 for one in pieces)
    data = text.encode()
    assert b"".join(data[one.since : one.until] for one in pieces) == data
    assert [one.line for one in pieces] == [1 + data.count(b"\n", 0, one.since) for one in pieces]
    assert all(data[one.since - 1] == 10 for one in pieces[1:])
    assert all(one.until - one.since >= size for one in pieces[:-1])
    assert {one.sha256 for one in pieces} == {pieces[0].sha256}


@pytest.mark.parametrize("quoted", [False, True])
def test_pieces_of_a_file_give_the_rows_of_the_whole(tmp_path: Path, quoted: bool) -> None:
    draw = random.Random(3)
    rows = [(draw.randrange(100), draw.choice("AB"), n, None) for n in range(300)]
    text = csv_text(rows).replace("7,A", '7,"A"') if quoted else csv_text(rows)
    (tmp_path / "s.csv").write_text(text)
    one = feed(tmp_path, "s.csv")
    found, bad = read(one, tmp_path / "s.csv", 200)
    assert (found, bad) == read(one, tmp_path / "s.csv")
    assert [position for position, _ in found] == list(range(2, 302))
    assert len(survey(listed(tmp_path / "s.csv"), 200)) == (1 if quoted else 18)


def test_folders_and_patterns(tmp_path: Path) -> None:
    for name in ("b/2.csv", "b/1.csv.gz", "a.parquet", "b/_x.csv", ".c.csv", "b/readme.txt", ".d/e.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = [str(Path(one.path).relative_to(tmp_path)) for one in input_files(str(tmp_path))]
    assert names == ["a.parquet", "b/1.csv.gz", "b/2.csv"]
    assert [one.form for one in input_files(f"{tmp_path}/**/*.csv*")] == ["csv"] * 3
    assert file_format("x.txt") is None


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.csv", r"no\.csv: found no such file; expected a file, a folder or a pattern"),
        ("empty", r"empty: found no such file"),
        ("*.txt", r"t\.txt: found no suffix of a known format"),
        ("s3://bucket/x.csv", "found a URL, expected a path of a file system"),
    ],
)
def test_paths_without_files(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "t.txt").touch()
    with pytest.raises(InputFileError, match=message):
        input_files(path if "://" in path else str(tmp_path / path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.csv", b"", "line 1: found nothing, expected the names of the columns"),
        (
            "s.csv",
            b"at,house,price\n",
            r"s\.csv, line 1, column n\.o: found no such column, expected one of at",
        ),
        ("s.csv.gz", b"no gzip", "Not a gzipped file"),
        ("s.csv.gz", gzip.compress(csv_text().encode(), mtime=0)[:-9], r"s\.csv\.gz: "),
        ("s.csv.zst", b"no zstd", "ZSTD decompress failed"),
        ("s.parquet", b"no parquet", r"s\.parquet: found no readable Parquet file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputFileError, match=message):
        read(feed(tmp_path, name), tmp_path / name)


def test_nested_columns_are_refused_by_name(tmp_path: Path) -> None:
    as_parquet(tmp_path / "s.parquet")
    one = feed(tmp_path, "s.parquet", DECLARED.replace("price REAL", "price REAL, more INT NOT NULL"))
    with pytest.raises(
        InputFileError, match=r"s\.parquet, column more: found struct<nested: bool>, expected"
    ):
        read(one, tmp_path / "s.parquet")


def test_a_file_that_grows_meanwhile(tmp_path: Path) -> None:
    file = write(tmp_path, "s.csv")
    before = listed(file)
    with file.open("a") as more:
        more.write("9,A,5,1\n")
    with pytest.raises(InputFileError, match="found 68 bytes, expected the 60 of before"):
        survey(before)


SCRIPT = """
SET time_unit = 'milliseconds';
CREATE STREAM Bid(ts TIMESTAMP, item INT, price REAL NOT NULL) SOURCE csv('s.csv') ORDERED BY ts;
CREATE STREAM Old(item INT) SOURCE elements('old.jsonl');
"""


def test_a_script_declares_streams(tmp_path: Path) -> None:
    bid, old = feeds(tmp_path, SCRIPT + "SELECT item FROM Bid WINDOW(RANGE 5 SECONDS)")
    (tmp_path / "s.csv").write_text(
        "item,price,ts\n7,1.5,1000\n8,,1970-01-01T00:00:02\n,2,1970-01-01 00:00:03\n"
    )
    found, bad = read(bid, tmp_path / "s.csv")
    assert found == [(2, (1000, 1001, (7, 1.5))), (4, (3000, 3001, (None, 2.0)))]
    assert bad == [(3, "column price: found nothing, expected float")]
    (tmp_path / "old.jsonl").write_text('{"start": 3, "end": null, "row": {"item": 4}}\n')
    (piece,) = survey(listed(tmp_path / "old.jsonl", "elements"))
    assert [one for _, batch in PieceReader(old, piece).batches() for one in batch] == [
        (3, float("inf"), (4,))
    ]


def test_results_of_several_queries_are_refused_also_in_several_pieces(tmp_path: Path) -> None:
    _, old = feeds(tmp_path, SCRIPT)
    line = '{"query": "a", "start": 3, "end": null, "row": {"item": 4}}\n'
    lines = [line, line.replace('"a"', '"b"')]
    (tmp_path / "old.jsonl").write_text("".join(lines))
    first, second = survey(listed(tmp_path / "old.jsonl", "elements"), len(lines[0]))
    assert sum(len(batch) for _, batch in PieceReader(old, first).batches()) == 1
    with pytest.raises(InputFileError, match="line 2, column query: found results of a and of b"):
        list(PieceReader(old, second).batches())


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("SELECT 1", "q.sql"),
        (
            "CREATE STREAM s(x INT, ts INT) ORDERED BY ts",
            r"stream s: found no source, expected one of csv\('path'\)",
        ),
        ("CREATE STREAM s(x INT, ts INT) SOURCE stdin() ORDERED BY ts", r"found the source stdin\(\)"),
        ("CREATE STREAM s(x INT) SOURCE csv('s.csv')", "found no timestamps, expected ORDERED BY a column"),
        ("SET ties = 'arrival'", "found no CREATE STREAM"),
    ],
)
def test_scripts_that_declare_no_files(tmp_path: Path, declared: str, message: str) -> None:
    with pytest.raises(MidstreamError, match=message):
        feeds(tmp_path, declared)
