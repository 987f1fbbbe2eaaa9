"""The profile of recorded streams: rates, (d, l, g) and join selectivities, bucket by bucket and in all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.scenarios.studies.declaration import RecordedStream, Study
from midstream.scenarios.studies.inputs import equal_names
from midstream.scenarios.studies.pairs import Pair, count_pairs
from midstream.scenarios.studies.recording import TIME, Recording, floor_to


@dataclass(frozen=True)
class StreamProfile:
    """A whole stream: how many elements it has, and (d, l, g) in chronons, as in StreamStatistics."""

    stream: str
    count: int
    d: float
    l: float  # noqa: E741 - the model's own letter
    g: int


@dataclass(frozen=True)
class PairProfile:
    """Two streams: how many pairs of elements are valid together, and how many of these agree on columns.

    on    the equalities, in words; empty where there are none
    """

    left: str
    right: str
    on: str
    overlapping: int
    matched: int

    @property
    def selectivity(self) -> float | None:
        """The share of the overlapping pairs that agree; None where there is no pair."""
        return self.matched / self.overlapping if self.overlapping else None


@dataclass(frozen=True)
class Profile:
    """What was found of a study's streams.

    by_stream      one row a bucket and stream: start, stream, count, rate, d, l, g
    by_pair        one row a bucket and pair: start, pair (its position), left, right, on, overlapping,
                   matched, selectivity
    streams, pairs the same in all

    A pair belongs to the bucket of its later start. Rates are elements per chronon; starts, d, l and g are
    chronons.
    """

    starts: range
    streams: tuple[StreamProfile, ...]
    pairs: tuple[PairProfile, ...]
    by_stream: DataFrame
    by_pair: DataFrame


@contextmanager
def profile(recording: Recording, study: Study) -> Iterator[Profile]:
    """Profile recorded streams. The data frames are at hand while the block runs.

    Cost     See `count_pairs`; besides, one shuffle of as many rows as there are buckets with elements.
    """
    pairs = compared(study)
    by_stream = _by_stream(recording, study)
    by_pair = _by_pair(recording, study, pairs).persist()
    try:
        covered = len(recording.starts) * recording.bucket
        yield Profile(
            starts=recording.starts,
            streams=tuple(_stream(recording, stream, covered) for stream in study.streams.values()),
            pairs=_pairs(study, pairs, by_pair),
            by_stream=by_stream,
            by_pair=by_pair,
        )
    finally:
        by_pair.unpersist()


def compared(study: Study) -> tuple[Pair, ...]:
    """The pairs of streams to compare, and on which columns.

    With a query: every two streams on the columns that it makes equal, directly or by way of a third
    stream. Without one: every two streams on each column that both have.
    """
    streams = list(study.streams.values())
    if study.query is None:
        return tuple(
            Pair(one.name, other.name, ((name, name),))
            for one, other in combinations(streams, 2)
            for name in one.columns.names
            if name in other.columns and one.columns[name].type is other.columns[name].type
        )
    classes = equal_names(study.query)
    read = {source.stream for source in study.query.sources}
    return tuple(
        Pair(one.name, other.name, _equated(one, other, classes))
        for one, other in combinations([stream for stream in streams if stream.name in read], 2)
    )


def words(study: Study, pair: Pair) -> str:
    """The equalities of a pair, with the names that the query uses."""
    left, right = study.streams[pair.left], study.streams[pair.right]
    return " and ".join(f"{left.qualified(one)} = {right.qualified(other)}" for one, other in pair.on)


def _equated(
    one: RecordedStream, other: RecordedStream, classes: Sequence[set[str]]
) -> tuple[tuple[str, str], ...]:
    return tuple(
        (left, right)
        for names in classes
        for left in one.columns.names
        for right in other.columns.names
        if one.qualified(left) in names and other.qualified(right) in names
    )


def _stream(recording: Recording, stream: RecordedStream, covered: int) -> StreamProfile:
    total = recording.totals[stream.name]
    d = covered / total.count if total.count else math.inf
    return StreamProfile(stream.name, total.count, d, float(stream.window), total.granule)


def _by_stream(recording: Recording, study: Study) -> DataFrame:
    start = floor_to(F.col(TIME), recording.bucket).alias("start")
    named = [frame.select(F.lit(name).alias("stream"), start) for name, frame in recording.frames.items()]
    counted = reduce(DataFrame.unionAll, named).groupBy("stream", "start").agg(F.count("*").alias("counted"))
    constants = [
        {"stream": name, "l": float(stream.window), "g": recording.totals[name].granule}
        for name, stream in study.streams.items()
    ]
    length = F.lit(float(recording.bucket))
    count = F.coalesce("counted", F.lit(0).cast("long"))
    return (
        _in_every_bucket(recording, constants)
        .join(counted, ["start", "stream"], "left")
        .select(
            "start",
            "stream",
            count.alias("count"),
            (count / length).alias("rate"),
            F.when(count > 0, length / count).otherwise(math.inf).alias("d"),
            "l",
            "g",
        )
    )


def _by_pair(recording: Recording, study: Study, pairs: Sequence[Pair]) -> DataFrame:
    constants = [
        {"pair": i, "left": pair.left, "right": pair.right, "on": words(study, pair)}
        for i, pair in enumerate(pairs)
    ]
    if not pairs:
        return recording.spark.createDataFrame([], PAIR_COLUMNS)
    every = _in_every_bucket(recording, constants).join(
        count_pairs(recording, study, pairs), ["start", "pair"], "left"
    )
    counts = [F.coalesce(name, F.lit(0).cast("long")).alias(name) for name in ("overlapping", "matched")]
    share = F.when(F.col("overlapping") > 0, F.col("matched") / F.col("overlapping"))
    return every.select("start", "pair", "left", "right", "on", *counts).withColumn("selectivity", share)


PAIR_COLUMNS = (
    "start long, pair int, left string, right string, on string, "
    "overlapping long, matched long, selectivity double"
)


def _in_every_bucket(recording: Recording, rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Some constant rows, once for every bucket."""
    structs = [F.struct(*(F.lit(value).alias(name) for name, value in row.items())) for row in rows]
    return (
        recording.buckets()
        .select("start", F.explode(F.array(*structs)).alias("row"))
        .select("start", "row.*")
    )


def _pairs(study: Study, pairs: Sequence[Pair], by_pair: DataFrame) -> tuple[PairProfile, ...]:
    summed = by_pair.groupBy("pair").agg(
        F.sum("overlapping").alias("overlapping"), F.sum("matched").alias("matched")
    )
    found = {row["pair"]: (row["overlapping"], row["matched"]) for row in summed.collect()}
    return tuple(
        PairProfile(pair.left, pair.right, words(study, pair), *found.get(i, (0, 0)))
        for i, pair in enumerate(pairs)
    )
