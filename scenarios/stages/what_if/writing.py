"""Write the results of a what-if study: costs as Parquet files, plans and cost series as JSON."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from midstream.io.new_file import write_file
from midstream.plans.algebra.serialise import dumps
from midstream.scenarios.spark.writing import new_folder, write_json, write_table
from midstream.scenarios.stages.base.summaries import Summary
from midstream.scenarios.stages.what_if.prices import Prices
from midstream.scenarios.stages.what_if.stage import WhatIf


def write_what_if(result: WhatIf, summary: Summary, folder: Path) -> None:
    """Write `costs`, `best`, `plans`, `courses`, and `what-if.json`; replace an earlier what-if study.

    `costs` has a folder an order, `plans` each order's plan. In `courses` are, for each objective,
    `1-processing.json` and `1-processing-past.json`, numbered; the first of them is `courses.json`, too.
    """
    write_table(result.costs, folder / "costs", ["order"], ["objective", "start", "plan"])
    with new_folder(folder / "best") as best:
        pq.write_table(best_table(result), best / "best.parquet")
    with new_folder(folder / "plans") as plans:
        for order in result.orders:
            write_file(plans / f"order-{order.number}.json", dumps(result.plans[order.plans[0]]))
    _write_courses(result, folder)
    write_json(summary, folder / "what-if.json")


def _write_courses(result: WhatIf, folder: Path) -> None:
    with new_folder(folder / "courses") as place:
        for number, (name, (hindsight, past)) in enumerate(result.courses.items(), 1):
            base = f"{number}-{'-'.join(re.findall(r'[a-z0-9.]+', name))}"
            write_file(place / f"{base}.json", hindsight.dumps() + "\n")
            write_file(place / f"{base}-past.json", past.dumps() + "\n")
    for hindsight, _ in list(result.courses.values())[:1]:
        write_file(folder / "courses.json", hindsight.dumps() + "\n")


def best_table(result: WhatIf) -> pa.Table:
    """The best orders and their costs, one row a bucket and objective."""
    return pa.Table.from_pylist([row for prices in result.prices for row in _best(prices)], schema=BEST)


BEST = pa.schema(
    [
        ("start", pa.int64()),
        ("objective", pa.string()),
        ("count", pa.int64()),
        ("is_contested", pa.bool_()),
        ("best", pa.string()),
        ("spent", pa.float64()),
        ("given_spent", pa.float64()),
        ("past", pa.string()),
        ("past_spent", pa.float64()),
    ]
)
"""The columns of best orders, one row a bucket and objective.

`best` and `past` are labels of orders: the first of the best, and the best one by the buckets before.
`spent` is by objective, for the bucket, as in COSTS.
"""


def _best(prices: Prices) -> list[dict[str, object]]:
    return [
        {
            "start": one.start,
            "objective": prices.aim.name,
            "is_contested": one.order is not None,
            **one.as_dict(),
        }
        for one in prices.bests(slice(None))
    ]
