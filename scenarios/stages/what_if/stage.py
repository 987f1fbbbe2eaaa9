"""The prices of all plans of a query in every time bucket, found on Spark's executors.

For each bucket the streams' rates and value frequencies are counted. Successive buckets are put into *runs*,
with those before a run that are not forgotten yet. An executor goes through a run and prices all plans in
each bucket with the optimizer's cost model: by the statistics of the bucket, and by those of the buckets
before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, reduce
from math import gcd
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.autopilot.costs.series import CostSeries
from midstream.optimizer import Statistics, UnitCosts
from midstream.optimizer.cost.units import units_in_use
from midstream.optimizer.search import with_linked_joins
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.scenarios.recordings.counted_joins import CountedJoins, counted_joins, with_matched
from midstream.scenarios.recordings.facts import gather
from midstream.scenarios.recordings.orders import Order, group_by_order
from midstream.scenarios.recordings.pricing import BucketCost, compare, price_bucket
from midstream.scenarios.recordings.recording import TIME, Recording, cell_number, floor_to
from midstream.scenarios.stages.what_if.buckets import Buckets
from midstream.scenarios.stages.what_if.candidates import LIMIT, Candidates, all_plans, pack, unpack
from midstream.scenarios.stages.what_if.objectives import Aim, aim_of
from midstream.scenarios.stages.what_if.past import HALF_LIFE, past_statistics, remembered
from midstream.scenarios.stages.what_if.prices import Prices, prices_of
from midstream.scenarios.stages.what_if.row_buffer import RowBuffer
from midstream.scenarios.stages.what_if.searching import searched_plans
from midstream.scenarios.stages.what_if.switching_costs import (
    SwitchingCost,
    all_courses,
    lasting,
    switching_costs,
)
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import PlanInput, plan_inputs, questions, value_groups

COSTS = pa.schema(
    [
        ("start", pa.int64()),
        ("objective", pa.string()),
        ("order", pa.int32()),
        ("plan", pa.int32()),
        ("count", pa.int64()),
        ("is_contested", pa.bool_()),
        ("cost", pa.float64()),
        ("spent", pa.float64()),
        ("regret", pa.float64()),
        ("is_best", pa.bool_()),
        ("is_choice", pa.bool_()),
        ("past_cost", pa.float64()),
    ]
)
"""The columns of costs, one row a bucket, objective and plan.

