"""The orders that the optimizer chooses for real streams are hardly worse than the best ones in hindsight."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midstream.scenarios.costs.hindsight import Hindsight, Recorded, compare_orders

BEGINNING_OF_PACKETS = 891_046_362_760
SEGMENTS = ("192574", "181251", "158983")


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a recorded stream."""
    with path.open(newline="") as file:
        yield from csv.DictReader(file)


def flights(data: Path) -> dict[str, Recorded]:
    """Departures of three airports by destination."""
    found: dict[str, list[tuple[int, str]]] = {"EWR": [], "JFK": [], "LGA": []}
    for row in rows_of(data / "nycflights13" / "departures.csv"):
        found[row["origin"]].append((int(row["dep_ts"]), row["dest"]))
    return dict(found)


def packets(data: Path) -> dict[str, Recorded]:
    """Packets of three types by their number modulo 16."""
    found: dict[str, list[tuple[int, str]]] = {"TCP": [], "NFS": [], "XWIN": []}
    for row in rows_of(data / "splus_net_packet" / "packets.csv"):
        if row["type"] in found:
            found[row["type"]].append((int(row["ts_ms"]), str(int(row["seq"]) % 16)))
    return dict(found)


def slow_readings(data: Path) -> dict[str, Recorded]:
    """Readings of three road segments that are slower than the segment's own 20th percentile."""
    speeds: dict[str, list[tuple[int, int]]] = {segment: [] for segment in SEGMENTS}
    for row in rows_of(data / "aarhus_city" / "traffic.csv"):
        if row["report_id"] in speeds:
            speeds[row["report_id"]].append((int(row["ts"]), int(row["avg_speed_kmh"])))
    found = {}
    for segment, readings in speeds.items():
        slow = sorted(speed for _, speed in readings)[len(readings) // 5]
        found[segment] = [(time, "slow") for time, speed in readings if speed < slow]
    return found


def told(seen: Hindsight) -> str:
    """What the comparison says, if it is not as expected."""
    return f"{seen.buckets} buckets: {seen}"


@pytest.mark.parametrize(
    ("read", "window", "bucket", "at_most"),
    [(flights, 3600, 3 * 3600, 1.03), (packets, 500, 10_000, 1.10), (slow_readings, 1800, 3600, 1.10)],
    ids=["nycflights13", "splus_net_packet", "aarhus_city"],
)
def test_orders_chosen_by_statistics_of_the_bucket_itself(
    shared_data: Path, read: Callable[[Path], dict[str, Recorded]], window: int, bucket: int, at_most: float
) -> None:
    seen = compare_orders(read(shared_data), window, bucket)
    assert 1.0 <= seen.chosen <= at_most, told(seen)
    assert seen.chosen <= min(seen.fixed.values()), told(seen)
    assert seen.chosen <= min(seen.predicted, seen.repeated), told(seen)


def test_counts_of_orders_are_what_they_really_give() -> None:
    """The best order changes: at first it begins with a and b, then with a and c, which have no pair."""
    streams = {
        "a": [(0, "x"), (3, "y"), (20, "x")],
        "b": [(1, "x"), (21, "x"), (25, "x")],
        "c": [(2, "x"), (4, "y"), (23, "x")],
    }
    seen = compare_orders(streams, window=3, length=10)
    assert seen.buckets == 2
    # a and b begin to be valid together at 1 and at 21, a and c at 2 and 4, b and c at 2, 23 and 25.
    pairs = {"ab": 2.0, "ac": 2.0, "bc": 3.0}
    assert seen.fixed == {frozenset(pair): count / (1 + 0) for pair, count in pairs.items()}
