"""Ingested streams as data frames."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from midstream.io.ingested import read_manifest
from midstream.scenarios.studies.raw_files import SPARK_TYPES


def stored_stream(
    spark: SparkSession, folder: Path | str, stream: str, since: int | None = None, until: int | None = None
) -> DataFrame:
    """The elements of a stream that start in [since, until): columns stream, start, end, payload.

    Only files that the manifest names are read, and of these only those of the time range.

    Raises   InputFileError where there is no manifest; UnknownStreamError.
    """
    manifest = read_manifest(folder)
    name = manifest.named(stream, folder)
    columns = [StructField(column.name, SPARK_TYPES[column.type]) for column in manifest.schema(name)]
    times = [StructField("start", LongType()), StructField("end", LongType())]
    payload = [StructField("payload", StructType(columns))] if columns else []
    schema = StructType([StructField("stream", StringType()), *times, *payload])
    files = [str(Path(folder) / file.path) for file in manifest.files(name, since, until)]
    if not files:
        return spark.createDataFrame([], schema)
    frame = spark.read.schema(schema).parquet(*files)
    if since is not None:
        frame = frame.where(F.col("start") >= since)
    return frame if until is None else frame.where(F.col("start") < until)
