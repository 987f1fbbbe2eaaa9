"""Slices of recorded streams on Spark's executors: one task holds a slice, runs it and measures it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial, reduce
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.io.time_units import Clock
from midstream.optimizer.cost.calibration import Timed, machine
from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.schema import Schema
from midstream.scenarios.recordings.facts import parsed_row
from midstream.scenarios.recordings.recording import TIME, Recording, floor_to, payload
from midstream.scenarios.spark.arrow_schemas import spark_schema
from midstream.scenarios.spark.spark_errors import SPARK_ERRORS, reason
from midstream.scenarios.stages.simulate.costs import TimedSlice
from midstream.scenarios.stages.simulate.grid import TIMED_CHUNK, TIMED_SPAN, Row, RunGrid, Slice, chunks
from midstream.scenarios.stages.simulate.running import SliceRun, run_slice, timed
from midstream.scenarios.streams.recorded.declaration import Study

MOST_ELEMENTS = 250_000
"""The most elements of a slice that fit into the memory of one worker."""

MOST_PARTITIONS = 4096
"""The most partitions for slices."""

MOST_CHARACTERS = 1 << 26
"""The most characters of all values of a slice, written as texts."""

RUNS = pa.schema(
    [
        ("slice", pa.int64()),
        ("seed", pa.int64()),
        ("at", pa.int64()),
        ("to", pa.string()),
        ("strategy", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("is_right", pa.bool_()),
        ("digest", pa.string()),
        ("elements", pa.int64()),
        ("results", pa.int64()),
        ("duration", pa.int64()),
        ("peak_state", pa.int64()),
        ("peak_state_stayed", pa.int64()),
        ("gap", pa.int64()),
        ("gap_stayed", pa.int64()),
        ("cpu", pa.float64()),
        ("cpu_stayed", pa.float64()),
    ]
)
"""The columns of runs, one row each, see `SliceRun`."""

FOUND = pa.schema([*RUNS, ("timed", pa.string())])
"""The columns of findings: a run or, in `timed`, the times of operators on a slice."""


@dataclass(frozen=True)
class SliceResults:
    """The findings of executors: all runs, sorted, and the times that operators took."""

    runs: tuple[SliceRun, ...]
    timed: tuple[TimedSlice, ...]


def run_on_executors(
    recording: Recording, study: Study, parts: Sequence[Slice], grid: RunGrid
) -> SliceResults:
    """Run a grid on slices, a task for each slice and seed.

    Raises   MidstreamError, naming the slice, where one does not fit into a worker.
    """
    rows = rows_of(recording, study, parts, grid.schemas)
    try:
        require_fitting(rows, parts, study.clock, "take shorter slices")
        together = in_jobs(rows, grid.seeds, parts)
        run = partial(run_batches, grid=grid, length=parts[0].end - parts[0].start)
        found = together.mapInArrow(run, spark_schema(FOUND)).toArrow()
    except SPARK_ERRORS as error:
        raise MidstreamError(f"simulate: {reason(error)}") from error
    return _read(found.to_pylist())


def rows_of(
    recording: Recording, study: Study, parts: Sequence[Slice], schemas: Mapping[str, Schema]
) -> DataFrame:
    """The elements of all slices: (slice, time, stream, values), values as texts."""
    first, length = parts[0].start, parts[0].end - parts[0].start
    inside = floor_to(F.col(TIME) - F.lit(first), length) + F.lit(first)
    found = []
    for name, schema in schemas.items():
        frame = recording.frames[name]
        columns = study.streams[name].columns
        values = F.array(*(F.col(payload(columns.index(one.name))).cast("string") for one in schema))
        found.append(
            frame.select(
                inside.alias("slice"),
                F.col(TIME).alias("time"),
                F.lit(name).alias("stream"),
                values.alias("values"),
            ).where(F.col("slice").isin([one.start for one in parts]))
        )
    return reduce(DataFrame.unionAll, found)


def require_fitting(rows: DataFrame, parts: Sequence[Slice], clock: Clock, remedy: str) -> None:
    """Raise MidstreamError for the first slice that does not fit into the memory of a worker."""
    size = F.expr("aggregate(values, 0L, (total, one) -> total + coalesce(length(one), 0))")
    counted = rows.groupBy("slice").agg(F.count("*").alias("elements"), F.sum(size).alias("characters"))
    for row in sorted(counted.toArrow().to_pylist(), key=lambda row: row["slice"]):
        for what, most in (("elements", MOST_ELEMENTS), ("characters", MOST_CHARACTERS)):
            if row[what] > most:
                end = row["slice"] + parts[0].end - parts[0].start
                raise MidstreamError(
                    f"slice from {clock.show(row['slice'])} to {clock.show(end)}: found {row[what]:,} "
                    f"{what}, expected {most:,} at most, as one worker has to hold them; {remedy}"
                )


def in_jobs(rows: DataFrame, seeds: Sequence[int], parts: Sequence[Slice]) -> DataFrame:
    """The elements of slices for each seed, those of a slice and a seed one after another.

    The columns are slice, seed, time, stream and values.
    """
    starts = F.array(*(F.lit(one.start).cast("long") for one in parts))
    of_seed = F.posexplode(F.array(*(F.lit(seed).cast("long") for seed in seeds)))
    spread = rows.select("slice", of_seed.alias("turn", "seed"), "time", "stream", "values")
    job = (F.array_position(starts, F.col("slice")) - 1) * len(seeds) + F.col("turn")
    partitions = min(len(parts) * len(seeds), MOST_PARTITIONS)
    placed = spread.repartitionById(partitions, F.pmod(job, F.lit(partitions)).cast("int")).drop("turn")
    return placed.sortWithinPartitions("slice", "seed")


def run_batches(batches: Iterator[pa.RecordBatch], grid: RunGrid, length: int) -> Iterator[pa.RecordBatch]:
    """Run the slices of some batches, sorted by slice and seed, on the executors."""
    rows = (row for batch in batches for row in zip(*(one.to_pylist() for one in batch.columns), strict=True))
    for (start, seed), group in groupby(rows, itemgetter(0, 1)):
        elements = read_rows([row[2:] for row in group], grid.schemas)
        yield pa.RecordBatch.from_pylist(
            run_job(Slice(start, start + length), elements, seed, grid), schema=FOUND
        )


def run_job(part: Slice, rows: Sequence[Row], seed: int, grid: RunGrid) -> list[dict[str, Any]]:
    """All runs on one slice under one seed; with the first seed, also the times of operators."""
    found: list[dict[str, Any]] = [asdict(run) for run in run_slice(part, rows, seed, grid)]
    if seed == grid.seeds[0]:
        given = chunks(rows, [], seed, TIMED_SPAN * grid.span, TIMED_CHUNK)
        plans = (grid.plan, *(target.plan for target in grid.targets))
        taken = [asdict(one) for plan in plans for one in timed(plan, given)]
        found.append({"slice": part.start, "timed": json.dumps({"machine": machine(), "runs": taken})})
    return found


def read_rows(
    rows: Iterable[tuple[int, str, Sequence[str | None]]], schemas: Mapping[str, Schema]
) -> list[Row]:
    """The elements of a slice, sorted by start, stream and values.

    So the order does not depend on partitions.
    """
    streams = {name: i for i, name in enumerate(schemas)}
    ordered = sorted(
        rows, key=lambda row: (row[0], streams[row[1]], [(text is not None, text or "") for text in row[2]])
    )
    return [(time, stream, parsed_row(values, schemas[stream])) for time, stream, values in ordered]


def _read(rows: Iterable[Mapping[str, Any]]) -> SliceResults:
    names = [field.name for field in fields(SliceRun)]
    runs, taken = [], []
    for row in rows:
        if row["timed"] is None:
            runs.append(SliceRun(**{name: row[name] for name in names}))
        else:
            told = json.loads(row["timed"])
            of_slice = tuple(Timed(**one) for one in told["runs"])
            taken.append(TimedSlice(row["slice"], told["machine"], of_slice))
    runs.sort(key=lambda run: (run.slice, run.seed, run.at, run.to, run.strategy))
    taken.sort(key=lambda one: one.slice)
    return SliceResults(tuple(runs), tuple(taken))
