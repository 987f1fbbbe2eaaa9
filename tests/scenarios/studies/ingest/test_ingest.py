"""Recorded streams become sorted Parquet files with a manifest; bad rows, late and double ones are told."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from midstream.cli import app
from midstream.io.ingested import Manifest, read_manifest
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.scenarios.streams.recorded.feeds import Feed
from midstream.scenarios.streams.recorded.script import load_feeds, load_study

from ..conftest import reversed_settings

pytestmark = pytest.mark.spark

DECLARED = """
CREATE STREAM A(at BIGINT, k INTEGER NOT NULL, m TEXT, "n.o" REAL) SOURCE file('in', nullstr = 'NA')
    WHERE house = 'A' ORDERED BY at TIME_UNIT 's';
CREATE STREAM B(at BIGINT, k INTEGER NOT NULL, m TEXT, "n.o" REAL) SOURCE csv('in/*.csv', nullstr = 'NA')
    WHERE house = 'B' ORDERED BY at TIME_UNIT 's';
"""
BAD = ["x,A,1,u,1", "5,A,1", "6,B,9223372036854775808,u,1"]
Line = tuple[int, str, int, str | None, float | None]


def drawn(seed: int, count: int) -> list[Line]:
    """Rows of both streams, some out of order, some double."""
    draw = random.Random(seed)
    return [
        (
            5 * number // 2 - draw.choice((0, 0, 0, draw.randrange(400))),
            draw.choice("AB"),
            draw.randrange(2),
            draw.choice(("u", "é", None)),
            draw.choice((0.5, -1.0, None)),
        )
        for number in range(count)
    ]


def text(rows: list[Line]) -> str:
    lines = [",".join("NA" if value is None else str(value) for value in row) for row in rows]
    return "\n".join(["at,house,k,m,n.o", *lines]) + "\n"


FIRST, SECOND, THIRD = drawn(1, 300), drawn(2, 40), drawn(3, 60)


def write_first(folder: Path) -> None:
    """Two files, one of them with bad rows behind its first hundred good ones."""
    (folder / "in" / "deep").mkdir(parents=True)
    lines = text(FIRST).splitlines()
    (folder / "in" / "one.csv").write_text(
        "\n".join([*lines[:101], *BAD, *lines[101:]]) + "\n", encoding="utf-8"
    )
    (folder / "in" / "deep" / "two.csv.gz").write_bytes(gzip.compress(text(SECOND).encode()))
    (folder / "study.sql").write_text(DECLARED, encoding="utf-8")


def write_third(folder: Path) -> None:
    (folder / "in" / "three.csv").write_text(text(THIRD), encoding="utf-8")


def feeds(folder: Path) -> list[Feed]:
    return load_feeds(str(folder / "study.sql"), folder)[1]


def run(spark: Any, folder: Path, **more: Any) -> Any:
    from midstream.scenarios.stages.ingest.ingest import ingest

    return ingest(spark, feeds(folder), folder / "out", **{"piece_size": 700} | more)


def order(row: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    return [(value is not None, value) for value in row]


def expected(rows: list[Line], house: str) -> list[tuple[Any, ...]]:
    return sorted(((at, k, m, n) for at, one, k, m, n in rows if one == house), key=order)


def stored(folder: Path, stream: str) -> list[list[tuple[Any, ...]]]:
    """The rows of each file of a stream."""
    import pyarrow.parquet as pq

    out = folder / "out"
    found = []
    for file in sorted(read_manifest(out).files(stream), key=lambda file: file.path):
        table = pq.ParquetFile(out / file.path).read().to_pylist()
        assert {row["stream"] for row in table} == {stream}
        assert all(row["end"] == row["start"] + 1 for row in table)
        found.append([(row["start"], *row["payload"].values()) for row in table])
    return found


@pytest.fixture(scope="module")
def twice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest, Manifest, list[str]]:
    """A folder after a run, and one more over a further file; the manifests, and which files were read."""
    from midstream.scenarios.stages.ingest import ingest as module

    folder = tmp_path_factory.mktemp("twice")
    write_first(folder)
    first = run(spark, folder).manifest
    write_third(folder)
    read: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        staged = module.staged

        def noted(spark: Any, feed: Feed, files: Any, size: int) -> Any:
            read.extend(Path(file.path).name for file in files)
            return staged(spark, feed, files, size)

        patch.setattr(module, "staged", noted)
        second = run(spark, folder).manifest
    return folder, first, second, read


def lateness(rows: list[Line], house: str) -> Counter[int]:
    found: Counter[int] = Counter()
    greatest: int | None = None
    for at, one, *_ in rows:
        if one == house:
            found[0 if greatest is None else max(0, greatest - at)] += 1
            greatest = at if greatest is None else max(greatest, at)
    return found


def test_rows_are_stored_in_order(twice: tuple[Path, Manifest, Manifest, list[str]]) -> None:
    folder, _, _, _ = twice
    assert stored(folder, "A") == [expected(FIRST + SECOND, "A"), expected(THIRD, "A")]
    assert stored(folder, "B") == [expected(FIRST, "B"), expected(THIRD, "B")]


def test_stored_rows_are_read_by_time(spark: Any, twice: tuple[Path, Manifest, Manifest, list[str]]) -> None:
    from midstream.scenarios.recordings.recording import stored_stream

    out = twice[0] / "out"
    frame = stored_stream(spark, out, "a", 200)
    assert [Path(one).parts[-3] for one in frame.inputFiles()] == ["run-0001"]  # the other run ends before
    found = Counter((row["start"], *row["payload"]) for row in frame.collect())
    assert found == Counter(row for row in expected(FIRST + SECOND, "A") if row[0] >= 200)
    assert stored_stream(spark, out, "B", 10**6, 10**7).count() == 0


def test_studies_read_ingested_streams(
    spark: Any, twice: tuple[Path, Manifest, Manifest, list[str]], tmp_path: Path
) -> None:
    from midstream.scenarios.recordings.recording import open_recording

    declared = DECLARED.replace("file('in'", "file('out'").replace("csv('in/*.csv'", "file('out'")

    def read(declared: str, *ends: str | None) -> dict[str, list[tuple[Any, ...]]]:
        file = tmp_path / "study.sql"
        file.write_text(declared, encoding="utf-8")
        study = load_study(str(file), twice[0]).within(*ends or (None, None))
        with open_recording(spark, study, 10) as recording:
            return {
                name: sorted(map(tuple, one.collect()), key=order) for name, one in recording.frames.items()
            }

    assert read(declared) == {"A": expected(FIRST + SECOND + THIRD, "A"), "B": expected(FIRST + THIRD, "B")}
    some = read(declared, "100", "200")["A"]
    assert some == [row for row in expected(FIRST + SECOND + THIRD, "A") if 100 <= row[0] < 200] != []
    for old, new, message in [
        (
            "'s'",
            "'ms'",
            "stream A, nanoseconds of a chronon: found 1000000000, expected 1000000",
        ),
        ("house = 'B'", "house = 'C'", "stream B, where: found {'house': 'B'}, expected {'house': 'C'}"),
        ("k INTEGER", "j INTEGER", "column j: found no such column, expected j integer"),
        (
            "file('out'",
            "file('deep'",
            "deep, stream A: found no manifest, expected a folder that ingest has made",
        ),
    ]:
        with pytest.raises(InputFileError, match=re.escape(message)):
            read(declared.replace(old, new))


def test_counts_and_hashes_of_the_inputs(twice: tuple[Path, Manifest, Manifest, list[str]]) -> None:
    import hashlib

    folder, first, second, read = twice
    counted = {(one.stream, Path(one.path).name): one for one in first.inputs}
    of_a = sum(row[1] == "A" for row in FIRST)
    one = counted["A", "one.csv"]
    # The row with too few fields may be of either stream, and that with a large number is of the other one.
    assert (one.rows, one.taken, one.quarantined, one.other) == (303, of_a, 2, 301 - of_a)
    assert counted["B", "one.csv"].quarantined == 2
    assert one.sha256 == hashlib.sha256((folder / "in" / "one.csv").read_bytes()).hexdigest()
    assert set(counted) == {("A", "one.csv"), ("A", "two.csv.gz"), ("B", "one.csv")}
    assert second.runs[0] == first.runs[0]
    assert read == ["three.csv", "three.csv"]


def test_bad_rows_are_in_quarantine(twice: tuple[Path, Manifest, Manifest, list[str]]) -> None:
    folder, first, _, _ = twice
    letters = [
        json.loads(line)
        for path in first.runs[0].quarantine
        for line in (folder / "out" / path).read_text(encoding="utf-8").splitlines()
    ]
    where = str(folder / "in" / "one.csv")
    fields = "found 3 fields, expected 5, as there are columns"
    instant = "an integer, or a date or a date with a time in ISO 8601"
    assert [(one["source"], one["line"], one["reason"]) for one in letters] == [
        (where, 102, f"column at: found 'x', expected {instant}"),
        (where, 103, fields),
        (where, 103, fields),
        (where, 104, "column k: found 9223372036854775808, expected an integer of 64 bits"),
    ]
    assert letters[0]["row"] == BAD[0]


def test_late_and_double_rows_are_told(twice: tuple[Path, Manifest, Manifest, list[str]]) -> None:
    from midstream.scenarios.stages.ingest.disorder import cell

    _, first, second, _ = twice
    exact = lateness(FIRST, "A") + lateness(SECOND, "A")
    found = first.runs[0].streams["A"]
    assert found.greatest == max(exact)
    cells: Counter[int] = Counter()
    for one, count in exact.items():
        cells[cell(one)] += count
    assert found.counts == cells
    assert len(cells) > 20
    of_a = Counter(expected(FIRST + SECOND, "A"))
    assert found.double == sum(of_a.values()) - len(of_a)
    assert (found.late, found.cut) == (0, 0)
    last = max(row[0] for row in FIRST + SECOND if row[1] == "A")
    assert second.runs[1].streams["A"].late == sum(row[1] == "A" and row[0] < last for row in THIRD)


@pytest.fixture
def copied(twice: tuple[Path, Manifest, Manifest, list[str]], tmp_path: Path) -> Iterator[Path]:
    """The folder, to be changed. Inputs keep their places, which the manifest names."""
    folder = twice[0]
    kept = tmp_path / "kept"
    shutil.copytree(folder, kept)
    yield folder
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)


def test_a_run_over_nothing_new(spark: Any, copied: Path) -> None:
    before = (copied / "out" / "manifest.json").read_bytes()
    assert run(spark, copied).run is None
    assert (copied / "out" / "manifest.json").read_bytes() == before


@pytest.mark.parametrize(
    ("more", "message"),
    [("9,A,1,u,1\n", "found 10 bytes more than when it was ingested"), ("", "found another content than")],
)
def test_a_file_that_has_changed(spark: Any, copied: Path, more: str, message: str) -> None:
    file = copied / "in" / "three.csv"
    file.write_text(text(THIRD) + more if more else text(THIRD)[:-1] + " ", encoding="utf-8")
    with pytest.raises(InputFileError, match=rf"three\.csv, stream A: {message}"):
        run(spark, copied)


def test_another_declaration(spark: Any, copied: Path) -> None:
    (copied / "study.sql").write_text(DECLARED.replace("m TEXT", "m TEXT NOT NULL"), encoding="utf-8")
    with pytest.raises(MidstreamError, match=r"stream A: found .*string\?.*; ingest into a new folder"):
        run(spark, copied)
    (copied / "study.sql").write_text(DECLARED.replace("'s'", "'ms'"), encoding="utf-8")
    with pytest.raises(
        MidstreamError, match="found chronons of 1,000,000,000 ns, expected 1,000,000 ns since 1970"
    ):
        run(spark, copied)
    manifest = copied / "out" / "manifest.json"
    manifest.write_text(re.sub(r'"epoch": ?0', '"epoch": 1500', manifest.read_text()))
    with pytest.raises(
        MidstreamError, match="ns since 1,500 ns after 1970, expected 1,000,000 ns since 1970"
    ):
        run(spark, copied)


def test_a_run_that_fails_at_the_end_and_one_over_all_files(
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    twice: tuple[Path, Manifest, Manifest, list[str]],
) -> None:
    from midstream.scenarios.stages.ingest import ingest as module

    write_first(tmp_path)
    write_third(tmp_path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / "out" / "manifest.json"))

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_manifest", full)
        with pytest.raises(InputFileError, match=r"manifest\.json: No space left on device"):
            module.ingest(spark, feeds(tmp_path)[1:], tmp_path / "out")
    assert not (tmp_path / "out" / "manifest.json").exists()
    with reversed_settings(spark):
        run(spark, tmp_path, slack=300)
    assert not [
        one.name for one in (tmp_path / "out").rglob("*") if "unfinished" in one.name or "staged" in one.name
    ]
    late = list(replayed_late(300))
    for stream in "AB":
        rows = FIRST + THIRD + (SECOND if stream == "A" else [])
        kept = Counter(expected(rows, stream)) - Counter(row for one, row in late if one == stream)
        assert stored(tmp_path, stream) == [sorted(kept.elements(), key=order)]
    letters = "".join(
        (tmp_path / "out" / path).read_text(encoding="utf-8")
        for path in read_manifest(tmp_path / "out").runs[0].quarantine
    )
    assert letters.count("expected at most 300, the slack") == len(late) > 0


def replayed_late(slack: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The rows that come more than a slack late in their files, by stream."""
    for stream in "AB":
        for rows in (FIRST, SECOND, THIRD) if stream == "A" else (FIRST, THIRD):
            greatest = None
            for at, house, *payload in rows:
                if house == stream:
                    if greatest is not None and greatest - at > slack:
                        yield stream, (at, *payload)
                    greatest = at if greatest is None else max(greatest, at)


