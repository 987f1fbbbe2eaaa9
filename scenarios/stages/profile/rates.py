"""The variation of a stream's rate within buckets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.scenarios.recordings.recording import TIME, Recording, floor_to

MOST_CELLS = 16
"""The most cells of a bucket."""


def cells(bucket: int) -> int:
    """The number of equal cells of a bucket.

    >>> cells(10_800), cells(100), cells(7)
    (16, 10, 7)
    """
    return next(number for number in range(MOST_CELLS, 0, -1) if bucket % number == 0)


def counted_by_bucket(recording: Recording, streams: Sequence[str]) -> DataFrame:
    """For every bucket and stream: (start, number, count, dispersion); the number is the stream's position.

    The dispersion is the variance of the numbers of elements n in m cells by their mean, 1 for arrivals by
    chance at a steady rate:

        Σ (n − N/m)² / (m − 1)  :  N/m   =   (m Σ n² − N²) / ((m − 1) N)

    It is null where a bucket cannot be cut, and where it has no elements.
    """
    number = cells(recording.bucket)
    time, length = F.col(TIME), recording.bucket // number
    start = floor_to(time, recording.bucket).alias("start")
    cell = floor_to(F.pmod(time, F.lit(recording.bucket)), length).alias("cell")
    elements = [
        recording.frames[name].select(start, F.lit(i).alias("number"), cell) for i, name in enumerate(streams)
    ]
    # Of each bucket and stream a row that is in no cell, so that those without elements are there, too.
    nothing = recording.numbered_buckets(len(streams), "number").withColumn("cell", F.lit(None).cast("long"))
    counts = F.array(*(F.count(F.when(F.col("cell") == i * length, True)) for i in range(number)))
    counted = reduce(DataFrame.unionAll, [*elements, nothing]).groupBy("start", "number")
    total, squares = F.col("count"), F.col("squares")
    varied = (number * squares - total * total) / ((number - 1) * total)
    dispersion = F.when(total > 0, varied) if number > 1 else F.lit(None).cast("double")
    return (
        counted.agg(F.count("cell").alias("count"), counts.alias("counts"))
        .withColumn("squares", F.aggregate("counts", F.lit(0).cast("long"), lambda sum_, n: sum_ + n * n))
        .select("start", "number", "count", dispersion.alias("dispersion"))
    )
