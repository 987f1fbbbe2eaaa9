"""`midstream run` reads ingested streams: what the manifest names, in order, only as far as is asked for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from midstream.cli import app
from midstream.io import ConnectorError, open_source
from midstream.io.ingested import IngestedFile, IngestRun, Manifest, write_manifest
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import MidstreamError

Row = tuple[int, dict[str, Any]]
HOUR = 3600
COLUMNS = {"k": "integer", "m": "string?", "n.o": "float?"}
DECLARED = "CREATE STREAM s(at TIMESTAMP, k INT, m TEXT) {} ORDERED BY at TIME_UNIT seconds;\n"


def write(
    folder: Path, runs: Sequence[Sequence[Sequence[Row]]], chronon: int = 10**9, epoch: int = 0, **more: Any
) -> Path:
    """A folder as ingest makes it: of each run, files of sorted rows, each in row groups of 10."""
    made = []
    for number, files in enumerate(runs):
        records = []
        for place, rows in enumerate(files):
            path = f"run-{number}/s/part-{place}.parquet"
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            table = [{"stream": "s", "start": at, "end": at + 1, "payload": values} for at, values in rows]
            pq.write_table(pa.Table.from_pylist(table), folder / path, row_group_size=10)
            size = (folder / path).stat().st_size
            records.append(IngestedFile("s", path, len(rows), size, rows[0][0], rows[-1][0]))
        made.append(IngestRun(f"run-{number}", (), tuple(records), {}))
    write_manifest(Manifest(chronon, epoch, {"s": {"columns": COLUMNS, **more}}, tuple(made)), folder)
    return folder


def order(row: Row) -> Any:
    return row[0], [(value is not None, value) for value in row[1].values()]


def drawn(seed: int, count: int) -> list[Row]:
    draw = random.Random(seed)
    rows = [
        (
            draw.randrange(40),
            {"k": draw.randrange(3), "m": draw.choice(("é", "x", None)), "n.o": draw.random()},
        )
        for _ in range(count)
    ]
    return sorted(rows, key=order)


def read(clause: str, declared: str = DECLARED, **more: Any) -> list[Any]:
    catalog = Catalog(None)
    catalog.execute(declared.format(clause))
    (stream,) = catalog.streams.values()
    return [one for batch in open_source(stream, catalog.unit, **more) for one in batch]


def plain(rows: Sequence[Row]) -> list[Any]:
    return [(at, at + 1, (row["k"], row["m"])) for at, row in rows]


def test_runs_that_overlap_are_read_as_one(tmp_path: Path) -> None:
    one, two = drawn(1, 90), drawn(2, 50)
    late = [(at + 100, row) for at, row in drawn(3, 30)]
    write(tmp_path, [[one, late], [two]])
    (tmp_path / "run-9").mkdir()
    pq.write_table(
        pa.table({"start": [3]}), tmp_path / "run-9" / "part-00000.parquet"
    )  # no manifest names it
    found = read(f"SOURCE ingested('{tmp_path}')")
    assert found == plain(sorted(one + two, key=order) + late)
    assert read(f"SOURCE file('{tmp_path}')") == read("", source=str(tmp_path)) == found


def test_only_what_is_asked_for_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [[(hour * HOUR + i, {"k": i, "m": None, "n.o": None}) for i in range(40)] for hour in range(5)]
    write(tmp_path, [files])
    opened: list[tuple[str, list[int], list[str]]] = []
    iterate = pq.ParquetFile.iter_batches

    def noted(self: Any, size: int, row_groups: list[int], columns: list[str]) -> Any:
        opened.append((Path(self.reader_path).name, row_groups, columns))
        return iterate(self, size, row_groups=row_groups, columns=columns)

    init = pq.ParquetFile.__init__

    def named(self: Any, path: Any, *given: Any, **more: Any) -> None:
        self.reader_path = path
        init(self, path, *given, **more)

    monkeypatch.setattr(pq.ParquetFile, "__init__", named)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    clause = f"SOURCE ingested('{tmp_path}', '1970-01-01T02:00:25', '1970-01-01T03:00:05')"
    expected = [row for file in files for row in file if 2 * HOUR + 25 <= row[0] < 3 * HOUR + 5]
    assert read(clause) == plain(expected)
    columns = ["start", "payload.k", "payload.m"]
    assert opened == [("part-2.parquet", [2, 3], columns), ("part-3.parquet", [0], columns)]


def test_conditions_are_those_by_which_rows_were_taken(tmp_path: Path) -> None:
    rows = drawn(1, 20)
    write(tmp_path, [[rows]], where={"house": "A"})
    source = f"SOURCE ingested('{tmp_path}')"
    assert read(source) == read(f"{source} WHERE house = 'A'") == plain(rows)
    with pytest.raises(ConnectorError, match=r"found rows where .*A.*, expected .*B"):
        read(f"{source} WHERE house = 'B'")


def test_other_units_and_columns_with_dots(tmp_path: Path) -> None:
    write(tmp_path, [[[(5, {"k": 1, "m": "x", "n.o": 0.5})]]], chronon=10**6, epoch=10**9)
    ms = 'CREATE STREAM S("N.O" REAL, at TIMESTAMP) {} ORDERED BY at TIME_UNIT milliseconds;'
    assert read(f"SOURCE ingested('{tmp_path}')", ms) == [(1005, 1006, (0.5,))]
    assert read(f"SOURCE ingested('{tmp_path}')") == [(1, 2, (1, "x"))]
    assert read(f"SOURCE ingested('{tmp_path}', '1970-01-01T00:00:01.006')", ms) == []


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("CREATE STREAM t(at TIMESTAMP, k INT) {} ORDERED BY at", "found no stream t, expected one of s"),
        (
            "CREATE STREAM s(at TIMESTAMP, j INT) {} ORDERED BY at",
            "column j: found no such column, expected one of k",
        ),
        ("CREATE STREAM s(k INT) {}", "found no timestamps, expected ORDERED BY a column"),
        ("CREATE STREAM s(at TIMESTAMP, m INT) {} ORDERED BY at", "column m: found 'x', expected integer"),
    ],
)
def test_declarations_that_do_not_fit(tmp_path: Path, declared: str, message: str) -> None:
    write(tmp_path, [[[(5, {"k": 1, "m": "x", "n.o": 0.5})]]])
    with pytest.raises(MidstreamError, match=message):
        read(f"SOURCE ingested('{tmp_path}')", declared)


def test_files_that_are_not_what_the_manifest_says(tmp_path: Path) -> None:
    write(tmp_path, [[[(5, {"k": 1, "m": "x", "n.o": 0.5})]]])
    file = tmp_path / "run-0" / "s" / "part-0.parquet"
    pq.write_table(pa.Table.from_pylist(pq.ParquetFile(file).read().to_pylist() * 2), file)
    with pytest.raises(
        MidstreamError, match=r"part-0\.parquet: found 2 rows, expected 1, as the manifest says"
    ):
        read(f"SOURCE ingested('{tmp_path}')")
    file.unlink()
    with pytest.raises(MidstreamError, match=r"part-0\.parquet: "):
        read(f"SOURCE ingested('{tmp_path}')")
    with pytest.raises(MidstreamError, match="found 'yesterday', expected a date"):
        read(f"SOURCE ingested('{tmp_path}', 'yesterday')")
    with pytest.raises(MidstreamError, match=r"nothing/manifest\.json: No such file"):
        read(f"SOURCE ingested('{tmp_path}/nothing')")


def test_run(tmp_path: Path) -> None:
    write(tmp_path / "in", [[[(5, {"k": 1, "m": "x", "n.o": 0.5}), (7, {"k": 2, "m": None, "n.o": 1.0})]]])
    (tmp_path / "q.sql").write_text(DECLARED.format("") + "SELECT k FROM s WINDOW(RANGE 5 SECONDS)")
    result = CliRunner().invoke(
        app, ["run", str(tmp_path / "q.sql"), "--source", f"s={tmp_path / 'in'}", "--times", "integer"]
    )
    assert result.stdout.splitlines() == [
        '{"start": 5, "end": 10, "row": {"k": 1}}',
        '{"start": 7, "end": 12, "row": {"k": 2}}',
    ], result.output
