"""Recorded streams as Spark data frames: read, checked, and cut into time buckets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from midstream.io.file_formats import FORMATS
from midstream.io.ingested import is_ingested, read_manifest
from midstream.io.time_units import NANOSECONDS
from midstream.plans.expressions.expressions import CONSTANT_TYPES
from midstream.plans.sql.declarations import Constant
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import of_datetime
from midstream.plans.values.schema import Column, Type
from midstream.scenarios.recordings.raw_files import RawFile, open_raw
from midstream.scenarios.spark.arrow_schemas import payload_field, spark_schema
from midstream.scenarios.spark.spark_errors import SPARK_ERRORS, failed, reason
from midstream.scenarios.streams.recorded.declaration import FOLDER, RecordedStream, Study

TIME = "time"
"""The column of a stream's frame with the starts of its elements."""

FARTHEST = 1 << 61
"""The farthest time from 0, in chronons: sums of a few times and windows are 64-bit integers, too."""

_TORN = "torn"


@dataclass(frozen=True)
class StreamTotals:
    """The totals of a stream.

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
    """The streams of a study, read and checked against their declarations.

    frames    by stream, a data frame with the column `time` and the payload as c0, c1, …
    totals    by stream, its totals
    bucket    the length of a time bucket, in chronons
    """

    spark: SparkSession
    frames: Mapping[str, DataFrame]
    totals: Mapping[str, StreamTotals]
    bucket: int

    @property
    def starts(self) -> range:
        """The starts of the buckets that the streams cover together, including empty ones."""
        firsts = [total.first for total in self.totals.values() if total.first is not None]
        lasts = [total.last for total in self.totals.values() if total.last is not None]
        if not firsts:
            return range(0, 0, self.bucket)
        return range(min(firsts) // self.bucket * self.bucket, max(lasts) + 1, self.bucket)

    def buckets(self) -> DataFrame:
        """A data frame with the starts of all buckets as `start`."""
        starts = self.starts
        return self.spark.range(starts.start, starts.stop, starts.step).select(F.col("id").alias("start"))

    def numbered_buckets(self, count: int, number: str) -> DataFrame:
        """The starts of all buckets, each so many times, with numbers from 0 on in a column of this name."""
        return self.buckets().select("start", F.explode(F.array(*map(F.lit, range(count)))).alias(number))


def payload(position: int) -> str:
    """The name of the column with a position of the payload."""
    return f"c{position}"


def floor_to(time: Value, length: int) -> Value:
    """The start of the cell of some length that holds a time; exact for all integers, negative ones too."""
    return time - F.pmod(time, F.lit(length))


def cell_number(time: Value, first: int, length: int) -> Value:
    """The number of the cell of some length that a time is in, exact for all integers.

    Cells count from the one that starts at `first`, which is no later than the time.
    """
    return F.call_function("div", time - F.lit(first), F.lit(length))


def text_of(value: Value, *, with_floats: bool) -> Value:
    """A value as a text; texts are equal only where values are; with floats, it is compared as a float."""
    # Adding 0 turns −0.0 into 0.0, which it is equal to.
    return (value.cast("double") + F.lit(0.0) if with_floats else value).cast("string")


@contextmanager
def open_recording(spark: SparkSession, study: Study, bucket: int) -> Iterator[Recording]:
    """Read the streams of a study, within its time range, and check them.

    While the block runs, streams that had to be parsed are kept in executors' memory or on their disks.
    Ingested streams are read again for each question about them, which is quicker.

    Cost     One pass over each file, however many streams it holds.
    Raises   InputFileError, naming file, stream and column, what was found and what was expected; and where
             Spark fails at the block's work, naming the file if there is one.
    """
    read = [_read(spark, study, together) for together in _by_file(study)]
    frames = {name: frame for file in read for name, frame in file.frames().items()}
    kept = [file.rows for file in read if file.is_parsed]
    try:
        for frame in kept:
            frame.persist()
        totals = _totals(study, read)
        yield Recording(spark, {name: frames[name] for name in study.streams}, totals, bucket)
    except SPARK_ERRORS as error:
        # Whatever the block did with the streams: a file may turn out to be torn where it is read at last.
        raise failed(f"study {study.name}", error) from error
    finally:
        for frame in kept:
            frame.unpersist()


@dataclass(frozen=True)
class _InStream:
    """A row as an element of a stream: if it belongs to the stream, its start, its payload, and its fault.

    The fault is null where there is none.
    """

    belongs: Value
    time: Value
    values: tuple[Value, ...]
    misfit: Value


@dataclass(frozen=True)
class _Read:
    """The rows read of some streams that are in one place."""

    rows: DataFrame
    streams: Mapping[str, _InStream]
    is_parsed: bool

    def frames(self) -> dict[str, DataFrame]:
        """The elements of each stream."""
        return {
            name: self.rows.where(one.belongs).select(
                one.time.alias(TIME), *(value.alias(payload(i)) for i, value in enumerate(one.values))
            )
            for name, one in self.streams.items()
        }

    def totals(self, windows: Mapping[str, int]) -> DataFrame:
        """A row for each stream with its totals and misfits, found in one pass."""
        # Not by grouping: where the first text of a group is asked for, Spark sorts all rows.
        columns = [
            F.when(one.belongs, value).alias(f"{what}{i}")
            for i, one in enumerate(self.streams.values())
            for what, value in (("time", one.time), ("misfit", one.misfit))
        ]
        totals = [F.expr(_total(i, windows[name])).alias(f"s{i}") for i, name in enumerate(self.streams)]
        named = [F.struct(F.lit(name).alias("name"), f"s{i}.*") for i, name in enumerate(self.streams)]
        return self.rows.select(*columns).agg(*totals).select(F.inline(F.array(*named)))


def _total(number: int, window: int) -> str:
    """The totals of a stream by its number, in SQL."""
    time, misfit = f"time{number}", f"misfit{number}"
    return (
        f"struct(count({misfit}) AS misfits, min({misfit}) AS misfit, count({time}) AS count, "
        f"min({time}) AS first, max({time}) AS last, {granule(time, window)} AS granule)"
    )


def _by_file(study: Study) -> list[list[RecordedStream]]:
    """The streams, grouped by the file that one pass reads; ingested streams stand alone."""
    found: list[list[RecordedStream]] = []
    for stream in study.streams.values():
        for together in found:
            if _may_be_read_with(together, stream):
                together.append(stream)
                break
        else:
            found.append([stream])
    return found


def _may_be_read_with(together: Sequence[RecordedStream], stream: RecordedStream) -> bool:
    """True if a stream is in the same file as others, and takes no column of it for another type."""
    first = together[0]
    if stream.format == FOLDER or _place_of(stream) != _place_of(first):
        return False
    types = {column.name: column.type for one in together for column in _columns(one)}
    return all(types.get(column.name, column.type) is column.type for column in _columns(stream))


def _place_of(stream: RecordedStream) -> tuple[object, ...]:
    return stream.path, stream.format, stream.unknown


def _read(spark: SparkSession, study: Study, streams: Sequence[RecordedStream]) -> _Read:
    """Read some streams of one file."""
    first = streams[0]
    if first.format == FOLDER:
        (stream,) = streams
        return _read_ingested(spark, study, stream)
    columns = [column for stream in streams for column in _columns(stream)]
    by_name = {column.name: column for column in columns}
    raw = open_raw(spark, first.path, first.format, by_name, first.unknown)
    values = {column: f"v{i}" for i, column in enumerate(dict.fromkeys(columns))}
    checked = {_checked(stream): f"m{i}" for i, stream in enumerate(streams)}
    rows = raw.frame.select(
        raw.unreadable.isNotNull().alias(_TORN),
        *(raw.value(column).alias(name) for column, name in values.items()),
        *(F.coalesce(_torn(raw), *map(raw.misfit, of)).alias(name) for of, name in checked.items()),
    )
    belongs = {stream.name: _belongs(study, stream, values) for stream in streams}
    in_streams = {
        stream.name: _InStream(
            belongs[stream.name],
            F.col(values[_time(stream)]),
            tuple(F.col(values[column]) for column in stream.columns),
            F.col(checked[_checked(stream)]),
        )
        for stream in streams
    }
    return _Read(rows.where(reduce(or_, belongs.values())), in_streams, is_parsed=True)


def _time(stream: RecordedStream) -> Column:
    return Column(stream.time, Type.INTEGER)


def _checked(stream: RecordedStream) -> tuple[Column, ...]:
    """The columns of a file whose values must be as declared."""
    return (_time(stream), *stream.columns)


def _columns(stream: RecordedStream) -> list[Column]:
    """All columns of a file that a stream is made of."""
    return [*_filters(stream), *_checked(stream)]


def _filters(stream: RecordedStream) -> dict[Column, Constant]:
    """By column of a file, the value that rows of the stream have there."""
    return {Column(name, CONSTANT_TYPES[type(value)]): value for name, value in stream.where.items()}


def _belongs(study: Study, stream: RecordedStream, values: Mapping[Column, str]) -> Value:
    """True for a row of a stream that starts in the study's time range, or has no time, which is an error."""
    is_one = [F.col(values[column]).eqNullSafe(F.lit(value)) for column, value in _filters(stream).items()]
    # A row that cannot be taken apart may belong to the stream.
    is_of_stream = F.col(_TORN) | reduce(and_, is_one, F.lit(True))
    time = F.col(values[_time(stream)])
    starts = [] if study.since is None else [time >= study.since]
    starts += [] if study.until is None else [time < study.until]
    return is_of_stream & reduce(and_, [one | time.isNull() for one in starts], F.lit(True))