def test_long_streams_are_cut_into_files_of_their_times(
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    twice: tuple[Path, Manifest, Manifest, list[str]],
) -> None:
    from midstream.scenarios.stages.ingest import sorting

    monkeypatch.setattr(sorting, "FILE", 4000)
    frame = spark.createDataFrame(
        [(row[0], row[0] + 1, row[1:]) for row in expected(FIRST, "A")],
        "start long, end long, payload struct<k: long, m: string, no: double>",
    )
    rows = []
    for partitions in (1, 5):
        target = tmp_path / str(partitions)
        sorting.write_sorted(frame.repartition(partitions), "A", frame.count(), 16_000, target)
        files, _ = sorting.written(spark, "A", target)
        assert len(files) == 4
        assert max(file.rows for file in files) < 2 * min(file.rows for file in files)
        assert [(file.first, file.last) for file in files] == sorted(
            (file.first, file.last) for file in files
        )
        rows.append([(file.rows, file.first, file.last) for file in files])
    assert rows[0] == rows[1]


def test_bad_files_end_a_run_and_leave_nothing(spark: Any, tmp_path: Path) -> None:
    write_first(tmp_path)
    (tmp_path / "in" / "four.parquet").write_text("no parquet")
    with pytest.raises(InputFileError, match=r"stream A: .*four\.parquet: found no readable Parquet file"):
        run(spark, tmp_path)
    assert [one.name for one in (tmp_path / "out").iterdir()] == []


