"""Cases of migrations on Spark's executors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from midstream.io.requirements import require_libraries
from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.spark.arrow_schemas import spark_schema
from midstream.scenarios.stages.verify.case_runs import Broken, Draw, Findings, try_seeds

TASK = 50
"""The number of seeds in one task: two seconds or so."""

ROWS = pa.schema(
    [("strategy", pa.string()), ("outcome", pa.string()), ("broken", pa.string()), ("n", pa.int64())]
)


def try_on_executors(spark: SparkSession, draw: Draw, seeds: range) -> Findings:
    """Try the cases of a range of seeds, in tasks of about equal size."""
    frame = spark.range(seeds.start, seeds.stop, 1, -(-len(seeds) // TASK))
    try:
        return _collected(_tried(frame, draw))
    except PySparkException as error:
        raise MidstreamError(f"cases of seeds {seeds.start} to {seeds.stop - 1}: {error}") from error


def _tried(seeds: DataFrame, draw: Draw) -> DataFrame:
    """Counts by strategy and outcome, and a row for each case that is kept.

    Many seeds make no more rows than few, except for cases that break the law.
    """
    rows = seeds.mapInArrow(partial(try_batches, draw=draw), spark_schema(ROWS))
    return rows.groupBy("strategy", "outcome", "broken").agg(F.sum("n").alias("n"))


def try_batches(batches: Iterator[pa.RecordBatch], draw: Draw) -> Iterator[pa.RecordBatch]:
    """Try the seeds of some batches, on the executors."""
    require_libraries(["hypothesis"], "testing", "executors need to draw cases")
    for batch in batches:
        found = try_seeds(batch.column(0).to_pylist(), draw)
        rows: list[tuple[str, str, str | None, int]] = [
            (strategy, outcome, None, n) for (strategy, outcome), n in found.counts.items()
        ]
        rows += [("", "", one.text(), 0) for one in found.broken]
        yield pa.RecordBatch.from_pylist(
            [dict(zip(ROWS.names, row, strict=True)) for row in rows], schema=ROWS
        )


def _collected(rows: DataFrame) -> Findings:
    found = Findings()
    for row in rows.collect():
        if row["broken"] is None:
            found.counts[row["strategy"], row["outcome"]] = row["n"]
        else:
            found.broken.append(Broken.read(row["broken"]))
    found.broken.sort(key=lambda one: one.seed)
    return found
