"""Statistics of each cell of time for a replayed autopilot, counted and sampled on Spark as by a collector.

A collector draws rows by their position among those of the cell, in order of time. Here rows of equal times
are in order of their values, so that nothing depends on how Spark has cut the data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import Any

import pyarrow as pa
from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from midstream.operators.engine.measuring.statistics_collector import (
    BITS,
    DRAWS,
    MOST,
    TIMESTAMPS,
    cell_of_rows,
    chance_of,
    places,
)
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.recordings.derived import elements_of
from midstream.scenarios.recordings.recording import TIME, Recording, floor_to, payload
from midstream.scenarios.stages.policies.replayed_autopilot import Instant, Results
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import PlanInput

CELLS = "start long, stream string, told string, max_end long"
"""Columns of rows of three kinds: a stream's statistics, an input's largest end, counts of results.

One row a cell and stream on which something came, with its statistics as JSON; one a cell and input, with
the largest end; one a chronon up to which results were counted, with their numbers as JSON.
"""

HALF = 20
"""The bits of half a position: the product of a share of 2^BITS and a number of rows exceeds a long."""


def cells(
    recording: Recording, study: Study, plan: Plan, inputs: Sequence[PlanInput], step: int
) -> DataFrame:
    """The cells of a grid of some step, see CELLS.

    Cost     One shuffle that sorts each stream's elements by cell and time. Of a cell at most 40 rows and 31
             times come to one place.
    """
    told = [_told(recording, study, source, step) for source in plan.sources]
    ends = [_ends(recording, one, step) for one in inputs]
    return reduce(DataFrame.unionAll, [*told, *ends])


def results(counted: DataFrame) -> DataFrame:
    """The counts of `count_splits`, as rows to be put beside the cells."""
    none = F.lit(None)
    return counted.select(
        F.col("chronon").alias("start"),
        none.cast("string").alias("stream"),
        F.to_json(F.struct("met", "ended")).alias("told"),
        none.cast("long").alias("max_end"),
    )


def instants(
    rows: Iterator[dict[str, Any]], plan: Plan, columns: dict[str, tuple[str, ...]], step: int
) -> Iterator[Instant]:
    """Cells in order of their starts, as an autopilot receives them; `columns`, by stream, are counted."""
    schemas = {source.stream: source.columns for source in plan.sources}
    counted = {
        name: {column: schema.index(column) for column in columns.get(name, ())}
        for name, schema in schemas.items()
    }
    for start, group in groupby(rows, key=lambda row: row["start"] // step * step):
        found, ends, results = [], [], []
        for row in group:
            if row["told"] is None:
                ends.append(row["max_end"])
                continue
            name, told = row["stream"], json.loads(row["told"])
            if name is None:
                results.append(Results(row["start"], tuple(told["met"]), tuple(told["ended"])))
                continue
            picked = [tuple(one) for one in told["rows"]]
            found.append(
                cell_of_rows(
                    name, counted[name], start, step, told["first"], told["count"], told["times"], picked
                )
            )
        found.sort(key=lambda cell: cell.stream)
        yield Instant(start + step, found, max(ends, default=None), tuple(results))


def _ends(recording: Recording, one: PlanInput, step: int) -> DataFrame:
    start = floor_to(F.col(TIME), step).alias("start")
    last = elements_of(recording, one).groupBy(start).agg(F.max(TIME).alias("last"))
    return last.select(
        "start",
        F.lit(None).cast("string").alias("stream"),
        F.lit(None).cast("string").alias("told"),
        (F.col("last") + F.lit(one.length)).alias("max_end"),
    )


def _told(recording: Recording, study: Study, source: Source, step: int) -> DataFrame:
    """The statistics of a stream's cells, as JSON."""
    recorded = study.streams[source.stream]
    values = [payload(recorded.columns.index(column.name)) for column in source.columns]
    cell = Window.partitionBy("start")
    counted = (
        recording.frames[source.stream]
        .select(floor_to(F.col(TIME), step).alias("start"), TIME, *values)
        .withColumn("place", F.row_number().over(cell.orderBy(TIME, *values)) - 1)
        .withColumn("count", F.count("*").over(cell))
    )
    place, count = F.col("place").cast("long"), F.col("count")
    is_asked = place % F.greatest(F.lit(1), F.floor(count / TIMESTAMPS)) == 0
    picked = counted.withColumn("hits", _hits(source.stream, place, count, step)).withColumn(
        "is_asked", is_asked
    )
    one = F.struct("place", F.struct(*values).alias("row"), "hits")
    told = (
        picked.where((F.size("hits") > 0) | F.col("is_asked"))
        .groupBy("start")
        .agg(
            F.min(TIME).alias("first_asked"),
            F.max("count").alias("count"),
            F.collect_list(F.when(F.size("hits") > 0, one)).alias("picked"),
            F.collect_list(F.when(F.col("is_asked"), F.col(TIME))).alias("times"),
        )
    )
    name = source.stream

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return written(batches, name)

    return told.mapInArrow(write, CELLS)


def written(batches: Iterator[pa.RecordBatch], stream: str) -> Iterator[pa.RecordBatch]:
    """The rows sampled from a stream's cells, as JSON, written on the executors."""
    for batch in batches:
        rows = []
        for cell in batch.to_pylist():
            hits = sorted((hit, tuple(one["row"].values())) for one in cell["picked"] for hit in one["hits"])
            told = {
                "first": cell["first_asked"],
                "count": cell["count"],
                "times": sorted(cell["times"]),
                "rows": [row for _, row in hits],
            }
            rows.append({"start": cell["start"], "stream": stream, "told": json.dumps(told), "max_end": None})
        yield pa.RecordBatch.from_pylist(rows, schema=ARROW)


ARROW = pa.schema(
    [("start", pa.int64()), ("stream", pa.string()), ("told", pa.string()), ("max_end", pa.int64())]
)


def _hits(stream: str, place: Value, count: Value, step: int) -> Value:
    """The places in the sample for which a row is drawn, by its position among the rows of its cell.

    A row is in one of MOST equal stretches, or on the border of two. One row is drawn from each stretch.
    """
    texts = F.split(F.lit(",".join(str(one) for draw in places(MOST) for one in draw)), ",")
    drawn = texts.cast("array<bigint>")
    number = F.floor(F.col("start") / step)
    draw = F.pmod(
        F.lit(chance_of(stream, 0)) + F.lit(chance_of(stream, 1) - chance_of(stream, 0)) * number,
        F.lit(DRAWS),
    )
    stretch = F.floor(place * MOST / count)

    def is_drawn(one: Value) -> Value:
        share = F.element_at(drawn, (draw * MOST + one + 1).cast("int"))
        high, low = F.shiftright(share, HALF), share.bitwiseAND(F.lit((1 << HALF) - 1))
        return F.shiftright(high * count + F.shiftright(low * count, HALF), BITS - HALF) == place

    near = F.array(stretch, stretch + 1)
    drawn_of_many = F.filter(near, lambda one: (one < MOST) & is_drawn(one))
    return F.when(count <= MOST, F.array(place)).otherwise(drawn_of_many)
