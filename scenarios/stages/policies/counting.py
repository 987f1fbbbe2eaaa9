"""Exact costs of plans over recorded streams: counts of the results of joins that stand below others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame, Row

from midstream.autopilot.costs.series import CostSeries, Counts
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.recordings.inner_joins import InnerJoin
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.stages.policies.occupied import Occupied, chronons

UNIT = "intermediate results"


def count_courses(
    recording: Recording,
    plans: Sequence[Plan],
    labels: Sequence[str],
    of_plans: Sequence[tuple[InnerJoin, ...]],
    window: int,
    grids: Mapping[int, Occupied],
    joins: Sequence[InnerJoin],
    counted: DataFrame | None,
) -> CostSeries:
    """Count what plans over the same inputs cost, by their inner joins.

    The costs are known in each bucket of the finest of some grids, and in all chronons in which a move at an
    instant of one of the grids may have its split time.

    grids     by step, the cells in which something starts
    joins     all inner joins, and perhaps more
    counted   the counts of `count_splits` in the chronons of the grids; None where there is no join

    Cost     The chronons come to the driver, with two numbers for each join: at most four for each cell in
             which an element starts, and one for each other cell in which one is valid.
    """
    step, starts = min(grids), replace(recording, bucket=min(grids)).starts
    asked = chronons(grids)
    changes = {row["chronon"]: row for row in ([] if counted is None else counted.collect())}
    begun, alive = _added_up(asked, changes, len(joins))
    numbers = {join: number for number, join in enumerate(joins)}

    def of_each(by_join: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(sum(counts) for counts in zip(*(by_join[numbers[join]] for join in of_one), strict=True))
            if of_one
            else (0,) * len(asked)
            for of_one in of_plans
        )

    counts = Counts(tuple(asked), of_each(begun), of_each(alive))
    return CostSeries(
        starts,
        window,
        UNIT,
        tuple(plans),
        tuple(labels),
        tuple(_rates(counts, of_plan, starts) for of_plan in counts.begun),
        grids[step].lasting(starts, window),
        counts,
    )


def _added_up(
    asked: Sequence[int], changes: Mapping[int, Row], joins: int
) -> tuple[list[list[int]], list[list[int]]]:
    """By join and chronon, how many results have started, and how many of these are still valid."""
    begun: list[list[int]] = [[] for _ in range(joins)]
    alive: list[list[int]] = [[] for _ in range(joins)]
    for join in range(joins):
        so_far = ended = 0
        for chronon in asked:
            if (row := changes.get(chronon)) is not None:
                so_far, ended = so_far + row["met"][join], ended + row["ended"][join]
            begun[join].append(so_far)
            alive[join].append(so_far - ended)
    return begun, alive


def _rates(counts: Counts, begun: Sequence[int], starts: range) -> tuple[float, ...]:
    """The results that start per chronon, by bucket.

    The counts include the last chronon of each bucket in which results start.
    """
    found, before = list[float](), 0
    for start in starts:
        place = counts.place.get(start + starts.step - 1)
        by_then = before if place is None else begun[place]
        found.append((by_then - before) / starts.step)
        before = by_then
    return tuple(found)
