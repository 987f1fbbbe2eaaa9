"""Counted results of the joins of two inputs, bucket by bucket, by which plans over these inputs are priced.

The cost model takes a bucket for steady. Where elements come in bursts that are shorter than the bucket, it
expects too few results, and of one join fewer than of another, so that it may rank orders wrongly. Counts
depend neither on bursts nor on the length of buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.optimizer import CostModel, Statistics
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes, logical, logical_plan
from midstream.scenarios.recordings.derived import elements_of
from midstream.scenarios.recordings.inner_joins import InnerJoin, different, inner_join, inner_joins
from midstream.scenarios.recordings.pairs import Pair, count_pairs
from midstream.scenarios.recordings.recording import TIME, Recording
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study
from midstream.scenarios.streams.recorded.inputs import PlanInput


@dataclass(frozen=True)
class CountedJoins:
    """The joins of two inputs whose results are counted in each bucket.

    joins    in the order of the counts
    bucket   the length of a bucket, in chronons
    """

    joins: tuple[InnerJoin, ...]
    bucket: int

    def rates(
        self, plans: Sequence[Plan], statistics: Statistics, matched: Sequence[int] | None
    ) -> dict[Node, float]:
        """The results per chronon of all joins of some plans in a bucket, by logical node, for a cost model.

        Those of joins below others are counted; `matched` is None where there are none. The results of the
        other joins are the query's own, and are estimated: the model expects as many in every order.
        """
        numbers = matched or [0] * len(self.joins)
        counted = {join: n / self.bucket for join, n in zip(self.joins, numbers, strict=True)}
        model = CostModel(statistics)
        return {
            node: model.estimate(node).rate if join is None else counted[join]
            for node, join in _joins_of(tuple(plans)).items()
        }


@lru_cache(maxsize=4)
def _joins_of(plans: tuple[Plan, ...]) -> dict[Node, InnerJoin | None]:
    """All joins of some plans over the same inputs, found once; None for those that stand below no other."""
    inputs = {node: number for number, node in enumerate(input_nodes(plans[0]))}
    found: dict[Node, InnerJoin | None] = {}
    for plan in plans:
        joins = [node for node in logical_plan(plan).nodes if isinstance(logical(node), Join)]
        below = {under for node in joins for child in node.inputs for under in child.walk()}
        found |= {node: inner_join(node, inputs) if node in below else None for node in joins}
    return found


def countable(plans: Sequence[Plan], inputs: Sequence[PlanInput]) -> list[tuple[InnerJoin, ...]] | None:
    """The joins below others, plan by plan; None if they cannot be counted.

    They can be counted if the intermediate results of all plans are those of joins of two inputs.
    """
    numbers = {one.node: number for number, one in enumerate(inputs)}
    found = [inner_joins(plan, numbers) if set(input_nodes(plan)) == set(numbers) else None for plan in plans]
    known = [joins for joins in found if joins is not None]
    return known if len(known) == len(found) else None


def counted_joins(plans: Sequence[Plan], inputs: Sequence[PlanInput], bucket: int) -> CountedJoins | None:
    """The joins to count for some plans; None where these cannot be counted, or where there are none."""
    known = countable(plans, inputs)
    joins = () if known is None else different(known)
    return CountedJoins(joins, bucket) if joins else None


def with_matched(
    facts: DataFrame,
    recording: Recording,
    study: Study,
    inputs: Sequence[PlanInput],
    joins: CountedJoins | None,
) -> DataFrame:
    """The facts of buckets (start, facts) with the counts of joins: (start, facts, matched).

    `matched` is null without joins to count, and in buckets without results.

    Cost     See `count_pairs`.
    """
    if joins is None:
        return facts.withColumn("matched", F.lit(None).cast("array<long>"))
    as_recorded, declared = inputs_as_streams(recording, study, inputs)
    pairs = pairs_of(joins.joins)
    counts = count_pairs(as_recorded, declared, pairs)
    each = (F.sum(F.when(F.col("pair") == i, F.col("matched")).otherwise(0)) for i in range(len(pairs)))
    by_bucket = counts.groupBy("start").agg(F.array(*each).alias("matched"))
    return facts.join(by_bucket, "start", "left")


def pairs_of(joins: Sequence[InnerJoin]) -> list[Pair]:
    """Joins as pairs of the streams of `inputs_as_streams`."""
    return [Pair(str(join.left), str(join.right), join.on) for join in joins]


def inputs_as_streams(
    recording: Recording, study: Study, inputs: Sequence[PlanInput]
) -> tuple[Recording, Study]:
    """The inputs of a plan as if they had been recorded, named by their numbers."""
    frames = {str(number): elements_of(recording, one) for number, one in enumerate(inputs)}
    streams = {
        str(number): RecordedStream(str(number), "", "", TIME, {}, one.chain.schema, one.length)
        for number, one in enumerate(inputs)
    }
    return replace(recording, frames=frames), replace(study, streams=streams)