@pytest.mark.parametrize("times", [[], [7], [7, 7, 7]])
def test_streams_without_rows_with_one_and_at_one_instant(
    spark: Any, tmp_path: Path, times: list[int]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.csv").write_text(text([(time, "A", 1, None, 0.5) for time in times]))
    (tmp_path / "study.sql").write_text(DECLARED, encoding="utf-8")
    command = ["study", "ingest", str(tmp_path / "study.sql"), "--data", str(tmp_path)]
    command += ["--output", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*command, "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["streams"]["A"]
    assert (found["rows"], found["double"], found["files"]) == (
        len(times),
        max(0, len(times) - 1),
        min(1, len(times)),
    )
    again = CliRunner().invoke(app, command)
    assert "no new files" in " ".join(again.output.split())
    assert [len(rows) for rows in stored(tmp_path, "A")] == [len(times)][: len(times)]


ONE = "CREATE STREAM s(at BIGINT, k INTEGER NOT NULL) SOURCE file('{}') ORDERED BY at TIME_UNIT 's';"


def test_a_stream_of_which_every_row_is_refused(spark: Any, tmp_path: Path) -> None:
    from midstream.scenarios.stages.ingest.ingest import ingest

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text("at,k\n1,x\n2,y\n", encoding="utf-8")
    (tmp_path / "q.sql").write_text(ONE.format("in"), encoding="utf-8")
    streams = tmp_path / "streams"
    letters = streams / "run-0001" / "quarantine" / "s"
    for _ in range(2):  # the folder holds nothing, so the file is read again
        with pytest.raises(InputFileError) as told:
            ingest(spark, load_feeds(str(tmp_path / "q.sql"), tmp_path)[1], streams)
        assert str(told.value) == (
            "stream s: found 2 rows, expected some that fit the declaration, but every row was refused; the "
            f"first: {tmp_path / 'in' / '1.csv'}, row at 2: column k: found 'x', expected integer; all are "
            f"in {letters} until the next run"
        )
        rows = [json.loads(line)["row"] for file in letters.glob("*.jsonl") for line in file.open()]
        assert len(rows) == 2
    (tmp_path / "in" / "1.csv").write_text("at,k\n1,x\n2,3\n", encoding="utf-8")
    taken = ingest(spark, load_feeds(str(tmp_path / "q.sql"), tmp_path)[1], streams).manifest.inputs
    assert [(one.taken, one.quarantined) for one in taken] == [(1, 1)]


def test_packed_json_lines_are_read_with_and_without_ingesting(spark: Any, tmp_path: Path) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.ingest.ingest import ingest

    (tmp_path / "s.json.gz").write_bytes(gzip.compress(b'{"at": 1, "k": 7}\n{"at": 3, "k": 8}\n'))
    (tmp_path / "q.sql").write_text(ONE.format("s.json.gz"), encoding="utf-8")
    ingest(spark, load_feeds(str(tmp_path / "q.sql"), tmp_path)[1], tmp_path / "streams")
    for data in (tmp_path, tmp_path / "streams"):
        with open_recording(spark, load_study(str(tmp_path / "q.sql"), data), 10) as recording:
            total = recording.totals["s"]
            assert (total.count, total.first, total.last) == (2, 1, 3)