`count` elements start in the bucket; it is contested if not all plans cost the same in it. `past_cost` is
the cost of the plan's order by the statistics of the buckets before. The rest is as in BucketCost.
"""

SQL_TYPES = {
    pa.int64(): "long",
    pa.int32(): "int",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
}

RUN = 32
"""The least number of buckets in a run; longer runs are fewer, and repeat less of the buckets before them."""

SHOWN_FIXED = 3
"""The number of fixed orders, the cheapest, whose costs are shown beside those of switching."""

MOST_PARTITIONS = 4096
"""The most partitions for runs."""


@dataclass(frozen=True)
class WhatIf:
    """The costs that each plan would have had.

    candidates   the plans, the given one first, and how they were found
    orders       those that differ in more than the sides of joins, the given one first
    prices       by objective, the cost of each order in each bucket
    window       the longest validity of an element of the query's inputs, in chronons
    half_life    the chronons after which statistics of earlier buckets count half
    lasting      by bucket, for how many chronons the elements valid at its start stay valid
    is_counted   true if the results of joins below others were counted; else the cost model estimates them
    costs        one row a bucket, objective and plan, see COSTS
    """

    starts: range
    candidates: Candidates
    orders: tuple[Order, ...]
    prices: tuple[Prices, ...]
    window: int
    half_life: int
    lasting: tuple[int, ...]
    is_counted: bool
    costs: DataFrame

    @property
    def plans(self) -> tuple[Plan, ...]:
        """All plans, the given one first."""
        return self.candidates.plans

    @cached_property
    def courses(self) -> dict[str, tuple[CostSeries, CostSeries]]:
        """The prices by objective as cost series, in hindsight and by the buckets before each bucket.

        An objective that does not add up over operators has none, as it does not tell a migration's cost.
        """
        return {
            prices.aim.name: all_courses(prices, self.plans, self.window, self.lasting)
            for prices in self.prices
            if prices.aim.objective.is_additive and prices.starts
        }

    @cached_property
    def switching_costs(self) -> dict[str, list[SwitchingCost]]:
        """The costs of switching, by objective that has cost series."""
        return {
            prices.aim.name: switching_costs(prices, self.courses[prices.aim.name][0], SHOWN_FIXED)
            for prices in self.prices
            if prices.aim.name in self.courses
        }


@contextmanager
def what_if(
    recording: Recording,
    study: Study,
    query: Plan,
    objectives: Sequence[str] = ("processing",),
    *,
    half_life: int | None = None,
    knows_past: bool = True,
    limit: int = LIMIT,
) -> Iterator[WhatIf]:
    """Price the plans that are equivalent to a query; the data frame is at hand while the block runs.

    half_life     in chronons; by default, that of the autopilot's settings
    knows_past    whether the buckets before each bucket count; if not, nothing is known before any of them

    Cost     See `gather`; then O(buckets × plans × operators × values of a joined column) on the executors.
    Raises   PlanError where the query does not fit the recorded streams; StatisticsError for an objective;
             ArgumentError for a half-life that is too long for the buckets.
    """
    query = with_linked_joins(logical_plan(query))
    inputs = plan_inputs(query, study.streams)
    aims = [aim_of(text, study.clock) for text in dict.fromkeys(objectives)]
    window = max(one.length for one in inputs)
    half_life = HALF_LIFE * window if half_life is None else half_life
    past = remembered(half_life, recording.bucket) if knows_past else 0
    candidates = all_plans(query, limit)
    asked = questions(query)
    buckets = _buckets(recording, inputs)
    valid_for, fullest = look_over(recording, inputs, window)
    of_inputs = [asked[one.node] for one in inputs]
    facts = gather(recording, inputs, of_inputs, value_groups(query), fullest=fullest)
    if candidates is None:
        facts = facts.persist()
    try:
        candidates = candidates or searched_plans(facts, recording.starts, query, buckets, aims, limit)
        orders = group_by_order(candidates.plans)
        numbers = _order_of(orders)
        joins = counted_joins(candidates.plans, inputs, recording.bucket)
        pricing = Pricing(
            pack(candidates.plans), numbers, aims, buckets, half_life, past, units_in_use(), joins
        )
        known = with_matched(facts, recording, study, inputs, joins)
        costs = priced(in_runs(known, recording.starts, past), pricing).persist()
        try:
            prices = collected(costs, recording.starts, aims, orders)
            yield WhatIf(
                starts=recording.starts,
                candidates=candidates,
                orders=orders,
                prices=prices,
                window=window,
                half_life=half_life,
                lasting=valid_for,
                is_counted=joins is not None,
                costs=costs,
            )
        finally:
            costs.unpersist()
    finally:
        facts.unpersist()


def _buckets(recording: Recording, inputs: Sequence[PlanInput]) -> Buckets:
    granules = [gcd(recording.totals[one.stream.name].granule, one.length) for one in inputs]
    return Buckets(recording.bucket, tuple(one.length for one in inputs), tuple(granules))


def look_over(
    recording: Recording, inputs: Sequence[PlanInput], window: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The validity of earlier elements in each bucket, and the size of each input's fullest bucket.

    The first is for how many chronons they last, the second a number of elements. Both are upper bounds, as
    elements that filters below a window drop count, too.
    """
    starts = recording.starts
    ends = [
        recording.frames[one.stream.name].select(
            floor_to(F.col(TIME), starts.step).alias("start"),
            (F.col(TIME) + F.lit(one.length)).alias("end"),
            F.lit(number).alias("input"),
        )
        for number, one in enumerate(inputs)
    ]
    counts = [F.count(F.when(F.col("input") == number, True)) for number in range(len(inputs))]
    found = (
        reduce(DataFrame.unionAll, ends)
        .groupBy("start")
        .agg(F.max("end").alias("end"), F.array(*counts).alias("counts"))
        .toArrow()
    )
    by_start = dict(zip(found.column("start").to_pylist(), found.column("end").to_pylist(), strict=True))
    by_bucket = found.column("counts").to_pylist() or [[0] * len(inputs)]
    return tuple(lasting(starts, by_start, window)), tuple(map(max, zip(*by_bucket, strict=True)))


def _order_of(orders: Sequence[Order]) -> list[int]:
    """The order of each plan."""
    of = {plan: order.number for order in orders for plan in order.plans}
    return [of[plan] for plan in sorted(of)]


