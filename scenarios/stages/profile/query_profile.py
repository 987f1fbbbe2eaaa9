"""The profile of a query over its streams: values of its columns, its conditions, and statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from midstream.optimizer.sampling.intervals import Interval
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import dumps, loads
from midstream.scenarios.recordings.facts import gather, gather_all, read_in_order
from midstream.scenarios.recordings.pricing import InputFacts
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.spark.arrow_schemas import spark_schema
from midstream.scenarios.stages.profile.artefact import (
    known_selectivities,
    source_inputs,
    source_questions,
    source_statistics,
)
from midstream.scenarios.stages.profile.conditions import equalities_between
from midstream.scenarios.stages.profile.drawing import drawn
from midstream.scenarios.stages.profile.predicates import (
    Counts,
    PredicateProfile,
    predicates,
    sampled_condition,
)
from midstream.scenarios.streams.recorded.inputs import (
    Group,
    PlanInput,
    Question,
    equal_names,
    questions,
    value_groups,
)

HEAVY = 10
"""The number of most frequent values that are reported."""


@dataclass(frozen=True)
class ColumnProfile:
    """A column that a query compares or groups by, of rows that pass the filters below its window.

    elements   how many have a known value; in files they are called `known`
    distinct   how many different values there are
    heavy      the most frequent values, each with its number of elements
    """

    stream: str
    column: str
    elements: int
    distinct: int
    heavy: tuple[tuple[Any, int], ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, by the names of COLUMNS."""
        return {
            "stream": self.stream,
            "column": self.column,
            "known": self.elements,
            "distinct": self.distinct,
            "heavy": [{"value": value, "count": n} for value, n in self.heavy],
        }


@dataclass(frozen=True)
class QueryProfile:
    """The profile of a query.

    columns      in all
    predicates   its conditions
    sampled      by two inputs: the share of pairs that agree on all columns that must be equal, from samples
    statistics   of its sources, over the whole time
    by_column    one row a bucket and column with known values: start, stream, column, known, distinct, heavy
                 (value, count)
    by_bucket    the counts of each bucket
    """

    columns: tuple[ColumnProfile, ...]
    predicates: tuple[PredicateProfile, ...]
    sampled: Mapping[tuple[int, int], Interval]
    statistics: Statistics
    by_column: DataFrame
    by_bucket: BucketCounts


@dataclass(frozen=True)
class BucketCounts:
    """The counts of each bucket, with the values needed to make statistics of them.

    counted_as   by source, the input that has all its elements, so that only one of both is counted
    """

    facts: DataFrame
    inputs: tuple[PlanInput, ...]
    sources: tuple[PlanInput, ...]
    counted_as: tuple[int | None, ...]
    groups: tuple[Group, ...]
    granules: Mapping[str, int]
    length: int
    selectivities: Mapping[Any, float]

    def read(self, facts: Sequence[Mapping[str, Any]] | None) -> list[InputFacts]:
        """Facts of the inputs, and then of the sources."""
        chains = [one.chain for one in (*self.inputs, *self.sources)]
        found = read_in_order(facts, chains, self.groups)
        of_inputs, of_sources = found[: len(self.inputs)], found[len(self.inputs) :]
        return [
            *of_inputs,
            *(
                known if same is None else replace(known, count=of_inputs[same].count)
                for known, same in zip(of_sources, self.counted_as, strict=True)
            ),
        ]

    def statistics(self, facts: Sequence[Mapping[str, Any]] | None) -> Statistics:
        """Statistics of the sources in a bucket, with the selectivities of the whole time."""
        found = self.read(facts)
        return source_statistics(
            self.inputs, self.sources, found, self.granules, self.length, self.selectivities
        )

    def each(self) -> Iterator[tuple[int, Statistics]]:
        """The buckets in order of time; each is bounded, and one at a time is on the driver."""
        for row in self.facts.orderBy("start").toLocalIterator():
            yield row["start"], self.statistics(row["facts"])


