"""The query over recorded departures, by hand and by the known facts of the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from midstream.driving import run
from midstream.plans.algebra.builder import stream
from midstream.scenarios.trials.demonstration.departures import HOUR, SCHEMA, common_destinations, departures


def test_triples_by_hand(tmp_path: Path) -> None:
    """Three departures meet, a fourth joins them, the first leaves the window; the fifth comes too late."""
    tmp_path.joinpath("departures.csv").write_text(
        "dep_ts,origin,dest,carrier,flight,dep_delay_min\n"
        "0,EWR,BOS,UA,1,5\n"
        "600,LGA,BOS,DL,2,-3\n"
        "700,LGA,ORD,DL,7,99\n"
        "900,JFK,BOS,B6,3,0\n"
        "1200,JFK,BOS,B6,4,9\n"
        "4800,EWR,BOS,UA,5,1\n"
    )
    rows = departures(tmp_path)
    query = common_destinations().plan()
    assert query.schema.names == ("ewr.dest", "matches", "delay")
    assert run(query, rows) == [(900, 1200, ("BOS", 1, 5)), (1200, 3600, ("BOS", 2, 9))]


@pytest.mark.parametrize(
    ("one", "other", "pairs"), [("EWR", "JFK", 9_784), ("EWR", "LGA", 12_056), ("JFK", "LGA", 7_674)]
)
def test_pairs_of_recorded_departures(one: str, other: str, pairs: int, shared_data: Path) -> None:
    """How many departures to one destination lie less than an hour apart was counted independently."""
    recorded = departures(shared_data / "nycflights13")
    left, right = (stream(name, SCHEMA).alias(name).window(HOUR) for name in (one, other))
    joined = left.join(right, on=[(f"{one}.dest", f"{other}.dest")]).plan()
    assert len(run(joined, {name: recorded[name] for name in (one, other)})) == pairs
