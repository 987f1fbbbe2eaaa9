"""What if a query had run under another plan: every plan priced in every time bucket, on Spark's executors.

For each bucket the streams' rates and value frequencies are counted; each executor prices all plans for its
buckets with the optimizer's cost model, as the optimizer would if it knew the bucket. A plan's regret is
what the best plan of each bucket would have saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import gcd

import pyarrow as pa
from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.algebra.serialise import dumps, loads
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.facts import gather, read_facts
from midstream.scenarios.studies.inputs import plan_inputs, questions
from midstream.scenarios.studies.orders import Order, group_by_order
from midstream.scenarios.studies.pricing import bucket_statistics, price_bucket, relative
from midstream.scenarios.studies.recording import Recording

COSTS = pa.schema(
    [
        ("start", pa.int64()),
        ("order", pa.int32()),
        ("plan", pa.int32()),
        ("count", pa.int64()),
        ("is_contested", pa.bool_()),
        ("cost", pa.float64()),
        ("state", pa.float64()),
        ("spent", pa.float64()),
        ("regret", pa.float64()),
        ("is_best", pa.bool_()),
        ("is_choice", pa.bool_()),
    ]
)
"""One row a bucket and plan: `count` elements start in the bucket; it is contested if not all plans cost the
same in it. The rest is as in BucketCost."""


@dataclass(frozen=True)
class OrderTotal:
    """What it costs to hold on to one order all the time.

    spent      microseconds of processing
    regret     how much of that the best order of each bucket would have saved; also relative to what that
               would have cost
    best_in    in how many contested buckets no order costs less
    is_given   whether the query was written in this order
    """

    order: Order
    spent: float
    regret: float
    relative_regret: float
    best_in: int
    is_given: bool


@dataclass(frozen=True)
class WhatIf:
    """What each plan would have cost.

    plans      all plans, the given one first
    totals     by order of plans, cheapest first
    least      microseconds of processing with the best plan in each bucket
    contested  the number of buckets in which plans cost different amounts
    switches   how often the best order of a contested bucket differs from that of the one before
    costs      one row a bucket and plan, see COSTS
    best       one row a bucket: start, count, is_contested, order, label, cost, spent, given_cost,
               given_regret
    """

    starts: range
    plans: tuple[Plan, ...]
    totals: tuple[OrderTotal, ...]
    least: float
    contested: int
    switches: int
    costs: DataFrame
    best: DataFrame


@contextmanager
def what_if(recording: Recording, study: Study, plans: Sequence[Plan]) -> Iterator[WhatIf]:
    """Price equivalent plans, the given one first. The data frames are at hand while the block runs.

    Cost     See `gather`; then O(buckets × plans × operators × values of a joined column) on the executors.
    Raises   PlanError where the plans do not fit the recorded streams.
    """
    orders = group_by_order(plans)
    costs = _costs(recording, study, plans, orders).persist()
    try:
        least, contested, switches = _choices(costs)
        yield WhatIf(
            starts=recording.starts,
            plans=tuple(plans),
            totals=_totals(costs, orders, least),
            least=least,
            contested=contested,
            switches=switches,
            costs=costs,
            best=_best(costs, orders),
        )
    finally:
        costs.unpersist()


def exact_sum(value: Value) -> Value:
    """A sum of floats that does not depend on their order: they are added as decimals with 18 places."""
    return F.coalesce(F.sum(value.cast("decimal(38,18)")).cast("double"), F.lit(0.0))


def pack(plans: Sequence[Plan]) -> str:
    """Plans as one JSON text that holds what they share once."""
    return dumps(
        Plan({f"{i}/{name}": root for i, plan in enumerate(plans) for name, root in plan.outputs.items()})
    )


def unpack(text: str) -> list[Plan]:
    """Read back what `pack` gave."""
    outputs: dict[int, dict[str, Node]] = {}
    for key, root in loads(text).outputs.items():
        number, _, name = key.partition("/")
        outputs.setdefault(int(number), {})[name] = root
    return [Plan(outputs[number]) for number in sorted(outputs)]


def _costs(recording: Recording, study: Study, plans: Sequence[Plan], orders: Sequence[Order]) -> DataFrame:
    inputs = plan_inputs(plans[0], study.streams)
    asked = questions(plans[0])
    context = recording.spark.sparkContext
    order_of = {plan: order.number for order in orders for plan in order.plans}
    sent = context.broadcast((pack(plans), [order_of[i] for i in range(len(plans))]))
    lengths = [one.length for one in inputs]
    granules = [gcd(recording.totals[one.stream.name].granule, one.length) for one in inputs]
    bucket = recording.bucket

    def price(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from price_batches(batches, *sent.value, lengths, granules, bucket)

    facts = gather(recording, inputs, [asked[one.node] for one in inputs])
    # So many partitions that every core prices, although there is little data by now.
    spread = facts.repartition(2 * context.defaultParallelism, "start")
    return spread.mapInArrow(price, ", ".join(f"{f.name} {SQL_TYPES[f.type]}" for f in COSTS))


SQL_TYPES = {pa.int64(): "long", pa.int32(): "int", pa.float64(): "double", pa.bool_(): "boolean"}


def price_batches(
    batches: Iterator[pa.RecordBatch],
    packed: str,
    order_of: Sequence[int],
    lengths: Sequence[int],
    granules: Sequence[int],
    bucket: int,
) -> Iterator[pa.RecordBatch]:
    """Price all plans in the buckets of some batches (start, facts). Runs on the executors."""
    plans = unpack(packed)
    nodes = input_nodes(plans[0])
    length, granule = (dict(zip(nodes, values, strict=True)) for values in (lengths, granules))
    for batch in batches:
        for start, facts in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            known = read_facts(facts, nodes)
            costs = price_bucket(plans, bucket_statistics(known, length, granule, bucket), bucket)
            shared = {
                "start": start,
                "count": sum(one.count for one in known.values()),
                "is_contested": not all(cost.is_best for cost in costs),
            }
            rows = [
                {**shared, "order": order_of[i], "plan": i, **asdict(cost)} for i, cost in enumerate(costs)
            ]
            yield pa.RecordBatch.from_pylist(rows, schema=COSTS)


def _choices(costs: DataFrame) -> tuple[float, int, int]:
    """What the best plans cost in all, how many buckets are contested, how often the best order changes."""
    # One row a bucket, so that one task can hold them all.
    before = F.lag("order").over(Window.partitionBy(F.lit(0)).orderBy("start"))
    chosen = costs.where("is_choice").select("start", "order", "spent", "is_contested")
    contested = chosen.where("is_contested").withColumn("before", before)
    least = chosen.agg(exact_sum(F.col("spent")).alias("least"))
    switches = contested.agg(
        F.count("*").alias("contested"), F.count_if(F.col("before") != F.col("order")).alias("switches")
    )
    row = least.crossJoin(switches).first()
    assert row is not None
    return row["least"], row["contested"], row["switches"]


def _totals(costs: DataFrame, orders: Sequence[Order], least: float) -> tuple[OrderTotal, ...]:
    summed = (
        standing_for_orders(costs, orders)
        .groupBy("order")
        .agg(
            exact_sum(F.col("spent")).alias("spent"),
            exact_sum(F.col("regret")).alias("regret"),
            F.count_if(F.col("is_best") & F.col("is_contested")).alias("best_in"),
        )
    )
    found = {row["order"]: row.asDict() for row in summed.collect()}
    nothing = {"spent": 0.0, "regret": 0.0, "best_in": 0}
    totals = []
    for order in orders:
        row = found.get(order.number, nothing)
        shares = (row["spent"], row["regret"], relative(row["regret"], least), row["best_in"])
        totals.append(OrderTotal(order, *shares, is_given=0 in order.plans))
    return tuple(sorted(totals, key=lambda total: (total.spent, total.order.plans)))


def standing_for_orders(costs: DataFrame, orders: Sequence[Order]) -> DataFrame:
    """The costs of one plan of each order."""
    return costs.where(F.col("plan").isin([order.plans[0] for order in orders]))


CELLS = 1000
"""How many stretches of time a chart shows at most; there is not room for more."""


@dataclass(frozen=True)
class Stretch:
    """Some consecutive buckets: what each order costs in them, and its regret, in microseconds.

    The orders are those of `totals`, in their order.
    """

    start: int
    end: int
    spent: tuple[float, ...]
    regret: tuple[float, ...]


def stretches(found: WhatIf, most: int = CELLS) -> list[Stretch]:
    """The whole time in stretches of equally many buckets, so few that they can be drawn."""
    if not found.starts:
        return []
    orders = [total.order for total in found.totals]
    length = -(-len(found.starts) // most) * found.starts.step
    cell = F.col("start") - F.pmod(F.col("start") - F.lit(found.starts.start), F.lit(length))
    summed = (
        standing_for_orders(found.costs, orders)
        .groupBy(cell.alias("cell"), "plan")
        .agg(exact_sum(F.col("spent")).alias("spent"), exact_sum(F.col("regret")).alias("regret"))
    )
    values = {(row["cell"], row["plan"]): (row["spent"], row["regret"]) for row in summed.collect()}
    return [
        Stretch(
            start, start + length, *zip(*(values[start, order.plans[0]] for order in orders), strict=True)
        )
        for start in range(found.starts.start, found.starts.stop, length)
    ]


def _best(costs: DataFrame, orders: Sequence[Order]) -> DataFrame:
    labels = F.array(*(F.lit(order.label) for order in orders))
    given = costs.where("plan = 0").select(
        "start", F.col("cost").alias("given_cost"), F.col("regret").alias("given_regret")
    )
    chosen = costs.where("is_choice").select(
        "start",
        "count",
        "is_contested",
        "order",
        F.element_at(labels, F.col("order") + 1).alias("label"),
        "cost",
        "spent",
    )
    return chosen.join(given, "start")
