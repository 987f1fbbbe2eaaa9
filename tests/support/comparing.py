"""Contests of the benchmark in the process of the test."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from midstream.benchmarks.item import Workload
from midstream.benchmarks.measuring import Contest, ItemResult


def compared(
    work: Workload,
    seed: int = 1,
    sizes: Sequence[int] = (1, 64),
    peers: Collection[str] = (),
    repetitions: int = 1,
) -> ItemResult:
    """What a contest finds whose contenders run in turn."""
    contest = Contest(work, seed, sizes, peers)
    for _ in range(repetitions):
        for number in range(len(contest)):
            contest.repeat(number)
    return contest.result()
