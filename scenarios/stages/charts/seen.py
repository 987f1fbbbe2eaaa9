"""The measures that charts vary, rates and selectivities, read off recorded streams bucket by bucket."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame

from midstream.optimizer.charts.measures import Measure, Rate, SelectivityMeasure, measures_of
from midstream.optimizer.statistics import Statistics, StreamStatistics
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.scenarios.recordings.facts import gather, read_facts
from midstream.scenarios.recordings.pricing import bucket_statistics
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.spark.arrow_schemas import spark_schema
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import Group, Member, PlanInput, Question, plan_inputs

READ = pa.schema([("start", pa.int64()), ("values", pa.list_(pa.float64()))])


@dataclass(frozen=True)
class BucketMeasures:
    """The measures of a plan's streams, by bucket and over the whole time.

    measures     all that may change in the plan, rates first
    values       by bucket in which every stream has elements: its start, and its values of the measures; None
                 for a measure that the bucket does not tell
    statistics   of the whole time: rates, and mean selectivities, weighted by rows or pairs
    """

    measures: tuple[Measure, ...]
    values: Mapping[int, tuple[float | None, ...]]
    statistics: Statistics

    def rounds(self, measures: Sequence[Measure]) -> dict[int, tuple[float, ...]]:
        """By the start of a bucket, its values of some measures; buckets that lack a value are left out."""
        positions = [self.measures.index(one) for one in measures]
        found = {}
        for start, values in self.values.items():
            told = [value for i in positions if (value := values[i]) is not None]
            if len(told) == len(positions):
                found[start] = tuple(told)
        return found

    def by_round(self) -> Iterator[Statistics]:
        """Statistics bucket by bucket: those of the whole time, with the values that the bucket tells."""
        for values in self.values.values():
            here = self.statistics
            for measure, value in zip(self.measures, values, strict=True):
                here = here if value is None else measure.change(here, value)
            yield here


def measure_buckets(recording: Recording, study: Study, plan: Plan) -> BucketMeasures:
    """Measure the rates and selectivities of a plan in the buckets of recorded streams.

    Cost     See `gather`; one number for each bucket and measure comes to the driver.
    Raises   PlanError where the plan does not fit the recorded streams.
    """
    plan_inputs(plan, study.streams)
    inputs = [
        PlanInput(node, node, study.streams[node.operator.stream], 1)
        for node in plan.nodes
        if isinstance(node.operator, Source)
    ]
    sources = [one.node for one in inputs]
    measures = tuple(measures_of([plan]).values())
    groups = value_groups(sources, measures)
    facts = gather(recording, inputs, [_question(node, measures) for node in sources], groups)
    granules = [recording.totals[one.stream.name].granule for one in inputs]
    found = _read(facts, Reading(tuple(sources), groups, measures, tuple(granules), recording.bucket))
    rates = [i for i, measure in enumerate(measures) if isinstance(measure, Rate)]
    values = {start: told for start, told in found.items() if all(told[i] for i in rates)}
    span = len(recording.starts) * recording.bucket
    counts = [recording.totals[one.stream.name].count for one in inputs]
    streams = {
        node: StreamStatistics(d=span / count if count else math.inf, l=1.0, g=granule)
        for node, count, granule in zip(sources, counts, granules, strict=True)
    }
    statistics = Statistics(streams)
    for i, measure in enumerate(measures):
        if isinstance(measure, SelectivityMeasure) and (mean := _mean(i, measures, values)) is not None:
            statistics = measure.change(statistics, mean)
    return BucketMeasures(measures, values, statistics)


def value_groups(sources: Sequence[Node], measures: Sequence[Measure]) -> tuple[Group, ...]:
    """The columns of sources that equalities compare, grouped by the equalities that connect them."""
    classes: list[set[tuple[int, str]]] = []
    for measure in measures:
        if isinstance(measure, SelectivityMeasure) and measure.origins:
            pair = {(sources.index(node), column) for node, column in measure.origins if node is not None}
            touched = [one for one in classes if one & pair]
            classes = [one for one in classes if one not in touched]
            classes.append(pair.union(*touched))
    return tuple(
        tuple(Member(i, column, sources[i].schema[column].type) for i, column in sorted(one))
        for one in sorted(map(sorted, classes))
    )


def _question(source: Node, measures: Sequence[Measure]) -> Question:
    """The question to a source: its rows if conditions are on it alone; its values are counted in groups."""
    names = {*source.schema.names}
    conditions = [one for one in measures if isinstance(one, SelectivityMeasure)]
    return Question((), any(form.columns() <= names for one in conditions for form in one.forms))


@dataclass(frozen=True)
class Reading:
    """The parameters with which executors read the measures off the facts of buckets."""

    sources: tuple[Node, ...]
    groups: tuple[Group, ...]
    measures: tuple[Measure, ...]
    granules: tuple[int, ...]
    bucket: int


def _read(facts: DataFrame, reading: Reading) -> dict[int, tuple[float | None, ...]]:
    rows = facts.mapInArrow(partial(read_batches, reading=reading), spark_schema(READ))
    table = rows.toArrow()
    starts, values = (table.column(name).to_pylist() for name in ("start", "values"))
    return {start: tuple(told) for start, told in sorted(zip(starts, values, strict=True))}


def read_batches(batches: Iterator[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    """The values of the measures in some buckets, read on the executors."""
    sources = reading.sources
    lengths, granules = dict.fromkeys(sources, 1), dict(zip(sources, reading.granules, strict=True))
    for batch in batches:
        for number in range(batch.num_rows):
            # One by one: what is known of a bucket may be large.
            start, facts = (column[number].as_py() for column in batch.columns)
            known = bucket_statistics(
                read_facts(facts, sources, reading.groups), lengths, granules, reading.bucket
            )
            values = [measure.read(known) for measure in reading.measures]
            yield pa.RecordBatch.from_pydict({"start": [start], "values": [values]}, schema=READ)


def _mean(
    position: int, measures: Sequence[Measure], values: Mapping[int, tuple[float | None, ...]]
) -> float | None:
    """The mean of a selectivity, weighted by the rows, or pairs of rows, of a bucket."""
    measure = measures[position]
    assert isinstance(measure, SelectivityMeasure)
    rates = [i for i, one in enumerate(measures) if isinstance(one, Rate) and _reads(measure, one.source)]
    told = [
        (math.prod(row[i] or 0.0 for i in rates), share)
        for row in values.values()
        if (share := row[position]) is not None
    ]
    weight = math.fsum(pairs for pairs, _ in told)
    return math.fsum(pairs * share for pairs, share in told) / weight if weight else None


def _reads(measure: SelectivityMeasure, source: Node) -> bool:
    if measure.origins:
        return any(node == source for node, _ in measure.origins)
    return any(form.columns() <= {*source.schema.names} for form in measure.forms)
