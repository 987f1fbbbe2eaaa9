"""Traces of selectivities or rates that change from round to round, recorded or generated."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from midstream.optimizer.charts.ranges import Range
from midstream.plans.values.errors import InputFileError

Point = tuple[float, ...]

ROUNDS = 600
"""Rounds of generated traces: ten minutes of a second each, as in the paper."""

ROUND = 250
"""Length of a round of packets, in milliseconds, so that there are as many rounds."""

MOST_ERRATIC, LEAST_ERRATIC = 0.26, 0.09
"""The coefficients of variation of OM's series of data sets REAL (5.2)."""

MEMORY = 0.9
"""The share of a round's deviation from the mean that comes from the round before."""

LENGTH = 64
"""In bytes."""

JOINED = ("TCP", "NFS", "XWIN")


@dataclass(frozen=True)
class RoundTrace:
    """The true values of each round.

    ranges   ranges for charts that do not learn them
    """

    name: str
    points: Sequence[Point]
    ranges: Sequence[Range]


def uncorrelated(dimensions: int, most: float, rounds: int = ROUNDS, seed: int = 1) -> RoundTrace:
    """Values of a uniform distribution, independent of earlier rounds: OM's URND."""
    random = Random(f"uncorrelated {dimensions} {seed}")
    points = [tuple(random.uniform(0.01 * most, most) for _ in range(dimensions)) for _ in range(rounds)]
    return RoundTrace("uncorrelated", points, [(0.0, most)] * dimensions)


def within_a_quarter(dimensions: int, most: float, rounds: int = ROUNDS, seed: int = 1) -> RoundTrace:
    """Independent values in the middle quarter of the ranges, as where ranges also cover rare bursts."""
    points = uncorrelated(dimensions, most, rounds, seed).points
    inner = [tuple(0.375 * most + 0.25 * value for value in point) for point in points]
    return RoundTrace("within a quarter", inner, [(0.0, most)] * dimensions)


def decreasing(dimensions: int, most: float, rounds: int = ROUNDS, seed: int = 1) -> RoundTrace:
    """Values that wander around half of `most`, less and less.

    The coefficient of variation decreases from 0.26 to 0.09, as in OM's series of data sets.
    """
    random = Random(f"decreasing {dimensions} {seed}")
    here, points = [random.gauss(0, 1) for _ in range(dimensions)], []
    for i in range(rounds):
        here = [MEMORY * z + math.sqrt(1 - MEMORY**2) * random.gauss(0, 1) for z in here]
        spread = MOST_ERRATIC + (LEAST_ERRATIC - MOST_ERRATIC) * i / (rounds - 1)
        points.append(tuple(min(most, max(0.01 * most, most / 2 * (1 + spread * z))) for z in here))
    return RoundTrace("decreasing", points, [(0.0, most)] * dimensions)


def packet_lengths(data: Path) -> RoundTrace:
    """By round, the shares of TCP packets with at most 64 bytes, and with at least 64 bytes.

    Rounds without such a packet are left out.
    """
    found: dict[int, list[int]] = defaultdict(list)
    for at, row in _packets(data):
        if row["type"] == "TCP":
            found[at].append(int(row["length"]))
    points = [
        (_share(length <= LENGTH for length in of), _share(length >= LENGTH for length in of))
        for _, of in sorted(found.items())
    ]
    return RoundTrace("packets", points, [(0.0, 1.0)] * 2)


def packet_rates(data: Path) -> RoundTrace:
    """By round, TCP, NFS and XWIN packets per second; no packet counts as a tenth of one.

    The ranges reach from the least to the largest rate.
    """
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for at, row in _packets(data):
        found[at][row["type"]] += 1
    second = 1000 / ROUND
    points = [
        tuple(second * max(0.1, found[at][kind]) for kind in JOINED)
        for at in range(min(found), max(found) + 1)
    ]
    return RoundTrace("packets", points, [(min(of), max(of)) for of in zip(*points, strict=True)])


def _share(holds: Iterable[bool]) -> float:
    told = list(holds)
    return sum(told) / len(told)


def _packets(data: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each packet with the number of its round."""
    path = data / "splus_net_packet" / "packets.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            first: int | None = None
            for row in csv.DictReader(file):
                time = int(row["ts_ms"])
                first = time if first is None else first
                yield (time - first) // ROUND, row
    except OSError as error:
        raise InputFileError(f"{path}: {error.strerror or error}", path=path) from error
