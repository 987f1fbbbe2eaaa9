"""The best plan for each place of a chart, found on Spark's executors.

A task takes some places by their numbers, and searches or prices in their middles. The driver receives the
plans that were found, each once, and then one number a place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from midstream.optimizer.charts.chart import Chart
from midstream.optimizer.charts.making import Changing, best_at, found_at, places, without_idle_plans
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.cost.units import UnitCosts, units_in_use, using
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.spark.arrow_schemas import spark_schema
from midstream.scenarios.spark.spark_errors import SPARK_ERRORS, reason
from midstream.scenarios.stages.charts.parts import require_parts

TASK = 100
"""The number of places in one task: a second or so."""

FOUND = pa.schema([("plan", pa.string()), ("place", pa.int64())])
BEST = pa.schema([("place", pa.int64()), ("best", pa.int64())])


@dataclass(frozen=True)
class Sweep:
    """The parameters of a sweep: those of `ask_optimizer`, and the unit costs that price plans."""

    plan: Plan
    statistics: Statistics
    changing: Changing
    objective: Objective
    units: UnitCosts


def sweep(
    spark: SparkSession,
    plan: Plan,
    statistics: Statistics,
    changing: Changing,
    objective: Objective = PROCESSING,
    *,
    partitions: int | None = None,
) -> Chart:
    """The chart that `ask_optimizer` makes; it does not depend on the partitions.

    Cost     A search for each place on the executors, then a price of each plan that was found.
    Raises   ChartError for dimensions that are divided too finely; errors of the optimizer.
    """
    for dimension, _ in changing:
        require_parts(dimension.name, dimension.parts)
    total = places(changing)
    asked = Sweep(plan, statistics, changing, objective, units_in_use())
    # What is wrong is wrong in the first place too, and there it is told in its own words.
    next(found_at(range(1), plan, statistics, changing, objective))
    numbers = spark.range(0, total, 1, partitions or -(-total // TASK))
    try:
        plans = _plans(numbers, asked)
        best = _best(numbers, asked, plans)
    except SPARK_ERRORS as error:
        raise MidstreamError(f"chart of {total:,} places: {reason(error)}") from error
    return without_idle_plans(Chart(tuple(one for one, _ in changing), tuple(plans), best))


def _plans(numbers: DataFrame, asked: Sweep) -> list[Plan]:
    """The plans that are found at any place, in the order of their first places."""
    rows = numbers.mapInArrow(partial(search_batches, asked=asked), spark_schema(FOUND))
    first = rows.groupBy("plan").agg(F.min("place").alias("place")).toArrow().to_pylist()
    texts = [row["plan"] for row in sorted(first, key=lambda row: row["place"])]
    return list(dict.fromkeys(map(loads, texts)))


def _best(numbers: DataFrame, asked: Sweep, plans: list[Plan]) -> tuple[int, ...]:
    rows = numbers.mapInArrow(partial(price_batches, asked=asked, plans=plans), spark_schema(BEST))
    found = rows.toArrow()
    by_place = dict(zip(found.column("place").to_pylist(), found.column("best").to_pylist(), strict=True))
    return tuple(by_place[number] for number in sorted(by_place))


def search_batches(batches: Iterator[pa.RecordBatch], asked: Sweep) -> Iterator[pa.RecordBatch]:
    """The plans that are found at the places of a batch, each once, on the executors."""
    with using(asked.units):
        for batch in batches:
            first: dict[Plan, int] = {}
            numbers = batch.column(0).to_pylist()
            plans = found_at(numbers, asked.plan, asked.statistics, asked.changing, asked.objective)
            for number, plan in zip(numbers, plans, strict=True):
                first[plan] = min(number, first.get(plan, number))
            found = {"plan": list(map(dumps, first)), "place": list(first.values())}
            yield pa.RecordBatch.from_pydict(found, schema=FOUND)


def price_batches(
    batches: Iterator[pa.RecordBatch], asked: Sweep, plans: list[Plan]
) -> Iterator[pa.RecordBatch]:
    """The best plan at each place of a batch, found on the executors."""
    with using(asked.units):
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            best = list(best_at(numbers, plans, asked.statistics, asked.changing, asked.objective))
            yield pa.RecordBatch.from_pydict({"place": numbers, "best": best}, schema=BEST)
