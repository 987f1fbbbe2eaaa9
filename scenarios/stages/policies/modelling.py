"""Costs of plans over recorded streams by the cost model, window by window.

They are microseconds of processor time by the unit costs in use, and intermediate results where these cannot
be counted. Results of joins that can be counted are: the model prices what has happened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd

import pyarrow as pa

from midstream.autopilot.costs.series import CostSeries
from midstream.optimizer import INTERMEDIATE, Objective, UnitCosts
from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.scenarios.recordings.counted_joins import CountedJoins, counted_joins, with_matched
from midstream.scenarios.recordings.facts import gather, read_facts
from midstream.scenarios.recordings.pricing import bucket_statistics, price_bucket
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.stages.policies.splits import occupied
from midstream.scenarios.stages.what_if.objectives import aim_of
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import plan_inputs, questions, value_groups

UNIT = "intermediate results by the cost model"
TIME = "µs of processing"

PRICES = pa.schema(
    [("start", pa.int64()), ("times", pa.list_(pa.float64())), ("results", pa.list_(pa.float64()))]
)
_SQL = "start long, times array<double>, results array<double>"


@dataclass(frozen=True, slots=True)
class Asked:
    """The plans to price on executors, as JSON, and by input the length of validity and the granule.

    joins    those whose results are counted; None where all are estimated
    """

    plans: str
    lengths: tuple[int, ...]
    granules: tuple[int, ...]
    bucket: int
    objectives: tuple[Objective, ...]
    units: UnitCosts
    joins: CountedJoins | None


def model_courses(
    recording: Recording, study: Study, plans: Sequence[Plan], labels: Sequence[str], window: int
) -> tuple[CostSeries, CostSeries]:
    """The processor time and the intermediate results of plans over the same inputs, by the model.

    It takes each window for steady, but for joins whose results are counted.

    Cost     See `gather` and `with_matched`; then O(windows · plans · operators · values of a joined column)
             on the executors. The windows come to the driver, with two numbers for each plan.
    """
    known = replace(recording, bucket=window)
    inputs, of_inputs = plan_inputs(plans[0], study.streams), questions(plans[0])
    facts = gather(known, inputs, [of_inputs[one.node] for one in inputs], value_groups(plans[0]))
    granules = [gcd(recording.totals[one.stream.name].granule, one.length) for one in inputs]
    joins = counted_joins(plans, inputs, window)
    sent = Asked(
        json.dumps([plan_to_json(plan) for plan in plans]),
        tuple(one.length for one in inputs),
        tuple(granules),
        window,
        (aim_of("processing", study.clock).objective, INTERMEDIATE),
        units_in_use(),
        joins,
    )

    def price(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from priced(batches, sent)

    rows = with_matched(facts, known, study, inputs, joins).mapInArrow(price, _SQL).collect()
    by_start = {row["start"]: row for row in rows}
    (grid,) = occupied(known, inputs, [window]).values()
    lasting = grid.lasting(known.starts, window)

    def series(name: str, unit: str) -> CostSeries:
        by_plan = zip(*(by_start[start][name] for start in known.starts), strict=True)
        return CostSeries(known.starts, window, unit, tuple(plans), tuple(labels), tuple(by_plan), lasting)

    return series("times", TIME), series("results", UNIT)


def priced(batches: Iterator[pa.RecordBatch], asked: Asked) -> Iterator[pa.RecordBatch]:
    """The rates of processing and of intermediate results of all plans in some buckets, on the executors.

    The columns of the batches are start, facts and matched.
    """
    plans = [plan_from_json(one) for one in json.loads(asked.plans)]
    nodes, groups = input_nodes(plans[0]), value_groups(plans[0])
    lengths, granules = (dict(zip(nodes, of, strict=True)) for of in (asked.lengths, asked.granules))
    for batch in batches:
        rows = []
        for row in batch.select(["start", "facts", "matched"]).to_pylist():
            known = bucket_statistics(
                read_facts(row["facts"], nodes, groups), lengths, granules, asked.bucket
            )
            counted = None if asked.joins is None else asked.joins.rates(plans, known, row["matched"])
            times, results = price_bucket(plans, known, asked.objectives, asked.units, counted)
            rows.append({"start": row["start"], "times": times, "results": results})
        yield pa.RecordBatch.from_pylist(rows, schema=PRICES)
