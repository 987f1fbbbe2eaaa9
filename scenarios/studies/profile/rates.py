"""How much the rate of a stream varies within buckets."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.scenarios.studies.recording import TIME, Recording, floor_to

MOST_CELLS = 16
"""A bucket is cut into so many cells at most."""


def cells(bucket: int) -> int:
    """Into how many equal cells a bucket is cut.

    >>> cells(10_800), cells(100), cells(7)
    (16, 10, 7)
    """
    return next(number for number in range(MOST_CELLS, 0, -1) if bucket % number == 0)


def counted_by_cell(recording: Recording, stream: str) -> DataFrame:
    """By bucket with elements: (start, stream, counted, dispersion).

    The dispersion is the variance of the numbers of elements n in m cells by their mean, 1 for arrivals by
    chance at a steady rate:

        Σ (n − N/m)² / (m − 1)  :  N/m   =   (m Σ n² − N²) / ((m − 1) N)

    It is null where a bucket cannot be cut.
    """
    number = cells(recording.bucket)
    cell = floor_to(F.col(TIME), recording.bucket // number).alias("cell")
    of_cells = recording.frames[stream].groupBy(cell).agg(F.count("*").alias("n"))
    total, squares = F.col("counted"), F.col("squares")
    counted = of_cells.groupBy(floor_to(F.col("cell"), recording.bucket).alias("start")).agg(
        F.sum("n").alias("counted"), F.sum(F.col("n") * F.col("n")).alias("squares")
    )
    varied = (number * squares - total * total) / ((number - 1) * total)
    dispersion = varied if number > 1 else F.lit(None).cast("double")
    return counted.select("start", F.lit(stream).alias("stream"), "counted", dispersion.alias("dispersion"))
