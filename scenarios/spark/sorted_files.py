"""Write a data frame as sorted Parquet files whose bytes depend on the rows alone.

Spark's own writer names files at random, and stores the encodings of a column in an order that differs
between Java processes. So each task writes its files by Arrow, and the driver gives them their names.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from midstream.scenarios.spark.arrow_schemas import spark_schema

ROWS_IN_GROUP = 1 << 17
"""The most rows in a row group of a file, and in the memory of a task."""

FILE = "part-00000.parquet"

_WRITTEN = pa.schema([("folder", pa.string()), ("path", pa.string())])


def write_sorted_files(frame: DataFrame, place: Path, apart: Sequence[str], order: Sequence[str]) -> None:
    """Write one file for all rows that agree in some columns, in folders as `stream=a/column=k`.

    apart    these columns, which are in the names of the folders and not in the files
    order    the columns that sort the rows of a file; no two rows may agree in them

    Executors write to `place`, which all must see.

    Cost     A shuffle and a sort of all rows; a path for each file comes to the driver.
    """
    place = place.absolute()  # workers may have another working folder
    unnamed = place / f".{token_hex(4)}"
    unnamed.mkdir()
    inside = [name for name in frame.columns if name not in apart]
    together = frame.repartition(*apart).sortWithinPartitions(*apart, *order).select(*apart, *inside)
    write = partial(write_batches, place=str(unnamed), apart=len(apart))
    for row in together.mapInArrow(write, spark_schema(_WRITTEN)).collect():
        target = place / row["folder"] / FILE
        target.parent.mkdir(parents=True, exist_ok=True)
        Path(row["path"]).rename(target)
    shutil.rmtree(unnamed)  # with what tasks left that were tried again


def write_batches(batches: Iterable[pa.RecordBatch], place: str, apart: int) -> Iterator[pa.RecordBatch]:
    """Write the rows of a task, which are sorted by the first columns, on an executor."""
    for folder, parts in groupby(_stretches(batches, apart), itemgetter(0)):
        path = Path(place, f"{token_hex(8)}.parquet")
        _write((rows for _, rows in parts), path)
        yield pa.RecordBatch.from_pylist([{"folder": folder, "path": str(path)}], _WRITTEN)


def _stretches(batches: Iterable[pa.RecordBatch], apart: int) -> Iterator[tuple[str, pa.Table]]:
    """Consecutive rows that belong into one folder, with its name."""
    for batch in batches:
        rows = pa.Table.from_batches([batch]).select(range(apart, batch.num_columns))
        values = zip(*(column.to_pylist() for column in batch.columns[:apart]), strict=True)
        first = 0
        for each, same in groupby(values):
            count = sum(1 for _ in same)
            yield "/".join(map(_folder, batch.schema.names, each)), rows.slice(first, count)
            first += count


def _folder(name: str, value: Any) -> str:
    """The name of a folder for rows with a value in a column, as Spark and Arrow choose it."""
    escaped = re.sub(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]", lambda one: f"%{ord(one[0]):02X}", str(value))
    return f"{name}={escaped}"


def _write(parts: Iterable[pa.Table], path: Path) -> None:
    with ExitStack() as stack:
        writer = None
        for rows in _of_one_size(parts):
            if writer is None:
                # Arrow's schema, if it were stored, would tell how Spark had handed over the rows.
                writer = stack.enter_context(pq.ParquetWriter(path, rows.schema, store_schema=False))
            writer.write_table(rows, ROWS_IN_GROUP)


def _of_one_size(parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows in parts of one size, however long the parts were that came; the last may be smaller."""
    held, count = list[pa.Table](), 0
    for rows in parts:
        rest = rows
        while count + len(rest) >= ROWS_IN_GROUP:
            room = ROWS_IN_GROUP - count
            yield pa.concat_tables([*held, rest.slice(0, room)]).combine_chunks()
            held, count, rest = [], 0, rest.slice(room)
        held.append(rest)
        count += len(rest)
    if count:
        yield pa.concat_tables(held).combine_chunks()
