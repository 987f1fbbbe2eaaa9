"""Autopilots over recorded streams: one flight for each setting, on Spark's executors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.autopilot.settings import Settings
from midstream.optimizer import Objective
from midstream.optimizer.online.wanted import wanted
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import dumps, loads
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.inputs import PlanInput
from midstream.scenarios.studies.policies.cells import cells, instants, results
from midstream.scenarios.studies.policies.flying import Flight, Wish, fly
from midstream.scenarios.studies.policies.inner_joins import InnerJoin
from midstream.scenarios.studies.recording import Recording

WISHES = pa.schema(
    [
        ("flight", pa.int32()),
        ("at", pa.int64()),
        ("to", pa.string()),
        ("strategy", pa.string()),
        ("until_split", pa.int64()),
        ("following", pa.int64()),
    ]
)
_SQL = "flight int, at long, to string, strategy string, until_split long, following long"


@dataclass(frozen=True, slots=True)
class Sent:
    """A flight as plain data, for executors."""

    plan: str
    settings: str
    objective: dict[str, float]
    strategy: str
    joins: tuple[InnerJoin, ...] | None

    def read(self) -> Flight:
        """The flight."""
        return Flight(
            loads(self.plan),
            Settings.loads(self.settings),
            Objective(**self.objective),
            self.strategy,
            self.joins,
        )


def fly_all(
    recording: Recording,
    study: Study,
    plan: Plan,
    inputs: Sequence[PlanInput],
    grid: Mapping[str, Settings],
    objective: Objective,
    strategy: str,
    counted: tuple[Sequence[InnerJoin], DataFrame] | None = None,
) -> dict[str, list[Wish]]:
    """The migrations that the engine's autopilot would begin with each setting, by its name.

    `counted` are the inner joins of plans, with what they gave (see `count_splits`), where what plans cost is
    counted and not estimated.

    Each flight is one task, which reads the cells in order of time and keeps none of them.

    Cost     The cells once for each setting; besides, what the optimizer takes at each look.
    """
    flights = [Flight(plan, settings, objective, strategy) for settings in grid.values()]
    joins = None if counted is None else tuple(counted[0])
    sent = [
        Sent(dumps(plan), one.settings.dumps(), asdict(one.objective), one.strategy, joins) for one in flights
    ]
    by_step: dict[int, list[int]] = {}
    for number, flight in enumerate(flights):
        by_step.setdefault(flight.step, []).append(number)
    told = [
        _of_flights(cells(recording, study, plan, inputs, step), numbers) for step, numbers in by_step.items()
    ]
    if counted is not None:
        told.append(_of_flights(results(counted[1]), range(len(flights))))
    sorted_cells = (
        reduce(DataFrame.unionAll, told)
        .repartitionById(len(flights), "flight")
        .sortWithinPartitions("flight", "start", "stream")
    )

    def fly_here(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from flown(batches, sent)

    wishes: dict[str, list[Wish]] = {name: [] for name in grid}
    names, plans = list(grid), dict[str, Plan]()
    for row in sorted_cells.mapInArrow(fly_here, _SQL).collect():
        if row["to"] not in plans:
            plans[row["to"]] = loads(row["to"])
        wish = Wish(row["at"], plans[row["to"]], row["strategy"], row["until_split"], row["following"])
        wishes[names[row["flight"]]].append(wish)
    return {name: sorted(found, key=lambda wish: wish.at) for name, found in wishes.items()}


def _of_flights(told: DataFrame, numbers: Iterable[int]) -> DataFrame:
    return told.withColumn("flight", F.explode(F.array(*map(F.lit, numbers))))


def flown(batches: Iterator[pa.RecordBatch], sent: Sequence[Sent]) -> Iterator[pa.RecordBatch]:
    """What comes of the flights whose cells are in some batches, in order of flight and time."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for number, told in groupby(rows, key=itemgetter("flight")):
        flight = sent[number].read()
        columns = wanted(flight.plan).columns
        for wish in fly(flight, instants(told, flight.plan, columns, flight.step)):
            row: dict[str, Any] = {"flight": number, "at": wish.at, "to": dumps(wish.to)}
            row |= {"strategy": wish.strategy, "until_split": wish.until_split}
            row["following"] = wish.following
            yield pa.RecordBatch.from_pylist([row], schema=WISHES)
