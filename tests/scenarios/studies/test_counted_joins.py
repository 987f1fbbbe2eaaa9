"""Where bursts are shorter than buckets, what-if ranks orders as they are counted, as policies do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from midstream.scenarios.streams.recorded.script import load_study

from .conftest import Rows, write_study

pytestmark = pytest.mark.spark

BUCKET = 1000
QUERY = """
    SELECT a.k FROM a WINDOW(RANGE 10 SECONDS), b WINDOW(RANGE 10 SECONDS), c WINDOW(RANGE 10 SECONDS)
    WHERE a.k = b.k AND b.k = c.k
"""


def bursts() -> Mapping[str, Rows]:
    """Short bursts of `a` and `b` at once, one a bucket, beside a steady `c`.

    If buckets were steady, a and b would make the fewest pairs; really they make the most.
    """
    starts = range(0, 4 * BUCKET, BUCKET)
    burst = [(at + 500 + i % 5, {"k": 1}) for at in starts for i in range(30)]
    return {
        "a": sorted(burst, key=at),
        "b": sorted(burst, key=at),
        "c": [(t, {"k": 1}) for t in range(0, 4000, 3)],
    }


def at(row: tuple[int, Any]) -> int:
    return row[0]


def test_the_order_that_is_advised_is_the_counted_one(spark: Any, tmp_path: Path) -> None:
    from midstream import studies

    file = write_study(tmp_path, bursts(), "k INTEGER NOT NULL", QUERY)
    priced = studies.what_if(spark, file, bucket=f"{BUCKET}s")
    replayed = studies.policies(spark, file, grid="balanced")
    advice = {"what-if": priced.summary["advice"], "policies": replayed.summary["advice"]}
    counted = {
        label: total
        for label, total in zip(replayed.value.courses.labels, replayed.value.courses.totals, strict=True)
    }
    assert max(counted, key=counted.__getitem__) == "(a ⋈ b) ⋈ c"
    for found in advice.values():
        orders = {way["name"]: way for way in found["alternatives"] if way["moves"] is None}
        assert {name: way["results"] for name, way in orders.items()} == pytest.approx(counted)
        assert max(orders, key=lambda name: orders[name]["cost"]) == "(a ⋈ b) ⋈ c"
        assert found["order"] != "(a ⋈ b) ⋈ c"
    assert advice["what-if"]["order"] == advice["policies"]["order"]
    assert priced.summary["is_counted"]


def test_the_steady_model_alone_would_rank_them_wrongly(spark: Any, tmp_path: Path) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.what_if import stage

    study = load_study(str(write_study(tmp_path, bursts(), "k INTEGER NOT NULL", QUERY)))
    assert study.query is not None
    with pytest.MonkeyPatch.context() as patch, open_recording(spark, study, BUCKET) as recording:
        patch.setattr(stage, "counted_joins", lambda *_: None)
        with stage.what_if(recording, study, study.query) as found:
            assert found.prices[0].totals[0].order.label == "(a ⋈ b) ⋈ c"
            assert not found.is_counted
