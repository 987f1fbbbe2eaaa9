"""Where Spark puts the runs of buckets."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.spark

STARTS = range(-400, 13_600, 10)
"""1,400 buckets, which are 44 runs."""


@pytest.mark.parametrize(("most", "partitions"), [(4096, 44), (8, 8)])
def test_runs_are_spread_evenly_and_each_is_in_one_place(
    spark: Any, most: int, partitions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as F

    from midstream.scenarios.stages.what_if import stage

    monkeypatch.setattr(stage, "MOST_PARTITIONS", most)
    facts = spark.range(STARTS.start, STARTS.stop, STARTS.step)
    facts = facts.select(F.col("id").alias("start"), F.lit("").alias("facts"), F.lit(None).alias("matched"))
    placed = stage.in_runs(facts, STARTS, past=3).select("run", F.spark_partition_id().alias("place"))
    found = {(row["run"], row["place"]) for row in placed.collect()}
    places = [place for _, place in found]
    assert len(found) == len({run for run, _ in found}) == 44
    assert len(set(places)) == partitions
    assert max(map(places.count, places)) <= -(-44 // partitions)
