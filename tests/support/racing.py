"""Races of the benchmark in the process of the test."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from midstream.benchmarks.item import Workload
from midstream.benchmarks.measuring import ItemResult, Race


def raced(
    work: Workload,
    seed: int = 1,
    sizes: Sequence[int] = (1, 64),
    peers: Collection[str] = (),
    repetitions: int = 1,
) -> ItemResult:
    """What a race finds whose contenders run in turn."""
    race = Race(work, seed, sizes, peers)
    for _ in range(repetitions):
        for number in range(len(race)):
            race.repeat(number)
    return race.result()
