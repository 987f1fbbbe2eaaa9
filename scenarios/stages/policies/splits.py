"""Counts on Spark of the results of plans, started and still valid, in chronons where split times may lie.

For each look two chronons may matter, whatever the autopilot decides (see `occupied`). One sweep counts for
all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column as Value
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.scenarios.recordings.counted_joins import inputs_as_streams, pairs_of
from midstream.scenarios.recordings.derived import elements_of
from midstream.scenarios.recordings.inner_joins import InnerJoin
from midstream.scenarios.recordings.pairs import count_changes
from midstream.scenarios.recordings.recording import TIME, Recording
from midstream.scenarios.stages.policies.occupied import Occupied
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import PlanInput

CHANGES = "chronon long, met array<long>, ended array<long>"
"""The columns of a change since the asked chronon before: by join, how many results started and ended.

Chronons in which nothing has changed are left out.
"""


def occupied(recording: Recording, inputs: Sequence[PlanInput], steps: Sequence[int]) -> dict[int, Occupied]:
    """By step, the cells of grids of some steps.

    Cost     One shuffle; a row for each cell comes to the driver.
    """
    grids = F.explode(F.array(*(F.lit(step).cast("long") for step in steps))).alias("step")
    ends = [
        elements_of(recording, one).select(TIME, (F.col(TIME) + F.lit(one.length)).alias("end"), grids)
        for one in inputs
    ]
    start = (F.col(TIME) - F.pmod(F.col(TIME), F.col("step"))).alias("start")
    cells = reduce(DataFrame.unionAll, ends).groupBy("step", start).agg(F.max("end").alias("end"))
    found = {step: Occupied(step, {}) for step in steps}
    for row in cells.collect():
        found[row["step"]].end[row["start"]] = row["end"]
    return found


def count_splits(
    recording: Recording,
    study: Study,
    joins: Sequence[InnerJoin],
    inputs: Sequence[PlanInput],
    asked: Sequence[int],
) -> DataFrame:
    """Count results of joins of two inputs, started and ended, in some chronons in order; see CHANGES.

    Cost     See `count_changes`; the chronons go to the executors.
    """
    pairs = pairs_of(joins)
    changes = count_changes(*inputs_as_streams(recording, study, inputs), pairs)
    chronons = np.array(asked, dtype=np.int64)

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return placed(batches, chronons)

    summed = changes.mapInArrow(place, "chronon long, pair int, met long, ended long")

    def of_each(name: str) -> Value:
        each = (
            F.sum(F.when(F.col("pair") == number, F.col(name)).otherwise(0)) for number in range(len(pairs))
        )
        return F.array(*each).alias(name)

    return summed.groupBy("chronon").agg(of_each("met"), of_each("ended"))


def placed(batches: Iterator[pa.RecordBatch], asked: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    """Move each change to the first asked chronon at or behind its own, on the executors.

    Changes behind all asked chronons are left out.
    """
    for batch in batches:
        places = np.searchsorted(asked, batch.column(TIME).to_numpy())
        inside = pa.array(places < len(asked))
        chronons = pa.array(asked[np.minimum(places, len(asked) - 1)])
        rest = (batch.column(name) for name in ("pair", "met", "ended"))
        found = pa.RecordBatch.from_arrays([chronons, *rest], names=["chronon", "pair", "met", "ended"])
        yield found.filter(inside)
