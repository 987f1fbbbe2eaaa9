"""Costs of plans over recorded streams by the cost model, where they cannot be counted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd

import pyarrow as pa

from midstream.autopilot.costs.series import CostSeries
from midstream.optimizer import INTERMEDIATE, CostModel
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.scenarios.recordings.facts import gather, read_facts
from midstream.scenarios.recordings.pricing import bucket_statistics
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.stages.policies.splits import occupied
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import plan_inputs, questions, value_groups

UNIT = "intermediate results by the cost model"

PRICES = pa.schema([("start", pa.int64()), ("rates", pa.list_(pa.float64()))])
_SQL = "start long, rates array<double>"


@dataclass(frozen=True, slots=True)
class Asked:
    """The plans to price on executors, as JSON, and by input the length of validity and the granule."""

    plans: str
    lengths: tuple[int, ...]
    granules: tuple[int, ...]
    bucket: int


def model_courses(
    recording: Recording, study: Study, plans: Sequence[Plan], labels: Sequence[str], window: int
) -> CostSeries:
    """The costs of plans over the same inputs by the model, which takes each window for steady.

    Cost     See `gather`; then O(windows · plans · operators · values of a joined column) on the executors.
             The windows come to the driver, with a number for each plan.
    """
    known = replace(recording, bucket=window)
    inputs, of_inputs = plan_inputs(plans[0], study.streams), questions(plans[0])
    facts = gather(known, inputs, [of_inputs[one.node] for one in inputs], value_groups(plans[0]))
    granules = [gcd(recording.totals[one.stream.name].granule, one.length) for one in inputs]
    sent = Asked(
        json.dumps([plan_to_json(plan) for plan in plans]),
        tuple(one.length for one in inputs),
        tuple(granules),
        window,
    )

    def price(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from priced(batches, sent)

    rates = {row["start"]: row["rates"] for row in facts.mapInArrow(price, _SQL).collect()}
    by_plan = zip(*(rates[start] for start in known.starts), strict=True)
    (grid,) = occupied(known, inputs, [window]).values()
    return CostSeries(
        known.starts,
        window,
        UNIT,
        tuple(plans),
        tuple(labels),
        tuple(by_plan),
        grid.lasting(known.starts, window),
    )


def priced(batches: Iterator[pa.RecordBatch], asked: Asked) -> Iterator[pa.RecordBatch]:
    """The rates of intermediate results of all plans in some buckets (start, facts), on the executors."""
    plans = [plan_from_json(one) for one in json.loads(asked.plans)]
    nodes, groups = input_nodes(plans[0]), value_groups(plans[0])
    lengths, granules = (dict(zip(nodes, of, strict=True)) for of in (asked.lengths, asked.granules))
    for batch in batches:
        rows = []
        for row in batch.select(["start", "facts"]).to_pylist():
            known = read_facts(row["facts"], nodes, groups)
            model = CostModel(bucket_statistics(known, lengths, granules, asked.bucket))
            rates = [INTERMEDIATE.of(model.price(plan)) for plan in plans]
            rows.append({"start": row["start"], "rates": rates})
        yield pa.RecordBatch.from_pylist(rows, schema=PRICES)
