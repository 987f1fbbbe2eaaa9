"""Generate streams on the executors: a task makes consecutive cells, and writes their files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Row, SparkSession

from midstream.io.ingested import IngestedFile, IngestRun, Manifest, StreamRun, is_ingested, write_manifest
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.plans.values.schema import Schema
from midstream.scenarios.spark.arrow_schemas import spark_schema
from midstream.scenarios.spark.spark_errors import SPARK_ERRORS, reason
from midstream.scenarios.stages.generate.parametric import ParametricStream
from midstream.scenarios.stages.generate.tables import canonical
from midstream.scenarios.stages.ingest.folder import named_run, new_run, next_name, only_writer
from midstream.scenarios.stages.ingest.sorting import FILE, FOUND, ROW_GROUP, look

ROWS_IN_GROUP = ROW_GROUP // 16

LEAST = FILE // 2
"""The least size of a file of the longest stream, in bytes; half of it where one task would do everything."""

BYTES_OF_VALUE = 1.5
"""The average size of a value in Parquet, in bytes: most values are small numbers, or repeat."""

WRITTEN = pa.schema([("stream", pa.string()), *FOUND])


class Cells(Protocol):
    """Streams made cell by cell; a cell is the same whichever cells are made with it."""

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The streams' columns."""

    @property
    def cells(self) -> int:
        """The number of cells."""

    @property
    def expected(self) -> Mapping[str, float]:
        """The number of elements of each stream, about."""

    def tables(self, first: int, end: int) -> Iterator[tuple[str, pa.Table]]:
        """The elements of some cells by stream, in canonical order: columns start and payload."""


@dataclass(frozen=True)
class Generated:
    """The result of a generation: the manifest of its folder."""

    manifest: Manifest

    @property
    def rows(self) -> dict[str, int]:
        """The number of elements of each stream."""
        files = {name: self.manifest.files(name) for name in self.manifest.streams}
        return {name: sum(file.rows for file in some) for name, some in files.items()}


def generate(
    spark: SparkSession,
    made: Sequence[Cells],
    folder: Path | str,
    chronon: int,
    origin: Mapping[str, Any],
    *,
    parts: int | None = None,
) -> Generated:
    """Write streams to a new folder, as ingest does.

    chronon    its length, in nanoseconds
    origin     the origin of the streams, as the manifest records it
    parts      the number of parts in which the cells of each stream are made, and files written; by default
               as many as give files of the right size. The elements do not depend on it.

    Raises   MidstreamError where the folder holds streams already, or cannot be written.
    """
    place = Path(folder).absolute()  # workers may have another working folder
    with only_writer(place):
        if is_ingested(place):
            raise MidstreamError(f"{place}: found streams already, expected a new folder")
        name = next_name(place)
        with new_run(place) as unfinished:
            rows = _named(unfinished, _made(spark, made, unfinished, parts))
            files = _files(unfinished, name, rows)
            named_run(unfinished, name)
        streams = {
            stream: _described(schema, origin) for one in made for stream, schema in one.schemas.items()
        }
        found = {
            stream: StreamRun(double=sum(double for file, double in files if file.stream == stream))
            for stream in streams
        }
        run = IngestRun(name, (), tuple(file for file, _ in files), found)
        manifest = Manifest(chronon, 0, streams, (run,))
        write_manifest(manifest, place)
        return Generated(manifest)


def _described(schema: Schema, origin: Mapping[str, Any]) -> dict[str, Any]:
    columns = {column.name: f"{column.type.value}{'?' if column.nullable else ''}" for column in schema}
    return {"columns": columns, "intervals": False, "generated": dict(origin)}


def generate_arrivals(
    spark: SparkSession, made: Sequence[ParametricStream], folder: Path | str, *, parts: int | None = None
) -> dict[str, int]:
    """Write streams to a new folder in order of arrival, a folder a stream, for ingest to read.

    Raises   MidstreamError where there is such a folder, or it cannot be written.
    """
    place = Path(folder).absolute()  # workers may have another working folder
    if place.exists():
        raise MidstreamError(f"{place}: found a folder, expected a new one")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with new_run(place.parent) as unfinished:
            rows = _named(unfinished, _made(spark, made, unfinished, parts, is_raw=True))
            named_run(unfinished, place.name)
    except OSError as error:
        raise InputFileError(f"{error.filename or place}: {error.strerror or error}", path=place) from error
    return {one.name: sum(row["rows"] for row in rows if row["stream"] == one.name) for one in made}