def _read_ingested(spark: SparkSession, study: Study, stream: RecordedStream) -> _Read:
    """Read the elements of an ingested or generated stream, which must fit its declaration."""
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
    values = tuple(F.col("payload").getField(column.name) for column in stream.columns)
    rows = stored_stream(spark, stream.path, name, study.since, study.until)
    nothing = F.lit(None).cast("string")
    return _Read(
        rows, {stream.name: _InStream(F.lit(True), F.col("start"), values, nothing)}, is_parsed=False
    )


def stored_stream(
    spark: SparkSession, folder: Path | str, stream: str, since: int | None = None, until: int | None = None
) -> DataFrame:
    """The elements of an ingested stream that start in [since, until): columns stream, start, end, payload.

    Only files that the manifest names are read, and of these only those of the time range.

    Raises   InputFileError where there is no manifest; UnknownStreamError.
    """
    manifest = read_manifest(folder)
    name = manifest.named(stream, folder)
    own = [("stream", pa.string()), ("start", pa.int64()), ("end", pa.int64())]
    schema = spark_schema(pa.schema([*own, *payload_field(manifest.schema(name))]))
    files = [str(Path(folder) / file.path) for file in manifest.files(name, since, until)]
    if not files:
        return spark.createDataFrame([], schema)
    frame = spark.read.schema(schema).parquet(*files)
    if since is not None:
        frame = frame.where(F.col("start") >= since)
    return frame if until is None else frame.where(F.col("start") < until)


def _torn(raw: RawFile) -> Value:
    found = F.concat(F.lit("found the row "), F.substring(raw.unreadable, 1, 200))
    return F.when(
        raw.unreadable.isNotNull(), F.concat(found, F.lit(", expected one with all declared columns"))
    )


def _totals(study: Study, read: Sequence[_Read]) -> dict[str, StreamTotals]:
    """Count each stream.

    Raises   InputFileError for the first that is not as declared, with one misfit.
    """
    windows = {name: stream.window for name, stream in study.streams.items()}
    try:
        counted = reduce(DataFrame.unionAll, (file.totals(windows) for file in read))
        found = {row["name"]: row for row in counted.collect()}
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


def granule(time: str, window: int) -> str:
    """An aggregate in SQL: the largest divisor of a window that divides all known times of a column.

    Without any known time, it is the window.
    """
    common = ["1L"]
    for prime, exponent in factors(window).items():
        powers = [f"{prime**k}L" for k in range(exponent + 1)]
        exponents = " + ".join(f"int(pmod({time}, {power}) = 0)" for power in powers[1:])
        common.append(f"array({', '.join(powers)})[coalesce(min({exponents}), {exponent})]")
    return " * ".join(common)


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
