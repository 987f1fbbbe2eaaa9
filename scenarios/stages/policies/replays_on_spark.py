"""Autopilots replayed over recorded streams: one for each setting, on Spark's executors."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import attrgetter, itemgetter

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.autopilot.settings import Settings
from midstream.optimizer import Objective
from midstream.optimizer.online.requirements import requirements
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.recordings.inner_joins import InnerJoin
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.stages.policies.cells import cells, instants, results
from midstream.scenarios.stages.policies.replayed_autopilot import (
    ReplayedAutopilot,
    ReplayedMigration,
    replay_autopilot,
)
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import PlanInput


def replay_autopilots(
    recording: Recording,
    study: Study,
    plan: Plan,
    inputs: Sequence[PlanInput],
    grid: Mapping[str, Settings],
    objective: Objective,
    strategy: str,
    counted: tuple[Sequence[InnerJoin], DataFrame] | None = None,
) -> dict[str, list[ReplayedMigration]]:
    """The migrations that the engine's autopilot would begin with each setting, by its name.

    `counted` are the inner joins of plans, with the counts of their results (see `count_splits`), where costs
    of plans are counted and not estimated.


    Each setting is one task, which reads the cells in order of time and keeps none of them.

    Cost     The cells once for each setting, and the optimizer's work at each look.
    """
    joins = None if counted is None else tuple(counted[0])
    replays = [ReplayedAutopilot(plan, settings, objective, strategy, joins) for settings in grid.values()]
    by_step: dict[int, list[int]] = {}
    for number, replayed in enumerate(replays):
        by_step.setdefault(replayed.looks.step, []).append(number)
    told = [
        _of_replays(cells(recording, study, plan, inputs, step), numbers) for step, numbers in by_step.items()
    ]
    if counted is not None:
        told.append(_of_replays(results(counted[1]), range(len(replays))))
    sorted_cells = (
        reduce(DataFrame.unionAll, told)
        .repartitionById(len(replays), "replay")
        .sortWithinPartitions("replay", "start", "stream")
    )

    def replay_here(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from replay_cells(batches, replays)

    begun: dict[str, list[ReplayedMigration]] = {name: [] for name in grid}
    names = list(grid)
    for row in sorted_cells.mapInArrow(replay_here, "replay int, migration binary").collect():
        begun[names[row["replay"]]].append(pickle.loads(row["migration"]))
    return {name: sorted(of_one, key=attrgetter("at")) for name, of_one in begun.items()}


def _of_replays(told: DataFrame, numbers: Iterable[int]) -> DataFrame:
    return told.withColumn("replay", F.explode(F.array(*map(F.lit, numbers))))


def replay_cells(
    batches: Iterator[pa.RecordBatch], replays: Sequence[ReplayedAutopilot]
) -> Iterator[pa.RecordBatch]:
    """The migrations of the replays whose cells are in some batches, in order of replay and time."""
    schema = pa.schema([("replay", pa.int32()), ("migration", pa.binary())])
    rows = (row for batch in batches for row in batch.to_pylist())
    for number, told in groupby(rows, key=itemgetter("replay")):
        replayed = replays[number]
        columns = requirements(replayed.plan).columns
        came = instants(told, replayed.plan, columns, replayed.looks.step)
        for begun in replay_autopilot(replayed, came):
            row = {"replay": number, "migration": pickle.dumps(begun)}
            yield pa.RecordBatch.from_pylist([row], schema=schema)
