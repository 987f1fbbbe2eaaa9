"""Sort a stream's staged rows and write them as Parquet files of a good size.

Rows are in order of start, and of their values where starts are equal. So files do not depend on how Spark
had cut the data, nor on which file a row was read from. A sample that depends on the rows alone tells where
one file ends and the next begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from midstream.io.ingested import IngestedFile
from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.spark.arrow_schemas import spark_schema

FILE = 128 * 2**20
"""The size of a file in bytes: files have half to twice as much, except a smaller last one."""

ROW_GROUP = 16 * 2**20
"""The size of a row group in bytes; readers read or skip whole row groups."""

SAMPLE = 10_000
"""The number of starts in the sample that chooses where files end, about."""

CANONICAL = ("stream", "start", "end", "payload")


def write_sorted(rows: DataFrame, stream: str, count: int, size: int, folder: Path) -> None:
    """Write `count` rows, which have about `size` bytes in Parquet, to a folder.

    Cost     A shuffle and a sort of all rows; no more memory than Spark has for a task.
    """
    named = rows.withColumn("stream", F.lit(stream))
    columns = [name for name in CANONICAL if name in named.columns]
    named = named.select(*columns)
    ends = _ends(named, count, -(-size // FILE))
    order = [name for name in columns if name != "stream"]
    if ends:
        number = F.size(F.filter(F.array(*map(F.lit, ends)), lambda end: end <= F.col("start")))
        placed = named.repartitionById(len(ends) + 1, number)
    else:
        placed = named.repartition(1)
    writer = placed.sortWithinPartitions(*order).write.option("parquet.block.size", ROW_GROUP)
    writer.mode("overwrite").parquet(str(folder))


def _ends(rows: DataFrame, count: int, files: int) -> list[int]:
    """The starts at which files begin, without the first: quantiles of a sample."""
    if files < 2:
        return []
    digest = F.xxhash64(*[name for name in rows.columns if name != "stream"])
    sample = rows.where(F.pmod(digest, F.lit(max(1, count // SAMPLE))) == 0)
    starts = sorted(row["start"] for row in sample.select("start").collect())
    if not starts:
        return []
    return sorted({starts[len(starts) * number // files] for number in range(1, files)} - {starts[0]})


FOUND = pa.schema(
    [
        ("path", pa.string()),
        *((name, pa.int64()) for name in ("rows", "first", "last", "double")),
        ("is_sorted", pa.bool_()),
    ]
)


def written(spark: SparkSession, stream: str, folder: Path) -> tuple[list[IngestedFile], int]:
    """The files of a folder by their first start, read again, and the number of double rows.

    Raises   MidstreamError where a file is not in order, or two overlap: then a law of ours is broken.
    """
    paths = sorted(str(file) for file in folder.glob("*.parquet"))
    listed = spark.createDataFrame([(path,) for path in paths], "path string")
    looked = listed.repartition(len(paths)).mapInArrow(look_at, spark_schema(FOUND))
    found = [row for row in looked.collect() if row["rows"]]
    found.sort(key=lambda row: row["first"])
    for row, following in zip(found, [*found[1:], None], strict=True):
        if not row["is_sorted"] or (following is not None and row["last"] >= following["first"]):
            raise MidstreamError(f"stream {stream}: found {row['path']} out of order, expected sorted files")
    files = [
        IngestedFile(
            stream, row["path"], row["rows"], Path(row["path"]).stat().st_size, row["first"], row["last"]
        )
        for row in found
    ]
    return files, sum(row["double"] for row in found)


def look_at(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The facts of the files at some paths, found on the executors."""
    for batch in batches:
        for path in batch.column(0).to_pylist():
            yield pa.RecordBatch.from_pylist([look(path)], FOUND)


def look(path: str) -> dict[str, object]:
    """The facts of a file: number of rows, first and last start, double rows, and whether it is in order."""
    rows = double = 0
    first = last = None
    is_sorted = True
    before: pa.RecordBatch | None = None
    with pq.ParquetFile(path) as file:
        columns = [name for name in file.schema_arrow.names if name != "stream"]
        for batch in file.iter_batches(65_536, columns=columns):
            if not len(batch):
                continue
            joined = pa.Table.from_batches([batch] if before is None else [before, batch]).combine_chunks()
            starts = joined.column("start")
            one, two = starts[:-1], starts[1:]
            is_sorted = is_sorted and pc.all(pc.less_equal(one, two)).as_py() is not False
            double += _double(joined)
            rows += len(batch)
            first = starts[0].as_py() if first is None else first
            last = starts[-1].as_py()
            before = batch.slice(len(batch) - 1)
    return {
        "path": path, "rows": rows, "first": first, "last": last, "double": double, "is_sorted": is_sorted
    }  # fmt: skip


def _double(rows: pa.Table) -> int:
    """The number of rows that equal the row before them."""
    agree = None
    for column in rows.flatten().columns:
        one, two = column[:-1], column[1:]
        same = pc.or_(pc.fill_null(pc.equal(one, two), False), pc.and_(pc.is_null(one), pc.is_null(two)))
        agree = same if agree is None else pc.and_(agree, same)
    return int(pc.sum(agree).as_py() or 0)
