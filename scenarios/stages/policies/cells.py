"""Statistics of each cell of time for a replayed autopilot, counted and sampled on Spark as by a collector.

A collector draws rows by their place in a block of time. Here rows of equal times are in order of their
values, so that nothing depends on how Spark has cut the data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from midstream.operators.engine.measuring.sampling import BITS, CYCLE, PLACES, chance_of
from midstream.operators.engine.measuring.statistics_collector import LONG, MOST, cell_of_rows
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


def cells(
    recording: Recording, study: Study, plan: Plan, inputs: Sequence[PlanInput], step: int
) -> DataFrame:
    """The cells of a grid of some step, see CELLS.

    Cost     One shuffle that sorts each stream's elements by block and time. Of a cell, 40 rows at most come
             to one place.
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
    start, block = floor_to(F.col(TIME), step), floor_to(F.col(TIME), LONG * step)
    of_block, of_cell = Window.partitionBy("block"), Window.partitionBy("block", "start")
    numbered = (
        recording.frames[source.stream]
        .select(start.alias("start"), block.alias("block"), TIME, *values)
        .withColumn("place", F.row_number().over(of_block.orderBy(TIME, *values)).cast("long") - 1)
    )
    number, tie = _number(source.stream, F.floor(F.col("block") / (LONG * step)), F.col("place"))
    told = (
        numbered.withColumn("count", F.count("*").over(of_cell))
        .withColumn("first", F.min(TIME).over(of_cell))
        .withColumn("rank", F.row_number().over(of_cell.orderBy(number, tie, "place")))
        .where(F.col("rank") <= MOST)
        .groupBy("start")
        .agg(
            F.first("first").alias("first"),
            F.first("count").alias("count"),
            F.collect_list(F.struct("place", TIME, F.struct(*values).alias("row"))).alias("picked"),
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
            picked = sorted(cell["picked"], key=itemgetter("place"))
            told = {
                "first": cell["first"],
                "count": cell["count"],
                "times": [one[TIME] for one in picked],
                "rows": [tuple(one["row"].values()) for one in picked],
            }
            rows.append({"start": cell["start"], "stream": stream, "told": json.dumps(told), "max_end": None})
        yield pa.RecordBatch.from_pylist(rows, schema=ARROW)


ARROW = pa.schema(
    [("start", pa.int64()), ("stream", pa.string()), ("told", pa.string()), ("max_end", pa.int64())]
)


def _number(stream: str, block: Value, place: Value) -> tuple[Value, Value]:
    """The number of a row by its place in a block, as `sampling` has it, and the tie-breaker."""
    chance = F.lit(chance_of(stream, 0)) + F.lit(chance_of(stream, 1) - chance_of(stream, 0)) * block
    turn = F.floor(place / PLACES)
    return _hashed(place + chance + CYCLE * turn), _hashed(chance + turn)


def _hashed(place: Value) -> Value:
    """The number of a place, as `number_of` has it."""
    hashes = F.xxhash64(F.pmod(place, F.lit(PLACES)).cast("long"))
    return F.shiftrightunsigned(hashes, 64 - BITS)
