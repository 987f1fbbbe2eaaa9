"""Recorded streams are read as declared, whatever the format; what is not as declared is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import gcd
from pathlib import Path
from typing import Any

import pytest

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.script import load_study

pytestmark = pytest.mark.spark

DECLARED = """
CREATE STREAM s("at time" BIGINT, "n.o" INTEGER NOT NULL, price REAL, is_new BOOLEAN NOT NULL, note TEXT)
  SOURCE {source} WHERE house = 'A' ORDERED BY "at time" TIME_UNIT 's';
"""

ROWS: list[dict[str, Any]] = [
    {"at time": -6, "house": "A", "n.o": 1, "price": 1.5, "is_new": True, "note": "a, b"},
    {"at time": 4, "house": "B", "n.o": 2, "price": 2.0, "is_new": False, "note": "x"},
    {"at time": 8, "house": "A", "n.o": 3, "price": None, "is_new": False, "note": None},
    {"at time": 14, "house": "A", "n.o": 4, "price": -2.0, "is_new": True, "note": "é"},
]
READ = [(-6, 1, 1.5, True, "a, b"), (8, 3, None, False, None), (14, 4, -2.0, True, "é")]


def write_csv(file: Path, rows: list[dict[str, Any]]) -> None:
    def text(value: Any) -> str:
        if value is None:
            return "NA"
        written = str(value).lower() if isinstance(value, bool) else str(value)
        return f'"{written}"' if "," in written else written

    lines = [",".join(rows[0]), *(",".join(map(text, row.values())) for row in rows)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_json(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_parquet(file: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), file)


def declared(folder: Path, name: str, script: str = DECLARED, words: str = ", nullstr = 'NA'") -> Study:
    source = f"csv('{name}'{words})" if name.endswith(".csv") else f"file('{name}')"
    file = folder / "study.sql"
    file.write_text(script.format(source=source), encoding="utf-8")
    return load_study(str(file), folder).windowed(12)


def read(spark: Any, study: Study) -> tuple[list[tuple[Any, ...]], Any]:
    from midstream.scenarios.recordings.recording import open_recording

    with open_recording(spark, study, 10) as recording:
        return sorted(map(tuple, recording.frames["s"].collect())), recording


@pytest.mark.parametrize(
    ("name", "write"), [("s.csv", write_csv), ("s.jsonl", write_json), ("s.parquet", write_parquet)]
)
def test_formats(
    spark: Any, tmp_path: Path, name: str, write: Callable[[Path, list[dict[str, Any]]], None]
) -> None:
    write(tmp_path / name, ROWS)
    found, recording = read(spark, declared(tmp_path, name))
    assert found == READ
    total = recording.totals["s"]
    assert (total.count, total.first, total.last, total.granule) == (3, -6, 14, 2)
    assert list(recording.starts) == [-10, 0, 10]


def test_a_time_range(spark: Any, tmp_path: Path) -> None:
    write_csv(tmp_path / "s.csv", ROWS)
    found, recording = read(spark, declared(tmp_path, "s.csv").within("-6", "14"))
    assert found == READ[:2]
    assert (recording.totals["s"].count, list(recording.starts)) == (2, [-10, 0])
    (tmp_path / "s.csv").write_text(HEAD + "x,A,1,1,true,\n")
    with pytest.raises(InputFileError, match="column at time: found 'x'"):
        read(spark, declared(tmp_path, "s.csv").within(None, "14"))


HEAD = "at time,house,n.o,price,is_new,note\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "x,A,1,1,true,\n", r"s\.csv, stream s, column at time: found 'x', expected integer"),
        (HEAD + "1,A,1.5,1,true,\n1,A,,1,true,\n", "column n.o: found '', expected integer; 2 rows are not"),
        (HEAD + "1,A,9223372036854775808,1,true,\n", "column n.o: found '9223372036854775808'"),
        (HEAD + "1,A,1,nan,true,\n", "column price: found 'nan', expected float, NA or nothing"),
        (HEAD + "1,A,1,1e999,true,\n", "column price: found '1e999', expected float"),
        (HEAD + "1,A,1,1,yes,\n", "column is_new: found 'yes', expected boolean"),
        (HEAD + "1,A,1,1\n", "found the row 1,A,1,1, expected one with all declared columns"),
        (HEAD + "1,B,1,1,true,x,too,many\n", "found the row 1,B,1,1,true,x,too,many, expected"),
        (
            "at time,house,price,is_new,note\n",
            r"s\.csv: found no column n\.o, expected it among at time, house",
        ),
    ],
)
def test_bad_csv(spark: Any, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputFileError, match=message):
        read(spark, declared(tmp_path, "s.csv"))


def test_files_of_a_folder_with_other_columns(spark: Any, tmp_path: Path) -> None:
    for name, head in (("a", HEAD), ("b", HEAD.replace("n.o,price", "price,n.o"))):
        (tmp_path / f"{name}.csv").write_text(head + "1,A,1,1,true,\n", encoding="utf-8")
    with pytest.raises(InputFileError, match=r"could not be read: CSV header does not conform .*b\.csv"):
        read(spark, declared(tmp_path, "*.csv"))


def test_values_of_other_streams_are_not_looked_at(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(HEAD + "1,A,1,1,true,\nx,B,y,z,,\n", encoding="utf-8")
    found, _ = read(spark, declared(tmp_path, "s.csv"))
    assert found == [(1, 1, 1.0, True, None)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n.o": None}, "column n.o: found nothing, expected integer"),
        ({"n.o": "one"}, "found the row .*one"),
        ({"is_new": 1}, "found the row .*is_new"),
    ],
)
def test_bad_json(spark: Any, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_json(tmp_path / "s.jsonl", [*ROWS, ROWS[0] | change])
    with pytest.raises(InputFileError, match=message):
        read(spark, declared(tmp_path, "s.jsonl"))


def test_bad_parquet(spark: Any, tmp_path: Path) -> None:
    study = declared(tmp_path, "s.parquet")
    with pytest.raises(InputFileError, match=r"s\.parquet: found no such file"):
        read(spark, study)
    (tmp_path / "s.parquet").write_text("no parquet")
    with pytest.raises(InputFileError, match=r"s\.parquet: found no readable parquet file"):
        read(spark, study)
    write_parquet(tmp_path / "s.parquet", [row | {"n.o": "one"} for row in ROWS])
    with pytest.raises(InputFileError, match=r"s\.parquet, column n\.o: found string, expected integer"):
        read(spark, study)


TOGETHER = """
CREATE STREAM everything("at time" BIGINT, "n.o" INTEGER NOT NULL, note TEXT)
  SOURCE {source} ORDERED BY "at time" TIME_UNIT 's';