def in_runs(facts: DataFrame, starts: range, past: int) -> DataFrame:
    """The facts of buckets in sorted runs, each run in one partition, most often alone.

    The columns are run, start, facts and matched. A run holds its own buckets, and as many before them as are
    remembered; `run` is where its own buckets start. The runs do not depend on the partitions.
    """
    start, length = F.col("start"), max(RUN, past) * starts.step
    own = floor_to(start - F.lit(starts.start), length) + F.lit(starts.start)
    following = own + F.lit(length)
    is_remembered = (following < F.lit(starts.stop)) & (start >= following - F.lit(past * starts.step))
    runs = F.array_compact(F.array(own, F.when(is_remembered, following)))
    partitions = min(-(-len(starts) * starts.step // length) or 1, MOST_PARTITIONS)
    spread = facts.select(F.explode(runs).alias("run"), "start", "facts", "matched")
    number = cell_number(F.col("run"), starts.start, length)
    placed = spread.repartitionById(partitions, F.pmod(number, F.lit(partitions)).cast("int"))
    return placed.sortWithinPartitions("run", "start")


@dataclass(frozen=True)
class Pricing:
    """The parameters with which executors price plans.

    plans        as `pack` writes them
    remembered   the number of earlier buckets that count
    joins        those whose results are counted; None where all are estimated
    """

    plans: str
    order_of: list[int]
    aims: Sequence[Aim]
    buckets: Buckets
    half_life: int
    remembered: int
    units: UnitCosts
    joins: CountedJoins | None = None


def priced(runs: DataFrame, pricing: Pricing) -> DataFrame:
    """The costs of all plans in the columns of COSTS."""

    def price(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from price_batches(batches, pricing)

    return runs.mapInArrow(price, ", ".join(f"`{field.name}` {SQL_TYPES[field.type]}" for field in COSTS))


def price_batches(batches: Iterator[pa.RecordBatch], pricing: Pricing) -> Iterator[pa.RecordBatch]:
    """Price all plans in the buckets of some sorted batches of `BucketRow`, on the executors."""
    kept = RowBuffer(COSTS)
    for start, count, costs, past_costs in priced_buckets(_rows(batches), pricing):
        for aim, found, by_past in zip(pricing.aims, costs, past_costs, strict=True):
            compared = compare(found, aim.scale(pricing.buckets.length))
            number = len(compared)
            yield from kept.add(
                {
                    "start": [start] * number,
                    "objective": [aim.name] * number,
                    "order": pricing.order_of,
                    "plan": range(number),
                    "count": [count] * number,
                    "is_contested": [not all(cost.is_best for cost in compared)] * number,
                    **{name: [getattr(cost, name) for cost in compared] for name in BucketCost.__slots__},
                    "past_cost": [by_past[order] for order in pricing.order_of],
                }
            )
    yield from kept.flush()


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[BucketRow]:
    for batch in batches:
        for number in range(batch.num_rows):
            # One by one: what is known of a bucket may be large.
            run, start, facts, matched = (column[number].as_py() for column in batch.columns)
            yield run, start, facts, matched


Facts = Sequence[dict[str, Any]] | None
"""The facts counted in a bucket; None in one without elements."""

BucketRow = tuple[int, int, Facts, Sequence[int] | None]
"""A run, the start of a bucket, its facts, and the counted results of joins; None where there are none."""

Priced = tuple[int, int, list[list[float]], list[list[float]]]
"""A priced bucket: its start, its number of elements, and two lists of costs by objective.

The first list holds the cost of each plan, the second that of each order by the buckets before.
"""


def priced_buckets(rows: Iterable[BucketRow], pricing: Pricing) -> Iterator[Priced]:
    """Price all plans in the buckets of some runs, in order; `run` is where a run's own buckets start."""
    plans = unpack(pricing.plans)
    first_of = {order: plan for plan, order in reversed(list(enumerate(pricing.order_of)))}
    standing = [plans[first_of[order]] for order in sorted(first_of)]
    objectives = [aim.objective for aim in pricing.aims]
    buckets, half_life = pricing.buckets, pricing.half_life
    before: deque[Statistics] = deque(maxlen=pricing.remembered)
    _, nothing = buckets.read(plans[0], None)
    of_nothing, standing_on_nothing = (
        price_bucket(some, nothing, objectives, pricing.units) for some in (plans, standing)
    )
    under_way: int | None = None
    for run, start, facts, matched in rows:
        if run != under_way:
            under_way = run
            before.clear()
        count, known = buckets.read(plans[0], facts)
        if start >= run:
            costs = of_nothing
            if count:
                counted = None if pricing.joins is None else pricing.joins.rates(plans, known, matched)
                costs = price_bucket(plans, known, objectives, pricing.units, counted)
            by_past = standing_on_nothing
            if before:
                past = past_statistics(before, half_life, buckets.length)
                by_past = price_bucket(standing, past, objectives, pricing.units)
            yield start, count, costs, by_past
        before.append(known)


def collected(
    costs: DataFrame, starts: range, aims: Sequence[Aim], orders: Sequence[Order]
) -> tuple[Prices, ...]:
    """Bring the costs of one plan of each order to the driver: a number for each bucket and order."""
    standing = costs.where(F.col("plan").isin([order.plans[0] for order in orders]))
    table = standing.select("objective", "order", "start", "count", "cost", "past_cost").toArrow()
    rows = sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return tuple(
        prices_of(aim, starts, orders, [row[1:] for row in rows if row[0] == aim.name]) for aim in aims
    )