def _named(place: Path, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rename the files that tasks wrote to names that are equal in every run, and return the tasks' rows.

    Files left by failed attempts of a task are removed.
    """
    found = []
    for row in rows:
        path = Path(row["path"])
        named = path.rename(path.with_name(f"{path.stem.rpartition('-')[0]}{path.suffix}"))
        found.append({**row.asDict(), "path": str(named)})
    kept = {row["path"] for row in found}
    for one in place.rglob("*.parquet"):
        if str(one) not in kept:
            one.unlink()
    return found


def _made(
    spark: SparkSession, made: Sequence[Cells], place: Path, parts: int | None, *, is_raw: bool = False
) -> list[Row]:
    """The rows that `write_cells` yields for all parts."""
    jobs = [(number, *cells) for number, one in enumerate(made) for cells in parts_of(one, parts)]
    listed = spark.createDataFrame(jobs, "number long, first long, end long").repartition(len(jobs))
    try:
        write = partial(write_cells, made=made, place=place, is_raw=is_raw)
        return listed.mapInArrow(write, spark_schema(WRITTEN)).collect()
    except SPARK_ERRORS as error:
        raise InputFileError(f"{place.parent}: generating failed: {reason(error)}", path=place) from error


def _files(place: Path, run: str, rows: Sequence[Mapping[str, Any]]) -> list[tuple[IngestedFile, int]]:
    """The files that tasks wrote, with their later paths, and the number of double rows of each."""
    found = []
    for row in sorted(rows, key=lambda row: (row["stream"], row["first"])):
        path = Path(row["path"])
        if not row["is_sorted"]:
            raise MidstreamError(f"{path}: found rows out of order, expected sorted ones")
        times = row["first"], row["last"]
        size, name = path.stat().st_size, f"{run}/{path.relative_to(place)}"
        found.append((IngestedFile(row["stream"], name, row["rows"], size, *times), row["double"]))
    return found


def parts_of(made: Cells, parts: int | None) -> list[tuple[int, int]]:
    """The ranges of cells that are made together, so that files have the right size."""
    if parts is None:
        sizes = [
            made.expected[name] * (2 + len(schema)) * BYTES_OF_VALUE for name, schema in made.schemas.items()
        ]
        longest = max(sizes)
        parts = int(longest / LEAST) if longest >= 2 * LEAST else 1 + (longest >= LEAST / 2)
    count = min(max(1, parts), made.cells)
    ends = [made.cells * number // count for number in range(count + 1)]
    return list(pairwise(ends))


def write_cells(
    batches: Iterable[pa.RecordBatch], made: Sequence[Cells], place: Path, is_raw: bool
) -> Iterator[pa.RecordBatch]:
    """Make the cells that some batches name and write their files, on the executors."""
    for batch in batches:
        for job in batch.to_pylist():
            one, first, end = made[job["number"]], job["first"], job["end"]
            if is_raw:
                assert isinstance(one, ParametricStream)
                tables = one.arriving(first, end)
            else:
                tables = ((stream, canonical(stream, table)) for stream, table in one.tables(first, end))
            yield pa.RecordBatch.from_pylist(write_tables(tables, first, place), WRITTEN)


def write_tables(tables: Iterable[tuple[str, pa.Table]], first: int, place: Path) -> list[dict[str, Any]]:
    """Write a file for each stream that has elements in some cells; return the facts that `look` finds."""
    paths: dict[str, Path] = {}
    with ExitStack() as stack:
        writers: dict[str, pq.ParquetWriter] = {}
        for stream, table in tables:
            if len(table) and stream not in writers:
                # A task may be tried twice at the same time, so each has names of its own.
                paths[stream] = place / quote(stream, safe=" ") / f"part-{first:06}-{token_hex(4)}.parquet"
                paths[stream].parent.mkdir(parents=True, exist_ok=True)
                writers[stream] = stack.enter_context(pq.ParquetWriter(paths[stream], table.schema))
            if len(table):
                writers[stream].write_table(table, ROWS_IN_GROUP)
    return [{"stream": stream, **look(str(path))} for stream, path in paths.items()]
