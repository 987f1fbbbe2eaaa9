"""Write what studies found: Parquet files, sorted and in few folders, and the plans as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame

from midstream.plans.serialise import dumps
from midstream.scenarios.studies.report import Summary
from midstream.scenarios.studies.stream_profile import Profile
from midstream.scenarios.studies.what_if import WhatIf


def write_profile(found: Profile, summary: Summary, folder: Path) -> None:
    """`streams` (a folder a stream), `pairs` (a folder a pair) and `profile.json`.

    What is there of an earlier profile is replaced.
    """
    _write(found.by_stream, folder / "streams", ["stream"], ["start"])
    _write(found.by_pair, folder / "pairs", ["left", "right"], ["on", "start"])
    _write_json(summary, folder / "profile.json")


def write_what_if(found: WhatIf, summary: Summary, folder: Path) -> None:
    """`costs` (a folder an order), `best`, `plans` (each order's plan) and `what-if.json`.

    What is there of an earlier what-if study is replaced.
    """
    _write(found.costs, folder / "costs", ["order"], ["start", "plan"])
    _write(found.best, folder / "best", [], ["start"])
    plans = folder / "plans"
    plans.mkdir(exist_ok=True)
    for old in plans.glob("order-*.json"):
        old.unlink()
    for total in found.totals:
        number = total.order.plans[0]
        (plans / f"order-{total.order.number}.json").write_text(dumps(found.plans[number]), encoding="utf-8")
    _write_json(summary, folder / "what-if.json")


def _write(frame: DataFrame, folder: Path, apart: Sequence[str], order: Sequence[str]) -> None:
    """One sorted file in each folder: files must not depend on how Spark had cut the data."""
    together = frame.repartition(*apart) if apart else frame.repartition(1)
    writer = together.sortWithinPartitions(*apart, *order).write.mode("overwrite")
    (writer.partitionBy(*apart) if apart else writer).parquet(str(folder))


def _write_json(summary: Summary, file: Path) -> None:
    file.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