def query_profile(
    recording: Recording, query: Plan, inputs: Sequence[PlanInput], names: Sequence[str], counts: Counts
) -> QueryProfile:
    """Profile a query; `counts` are those of pairs of its inputs, and `names` those of the inputs.

    Cost     A pass over the streams for samples, and one more with a shuffle of as many rows as there are
             different values.
    """
    asked, groups, sources = questions(query), value_groups(query), source_inputs(inputs)
    every, of_sources = [*inputs, *sources], source_questions(sources, inputs)
    wanted = [
        *(Question(asked[one.node].columns, False) for one in inputs),
        *(question for question, _ in of_sources),
    ]
    streams = dict.fromkeys(one.stream.name for one in inputs)
    samples = drawn(recording, list(streams))
    found = predicates(query, inputs, samples, counts)
    granules = {name: recording.totals[name].granule for name in streams}
    classes = equal_names(query)
    covered = len(recording.starts) * recording.bucket
    buckets = BucketCounts(
        gather(recording, every, wanted, groups),
        tuple(inputs),
        sources,
        tuple(same for _, same in of_sources),
        groups,
        granules,
        recording.bucket,
        known_selectivities(found, classes),
    )
    counted = gather_all(recording, every, wanted, groups).collect()
    whole = buckets.read(counted[0]["facts"] if counted else None)
    sampled = {
        pair: sampled_condition(equalities, 0, pair, inputs, samples, counts[pair][0])
        for pair in combinations(range(len(inputs)), 2)
        if (equalities := equalities_between(inputs[pair[0]], inputs[pair[1]], classes))
    }
    return QueryProfile(
        columns=tuple(_columns(names, whole)),
        predicates=found,
        sampled=sampled,
        statistics=source_statistics(inputs, sources, whole, granules, covered or 1, buckets.selectivities),
        by_column=_by_column(buckets, names),
        by_bucket=buckets,
    )


def _columns(names: Sequence[str], facts: Sequence[InputFacts]) -> Iterator[ColumnProfile]:
    for name, known in zip(names, facts, strict=False):
        for column, counts in known.frequencies.items():
            kept = known.retained[column].items()
            heavy = sorted(kept, key=lambda one: (-one[1], str(one[0])))[:HEAVY]
            yield ColumnProfile(
                stream=name,
                column=column,
                elements=round(sum(counts.values())),
                distinct=known.distinct[column],
                heavy=tuple((value, round(n)) for value, n in heavy),
            )


_VALUE = pa.struct([("value", pa.string()), ("count", pa.int64())])

COLUMNS = pa.schema(
    [
        ("start", pa.int64()),
        ("stream", pa.string()),
        ("column", pa.string()),
        ("known", pa.int64()),
        ("distinct", pa.int64()),
        ("heavy", pa.list_(_VALUE)),
    ]
)


def _by_column(buckets: BucketCounts, names: Sequence[str]) -> DataFrame:
    # What is sent to the executors: plans have a form of their own to be sent in.
    chains = dumps(Plan({str(i): one.chain for i, one in enumerate([*buckets.inputs, *buckets.sources])}))
    groups = buckets.groups

    def told(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        outputs = loads(chains).outputs
        nodes = [outputs[str(i)] for i in range(len(outputs))]
        for batch in batches:
            for start, facts in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                found = _columns(names, read_in_order(facts, nodes, groups))
                rows = [_row(start, one) for one in found if one.elements]
                yield pa.RecordBatch.from_pylist(rows, schema=COLUMNS)

    return buckets.facts.mapInArrow(told, spark_schema(COLUMNS))


def _row(start: int, one: ColumnProfile) -> dict[str, Any]:
    heavy = [{"value": str(value), "count": n} for value, n in one.heavy]
    return {"start": start, **one.as_dict(), "heavy": heavy}