CREATE STREAM a("at time" BIGINT, "n.o" INTEGER NOT NULL, price REAL)
  SOURCE {source} WHERE house = 'A' ORDERED BY "at time" TIME_UNIT 's';
CREATE STREAM noted("at time" BIGINT, house TEXT NOT NULL, note TEXT NOT NULL)
  SOURCE {source} WHERE "n.o" = 4 ORDERED BY "at time" TIME_UNIT 's';
CREATE STREAM texts("n.o" BIGINT, price PRICE) SOURCE {source} ORDERED BY "n.o" TIME_UNIT 's';
"""


@pytest.mark.parametrize(
    ("name", "write", "price", "times"),
    [
        ("s.csv", write_csv, "TEXT NOT NULL", 2),
        ("s.jsonl", write_json, "REAL", 1),
        ("s.parquet", write_parquet, "REAL", 1),
    ],
)
def test_a_file_of_several_streams_is_read_once(
    spark: Any,
    tmp_path: Path,
    name: str,
    write: Callable[[Path, list[dict[str, Any]]], None],
    price: str,
    times: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from midstream.scenarios.recordings import recording as module

    write(tmp_path / name, ROWS)
    study = declared(tmp_path, name, TOGETHER.replace("PRICE", price)).within("-6", "14")
    opened: list[Any] = []
    found = []
    open_raw = module.open_raw
    monkeypatch.setattr(module, "open_raw", lambda *given: opened.append(given) or open_raw(*given))
    for may_be_read_with in (module._may_be_read_with, lambda *_: False):
        monkeypatch.setattr(module, "_may_be_read_with", may_be_read_with)
        with module.open_recording(spark, study, 10) as recording:
            frames = {one: sorted(map(tuple, frame.collect())) for one, frame in recording.frames.items()}
            found.append((frames, dict(recording.totals)))
    assert found[0] == found[1]
    assert len(opened) == times + len(study.streams)  # other types of a column make another pass
    frames, totals = found[0]
    assert list(frames) == list(totals) == ["everything", "a", "noted", "texts"]
    assert frames["a"] == [(-6, 1, 1.5), (8, 3, None)]
    assert (frames["noted"], totals["noted"].count) == ([], 0)
    assert [row[:2] for row in frames["everything"]] == [(-6, 1), (4, 2), (8, 3)]
    assert [row[0] for row in frames["texts"]] == [1, 2, 3, 4]


def test_what_is_wrong_with_one_stream_of_a_file_is_not_with_another(spark: Any, tmp_path: Path) -> None:
    from midstream.scenarios.recordings.recording import open_recording

    (tmp_path / "s.csv").write_text(HEAD + "1,A,1,1,true,\n2,B,1,x,true,\n", encoding="utf-8")
    script = TOGETHER.replace("PRICE", "TEXT")
    with open_recording(spark, declared(tmp_path, "s.csv", script), 10) as recording:
        assert recording.totals["a"].count == 1
    with (
        pytest.raises(InputFileError, match=r"s\.csv, stream a, column price: found 'x', expected float"),
        open_recording(spark, declared(tmp_path, "s.csv", script.replace("'A'", "'B'")), 10),
    ):
        pass


def test_words_for_missing_values_are_those_that_a_stream_names(spark: Any, tmp_path: Path) -> None:
    """Streams that name others are not read together."""
    from midstream.scenarios.recordings.recording import open_recording

    (tmp_path / "s.csv").write_text("t,x,y\n1,NA,NA\n2,-,-\n3,,\n4,7,z\n", encoding="utf-8")
    streams = [
        f"CREATE STREAM {name}(t BIGINT, {columns}) SOURCE csv('s.csv'{words}) ORDERED BY t TIME_UNIT 's';\n"
        for name, columns, words in (
            ("both", "x INTEGER, y TEXT", ", nullstr = 'NA', nullstr = '-'"),
            ("one", "y TEXT", ", nullstr = 'NA'"),
            ("none", "y TEXT", ""),
            ("required", "y TEXT NOT NULL", ", nullstr = 'NA'"),
        )
    ]
    with open_recording(spark, declared(tmp_path, "s.csv", "".join(streams)), 10) as recording:
        found = {name: sorted(map(tuple, frame.collect())) for name, frame in recording.frames.items()}
    assert found == {
        "both": [(1, None, None), (2, None, None), (3, None, None), (4, 7, "z")],
        "one": [(1, None), (2, "-"), (3, None), (4, "z")],
        "none": [(1, "NA"), (2, "-"), (3, None), (4, "z")],
        "required": [(1, "NA"), (2, "-"), (3, ""), (4, "z")],
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "or nothing"),
        (", nullstr = '-'", ", - or nothing"),
        (", nullstr = 'a', nullstr = 'b'", ", a, b or"),
    ],
)
def test_other_words_are_no_values(words: str, expected: str, spark: Any, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(HEAD + "1,A,1,NA,true,\n", encoding="utf-8")
    with pytest.raises(InputFileError, match=f"column price: found 'NA', expected float ?{expected}"):
        read(spark, declared(tmp_path, "s.csv", words=words))


@pytest.mark.parametrize(
    ("times", "window"),
    [([60, 180, 600], 3600), ([], 12), ([-9, 6], 12), ([7, 8], 1), ([None, 8, None], 12), ([None], 12)],
)
def test_granule(spark: Any, times: list[int | None], window: int) -> None:
    from pyspark.sql import functions as F

    from midstream.scenarios.recordings.recording import granule

    frame = spark.createDataFrame([(time,) for time in times], "time long")
    known = [time for time in times if time is not None]
    assert frame.agg(F.expr(granule("time", window)).alias("g")).first()["g"] == gcd(*known, window)
