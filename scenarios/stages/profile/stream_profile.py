"""The profile of recorded streams: rates, (d, l, g) and join selectivities, by bucket and in total."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from pyspark.sql import Column as Value
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.optimizer.sampling.intervals import Interval
from midstream.scenarios.recordings.derived import elements_of
from midstream.scenarios.recordings.pairs import Pair, count_pairs
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.stages.profile.query_profile import QueryProfile, query_profile
from midstream.scenarios.stages.profile.rates import counted_by_bucket
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study
from midstream.scenarios.streams.recorded.inputs import PlanInput, equal_names, plan_inputs


@dataclass(frozen=True)
class StreamProfile:
    """A stream's number of elements, and (d, l, g) in chronons, as in StreamStatistics."""

    stream: str
    count: int
    d: float
    l: float  # noqa: E741 - the model's own letter
    g: int


@dataclass(frozen=True)
class PairProfile:
    """The pairs of two streams: how many elements are valid together, and how many of these agree on columns.

    on        the equalities, in words; empty where there are none
    sampled   with a query: the share of the pairs that agree, by a sample
    """

    left: str
    right: str
    on: str
    overlapping: int
    matched: int
    sampled: Interval | None = None

    @property
    def selectivity(self) -> float | None:
        """The share of the overlapping pairs that agree; None where there is no pair."""
        return self.matched / self.overlapping if self.overlapping else None


@dataclass(frozen=True)
class Profile:
    """The profile of a study's streams.

    by_stream      one row a bucket and stream: start, stream, count, rate, d, l, g, dispersion (see
                   `counted_by_bucket`)
    by_pair        one row a bucket and pair: start, pair (its position), left, right, on, overlapping,
                   matched, selectivity
    streams, pairs of the whole time
    asked          the profile of a query's columns and conditions; None without a query

    Without a query pairs are of streams, with one they are of its inputs: of elements that pass the filters
    below windows. A pair belongs to the bucket of its later start. Rates are elements per chronon; starts, d,
    l and g are chronons.
    """

    starts: range
    streams: tuple[StreamProfile, ...]
    pairs: tuple[PairProfile, ...]
    by_stream: DataFrame
    by_pair: DataFrame
    asked: QueryProfile | None


@contextmanager
def profile(recording: Recording, study: Study) -> Iterator[Profile]:
    """Profile recorded streams; the data frames are at hand while the block runs.

    Cost     See `count_pairs`; besides, one shuffle of as many rows as there are buckets with elements.
    """
    query = study.query
    inputs: tuple[PlanInput, ...] = ()
    compared_recording, compared_study = recording, study
    if query is not None:
        inputs = plan_inputs(query, study.streams)
        # Shown in the order of the streams, known by their places in the query.
        streams = list(study.streams)
        order = sorted(range(len(inputs)), key=lambda i: streams.index(inputs[i].stream.name))
        places = [(min(pair), max(pair)) for pair in combinations(order, 2)]
        compared_recording, compared_study = as_streams(recording, study, [inputs[i] for i in order])
        names = {i: name for i, name in zip(order, compared_study.streams, strict=True)}
    pairs = compared(compared_study)
    by_stream = _by_stream(recording, study).persist()
    by_pair = _by_pair(compared_recording, compared_study, pairs).persist()
    try:
        found = _pairs(compared_study, pairs, by_pair)
        asked = None
        if query is not None:
            counts = {of: (pair.overlapping, pair.matched) for of, pair in zip(places, found, strict=True)}
            asked = query_profile(recording, query, inputs, [names[i] for i in sorted(names)], counts)
            shown = list(names.values())
            columns = sorted(asked.columns, key=lambda column: shown.index(column.stream))
            asked = replace(asked, columns=tuple(columns))
            found = tuple(
                replace(pair, sampled=asked.sampled.get(of)) for of, pair in zip(places, found, strict=True)
            )
        covered = len(recording.starts) * recording.bucket
        yield Profile(
            starts=recording.starts,
            streams=tuple(_stream(recording, stream, covered) for stream in study.streams.values()),
            pairs=found,
            by_stream=by_stream,
            by_pair=by_pair,
            asked=asked,
        )
    finally:
        by_stream.unpersist()
        by_pair.unpersist()


