"""What plans cost over recorded streams, counted exactly: the results of joins that stand below others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import functions as F

from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.scenarios.studies.declaration import RecordedStream, Study
from midstream.scenarios.studies.derived import elements_of
from midstream.scenarios.studies.inputs import PlanInput
from midstream.scenarios.studies.pairs import Pair, count_pairs
from midstream.scenarios.studies.policies.courses import Courses
from midstream.scenarios.studies.policies.inner_joins import InnerJoin, inner_joins
from midstream.scenarios.studies.recording import TIME, Recording, floor_to

UNIT = "intermediate results"


def inner_joins_of(plans: Sequence[Plan], inputs: Sequence[PlanInput]) -> list[tuple[InnerJoin, ...]] | None:
    """The joins below others, plan by plan; None where a plan's intermediate results are not those of joins
    of two inputs, so that they cannot be counted."""
    numbers = {one.node: number for number, one in enumerate(inputs)}
    found = [inner_joins(plan, numbers) if set(input_nodes(plan)) == set(numbers) else None for plan in plans]
    known = [joins for joins in found if joins is not None]
    return known if len(known) == len(found) else None


def count_courses(
    recording: Recording,
    study: Study,
    plans: Sequence[Plan],
    labels: Sequence[str],
    of_plans: Sequence[tuple[InnerJoin, ...]],
    inputs: Sequence[PlanInput],
    window: int,
    bucket: int,
) -> Courses:
    """What plans over the same inputs cost in each bucket, by their inner joins.

    Cost     Counting pairs, see `count_pairs`; the buckets come to the driver, with a number for each join.
    """
    joins = sorted({join for joins in of_plans for join in joins})
    derived = replace(
        recording,
        bucket=bucket,
        frames={str(number): elements_of(recording, one) for number, one in enumerate(inputs)},
    )
    streams = {str(number): _as_stream(number, one) for number, one in enumerate(inputs)}
    pairs = [Pair(str(join.left), str(join.right), join.on) for join in joins]
    counts = [dict.fromkeys(derived.starts, 0) for _ in joins]
    if pairs:
        for row in count_pairs(derived, replace(study, streams=streams), pairs).collect():
            counts[row["pair"]][row["start"]] += row["matched"]
    numbers = {join: number for number, join in enumerate(joins)}
    rates = [
        tuple(sum(counts[numbers[join]][start] for join in of_one) / bucket for start in derived.starts)
        for of_one in of_plans
    ]
    return Courses(
        derived.starts,
        window,
        UNIT,
        tuple(plans),
        tuple(labels),
        tuple(rates),
        lasting(replace(recording, bucket=bucket), inputs, window),
    )


def _as_stream(number: int, one: PlanInput) -> RecordedStream:
    """An input as if it had been recorded."""
    return RecordedStream(str(number), "", "", TIME, {}, one.chain.schema, one.length)


def lasting(recording: Recording, inputs: Sequence[PlanInput], window: int) -> tuple[int, ...]:
    """For how long what is valid at the start of each bucket still is."""
    ends: dict[int, int] = {}
    for one in inputs:
        cell = floor_to(F.col(TIME), recording.bucket).alias("start")
        last = elements_of(recording, one).groupBy(cell).agg(F.max(TIME).alias("last"))
        for row in last.collect():
            end = row["last"] + one.length
            ends[row["start"]] = max(ends.get(row["start"], end), end)
    found, so_far = list[int](), recording.starts.start
    for start in recording.starts:
        found.append(min(window, max(0, so_far - start)))
        so_far = max(so_far, ends.get(start, so_far))
    return tuple(found)
