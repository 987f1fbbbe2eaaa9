"""Recorded streams as Spark data frames: read, checked, and cut into time buckets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import add, and_

from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from midstream.io.ingested import is_ingested, read_manifest
from midstream.io.time_units import NANOSECONDS
from midstream.plans.expressions.expressions import CONSTANT_TYPES
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import of_datetime
from midstream.plans.values.schema import Column, Type
from midstream.scenarios.studies.declaration import FOLDER, FORMATS, RecordedStream, Study
from midstream.scenarios.studies.ingest.stored import stored_stream
from midstream.scenarios.studies.raw_files import RawFile, open_raw
from midstream.scenarios.studies.spark_errors import SPARK_ERRORS, failed, reason

TIME = "time"
"""The column of a stream's frame with the starts of its elements."""

FARTHEST = 1 << 61
"""How far from 0 a time may be: sums of a few times and windows are 64-bit integers, too."""

_MISFIT = "misfit"


@dataclass(frozen=True)
class StreamTotals:
    """A whole stream.

    count      how many elements it has
    first      when the first one starts, and `last` the last one; None where there is none
    granule    the largest number of chronons that divides all starts and ends
    """

    count: int
    first: int | None
    last: int | None
    granule: int


@dataclass(frozen=True)
class Recording:
    """The streams of a study, read and found to be as declared.

    frames    by stream, a data frame with the column `time` and the payload as c0, c1, …
    totals    by stream, what is known of the whole
    bucket    the length of a time bucket, in chronons
    """

    spark: SparkSession
    frames: Mapping[str, DataFrame]
    totals: Mapping[str, StreamTotals]
    bucket: int

    @property
    def starts(self) -> range:
        """Where the buckets start that the streams cover together, those without elements included."""
        firsts = [total.first for total in self.totals.values() if total.first is not None]
        lasts = [total.last for total in self.totals.values() if total.last is not None]
        if not firsts:
            return range(0, 0, self.bucket)
        return range(min(firsts) // self.bucket * self.bucket, max(lasts) + 1, self.bucket)

    def buckets(self) -> DataFrame:
        """A data frame with the starts of all buckets as `start`."""
        starts = self.starts
        return self.spark.range(starts.start, starts.stop, starts.step).select(F.col("id").alias("start"))


def payload(position: int) -> str:
    """The column of a stream's frame that holds a position of the payload."""
    return f"c{position}"


def floor_to(time: Value, length: int) -> Value:
    """The start of the cell of some length that a time is in; exact for all integers, negative ones too."""
    return time - F.pmod(time, F.lit(length))


@contextmanager
def open_recording(spark: SparkSession, study: Study, bucket: int) -> Iterator[Recording]:
    """Read the streams of a study, within its time range, and check them.

    While the block runs, streams that had to be parsed are kept in executors' memory or on their disks;
    those that were ingested are read again whenever something is asked of them, which is quicker.

    Cost     One pass over each stream's file.
    Raises   InputFileError, naming file, stream and column, what was found and what was expected; and where
             Spark fails at what the block does, naming the file, if it was one.
    """
    read = {name: _within(study, _read(spark, study, stream)) for name, stream in study.streams.items()}
    kept = [frame for name, frame in read.items() if study.streams[name].format != FOLDER]
    try:
        for frame in kept:
            frame.persist()
        totals = _totals(study, read)
        yield Recording(spark, {name: frame.drop(_MISFIT) for name, frame in read.items()}, totals, bucket)
    except SPARK_ERRORS as error:
        # Whatever the block did with the streams: a file may turn out to be torn where it is read at last.
        raise failed(f"study {study.name}", error) from error
    finally:
        for frame in kept:
            frame.unpersist()


def _within(study: Study, frame: DataFrame) -> DataFrame:
    """What starts in the study's time range, and what has no time, which is told of."""
    time = F.col(TIME)
    if study.since is not None:
        frame = frame.where((time >= study.since) | time.isNull())
    return frame if study.until is None else frame.where((time < study.until) | time.isNull())


def _read(spark: SparkSession, study: Study, stream: RecordedStream) -> DataFrame:
    """The stream's elements, with what is wrong with each, if anything, in a further column."""
    if stream.format == FOLDER:
        return _read_ingested(spark, study, stream)
    time = Column(stream.time, Type.INTEGER)
    filters = {name: Column(name, CONSTANT_TYPES[type(value)]) for name, value in stream.where.items()}
    columns = {**filters, stream.time: time, **{column.name: column for column in stream.columns}}
    raw = open_raw(spark, stream.path, stream.format, columns)
    values = {TIME: raw.value(time)} | {payload(i): raw.value(c) for i, c in enumerate(stream.columns)}
    return raw.frame.where(_belongs(raw, stream, filters)).select(
        *(value.alias(name) for name, value in values.items()),
        F.coalesce(_torn(raw), *map(raw.misfit, (time, *stream.columns))).alias(_MISFIT),
    )


def _read_ingested(spark: SparkSession, study: Study, stream: RecordedStream) -> DataFrame:
    """The elements of a stream that has been ingested, or generated, as it is declared now."""
    place = f"{stream.path}, stream {stream.name}"
    if not is_ingested(stream.path):
        expected = f"a folder that ingest has made, or a name that ends in one of {', '.join(FORMATS)}"
        raise InputFileError(f"{place}: found no manifest, expected {expected}", path=stream.path)
    manifest = read_manifest(stream.path)
    name = manifest.named(stream.name, stream.path)
    stored = {column.name: str(column) for column in manifest.schema(name)}
    columns = {column.name: str(column) for column in stream.columns}
    epoch = manifest.epoch if study.clock.epoch is None else of_datetime(study.clock.epoch)
    facts: list[tuple[str, object, object]] = [
        ("nanoseconds of a chronon", manifest.chronon, NANOSECONDS[study.clock.unit]),
        ("chronon 0", manifest.epoch, epoch),
        ("where", manifest.streams[name].get("where", {}), dict(stream.where)),
        *((f"column {one}", stored.get(one, "no such column"), columns[one]) for one in columns),
    ]
    for what, found, declared in facts:
        if found != declared:
            raise InputFileError(f"{place}, {what}: found {found}, expected {declared}", path=stream.path)
    values = [F.col("payload").getField(column.name) for column in stream.columns]
    return stored_stream(spark, stream.path, name, study.since, study.until).select(
        F.col("start").alias(TIME),
        *(value.alias(payload(i)) for i, value in enumerate(values)),
        F.lit(None).cast("string").alias(_MISFIT),
    )


def _belongs(raw: RawFile, stream: RecordedStream, filters: Mapping[str, Column]) -> Value:
    conditions = [raw.value(filters[name]).eqNullSafe(F.lit(value)) for name, value in stream.where.items()]
    # A row that cannot be taken apart may belong to the stream.
    return raw.unreadable.isNotNull() | reduce(and_, conditions, F.lit(True))


def _torn(raw: RawFile) -> Value:
    found = F.concat(F.lit("found the row "), F.substring(raw.unreadable, 1, 200))
    return F.when(
        raw.unreadable.isNotNull(), F.concat(found, F.lit(", expected one with all declared columns"))
    )


def _totals(study: Study, read: Mapping[str, DataFrame]) -> dict[str, StreamTotals]:
    """Count each stream. Raises InputFileError for the first that is not as declared, with one misfit."""
    counted = [
        frame.agg(
            F.lit(name).alias("name"),
            F.count(_MISFIT).alias("misfits"),
            F.min(_MISFIT).alias("misfit"),
            F.count(TIME).alias("count"),
            F.min(TIME).alias("first"),
            F.max(TIME).alias("last"),
            granule(F.col(TIME), study.streams[name].window).alias("granule"),
        )
        for name, frame in read.items()
    ]
    try:
        found = {row["name"]: row for row in reduce(DataFrame.unionAll, counted).collect()}
    except SPARK_ERRORS as error:
        paths = ", ".join(dict.fromkeys(stream.path for stream in study.streams.values()))
        raise InputFileError(f"{paths}: could not be read: {reason(error)}", path=paths) from error
    for name, stream in study.streams.items():
        if misfits := found[name]["misfits"]:
            others = "" if misfits == 1 else f"; {misfits:,} rows are not as declared"
            raise InputFileError(
                f"{stream.path}, stream {name}, {found[name]['misfit']}{others}",
                path=stream.path,
                stream=name,
            )
        for time in (found[name]["first"], found[name]["last"]):
            if time is not None and abs(time) > FARTHEST:
                raise InputFileError(
                    f"{stream.path}, stream {name}: found the time {time}, expected none beyond ±2^61",
                    path=stream.path,
                    stream=name,
                )
    return {
        name: StreamTotals(row["count"], row["first"], row["last"], row["granule"])
        for name, row in found.items()
    }


def granule(time: Value, window: int) -> Value:
    """An aggregate: the largest divisor of a window that divides all times; without times, the window."""
    common = F.lit(1).cast("long")
    for prime, exponent in factors(window).items():
        divisible = [
            F.when(F.pmod(time, F.lit(prime**k)) == 0, 1).otherwise(0) for k in range(1, exponent + 1)
        ]
        least = F.coalesce(F.min(reduce(add, divisible)), F.lit(exponent))
        common = common * F.element_at(
            F.array(*(F.lit(prime**k).cast("long") for k in range(exponent + 1))), least + 1
        )
    return common


def factors(number: int) -> dict[int, int]:
    """The exponents of a number's primes.

    >>> factors(3600)
    {2: 4, 3: 2, 5: 2}
    """
    found: dict[int, int] = {}
    divisor = 2
    while number > 1:
        if divisor * divisor > number:
            divisor = number
        while number % divisor == 0:
            found[divisor] = found.get(divisor, 0) + 1
            number //= divisor
        divisor += 1
    return found