def as_streams(recording: Recording, study: Study, inputs: Sequence[PlanInput]) -> tuple[Recording, Study]:
    """The inputs of a query as if they had been recorded: with its names, and without filtered elements.

    Filters below windows count. A stream that is read twice becomes two.
    """
    streams: dict[str, RecordedStream] = {}
    frames = {}
    for one in inputs:
        times = sum(1 for before in streams if before.split(" #")[0] == one.stream.name)
        name = one.stream.name if not times else f"{one.stream.name} #{times + 1}"
        streams[name] = replace(one.stream, name=name, columns=one.chain.schema, window=one.length)
        frames[name] = elements_of(recording, one)
    return replace(recording, frames=frames), replace(study, streams=streams)


def compared(study: Study) -> tuple[Pair, ...]:
    """The pairs of streams to compare, with the columns.

    With a query: every two of its inputs (see `as_streams`) on the columns that it makes equal, directly or
    by way of a third one. Without one: every two streams on each column that both have.
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
    return tuple(
        Pair(one.name, other.name, _equated(one, other, classes)) for one, other in combinations(streams, 2)
    )


def words(pair: Pair) -> str:
    """The equalities of a pair, with the names that the query uses."""
    return " and ".join(f"{one} = {other}" for one, other in pair.on)


def _equated(
    one: RecordedStream, other: RecordedStream, classes: Sequence[set[str]]
) -> tuple[tuple[str, str], ...]:
    return tuple(
        (left, right)
        for names in classes
        for left in one.columns.names
        for right in other.columns.names
        if left in names and right in names
    )


def _stream(recording: Recording, stream: RecordedStream, covered: int) -> StreamProfile:
    total = recording.totals[stream.name]
    d = covered / total.count if total.count else math.inf
    return StreamProfile(stream.name, total.count, d, float(stream.window), total.granule)


def _by_stream(recording: Recording, study: Study) -> DataFrame:
    constants = [
        {"stream": name, "l": float(stream.window), "g": recording.totals[name].granule}
        for name, stream in study.streams.items()
    ]
    length, count = F.lit(float(recording.bucket)), F.col("count")
    return counted_by_bucket(recording, list(study.streams)).select(
        "start",
        _constant(constants, "number", "stream"),
        "count",
        (count / length).alias("rate"),
        F.when(count > 0, length / count).otherwise(math.inf).alias("d"),
        _constant(constants, "number", "l"),
        _constant(constants, "number", "g"),
        "dispersion",
    )


def _by_pair(recording: Recording, study: Study, pairs: Sequence[Pair]) -> DataFrame:
    constants = [{"left": pair.left, "right": pair.right, "on": words(pair)} for pair in pairs]
    if not pairs:
        return recording.spark.createDataFrame([], PAIR_COLUMNS)
    share = F.when(F.col("overlapping") > 0, F.col("matched") / F.col("overlapping"))
    return count_pairs(recording, study, pairs, in_every_bucket=True).select(
        "start",
        "pair",
        *(_constant(constants, "pair", name) for name in ("left", "right", "on")),
        "overlapping",
        "matched",
        share.alias("selectivity"),
    )


PAIR_COLUMNS = (
    "start long, pair int, left string, right string, on string, "
    "overlapping long, matched long, selectivity double"
)


def _constant(rows: Sequence[Mapping[str, Any]], number: str, name: str) -> Value:
    """The value that constant rows have under a name, for the number of a row."""
    return F.array(*(F.lit(row[name]) for row in rows))[F.col(number)].alias(name)


def _pairs(study: Study, pairs: Sequence[Pair], by_pair: DataFrame) -> tuple[PairProfile, ...]:
    summed = by_pair.groupBy("pair").agg(
        F.sum("overlapping").alias("overlapping"), F.sum("matched").alias("matched")
    )
    found = {row["pair"]: (row["overlapping"], row["matched"]) for row in summed.collect()}
    return tuple(
        PairProfile(pair.left, pair.right, words(pair), *found.get(i, (0, 0))) for i, pair in enumerate(pairs)
    )
