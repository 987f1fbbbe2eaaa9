"""Search for candidates on Spark's executors, where the rules make too many plans to price all.

The optimizer searches with the statistics of a bucket: in some buckets, spread over the whole time, and for
each objective. The plans that it chooses most often are the candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.optimizer import Objective, Steps, UnitCosts, optimize
from midstream.optimizer.cost.units import units_in_use
from midstream.optimizer.search import QUICK_STEPS, with_linked_joins
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.algebra.serialise import dumps, loads
from midstream.scenarios.recordings.orders import group_by_order
from midstream.scenarios.recordings.recording import cell_number
from midstream.scenarios.stages.what_if.buckets import Buckets
from midstream.scenarios.stages.what_if.candidates import Candidates
from midstream.scenarios.stages.what_if.objectives import Aim

SEARCHED = 64
"""The most buckets in which plans are searched."""


def searched_plans(
    facts: DataFrame, starts: range, query: Plan, buckets: Buckets, aims: Sequence[Aim], limit: int
) -> Candidates:
    """The plans that the search chooses in some buckets; `facts` are those of all buckets, by `gather`."""
    chosen = starts[:: -(-len(starts) // SEARCHED) or 1]
    text, objectives, units = dumps(query), [aim.objective for aim in aims], units_in_use()

    def search(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from search_batches(batches, text, buckets, objectives, units)

    some = facts.where(F.col("start").isin(list(chosen)))
    number = cell_number(F.col("start"), starts.start, chosen.step)
    apart = some.repartitionById(max(1, len(chosen)), number.cast("int"))
    found = apart.mapInArrow(search, "plan string").groupBy("plan").agg(F.count("*").alias("times"))
    best = found.orderBy(F.col("times").desc(), "plan").limit(limit).toArrow().column("plan").to_pylist()
    plans = [query, *map(loads, best)]
    one_of_each = [plans[order.plans[0]] for order in group_by_order(plans)]
    return Candidates(tuple(one_of_each[:limit]), is_complete=False, searched=len(chosen))


def search_batches(
    batches: Iterator[pa.RecordBatch],
    query: str,
    buckets: Buckets,
    objectives: Sequence[Objective],
    units: UnitCosts,
) -> Iterator[pa.RecordBatch]:
    """The cheapest plan, as JSON text, for each bucket of some batches and each objective."""
    plan = loads(query)
    for batch in batches:
        for facts in batch.column("facts").to_pylist():
            _, known = buckets.read(plan, facts)
            found = [
                optimize(plan, known, objective=one, units=units, budget=Steps(QUICK_STEPS)).plan
                for one in objectives
            ]
            yield pa.RecordBatch.from_pydict(
                {"plan": [dumps(with_linked_joins(logical_plan(one))) for one in found]}
            )
