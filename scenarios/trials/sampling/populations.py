"""Streams with clustered pairs: few keys, elements or bursts make up most of the matches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from midstream.optimizer.sampling.intervals import Member

SPAN, WINDOW = 10_000, 500
"""In chronons."""

Value = float

Recorded = Sequence[tuple[float, Value]]
"""Times in order, each with a value."""


@dataclass(frozen=True)
class Population:
    """Two recorded streams, and the condition under which an element of each matches."""

    name: str
    left: Recorded
    right: Recorded
    holds: Callable[[Value, Value], bool]

    @cached_property
    def truth(self) -> float:
        """The share of matches among the pairs that are valid together.

        Cost     O(pairs).
        """
        left, _ = members(self.left, self.right, self.holds)
        return sum(each.matches for each in left) / sum(each.partners for each in left)


def members(
    left: Recorded, right: Recorded, holds: Callable[[Value, Value], bool]
) -> tuple[list[Member], list[Member]]:
    """The partners and matches of each element of two streams or samples.

    Cost     O(pairs).
    """
    times = [time for time, _ in right]
    partners, matches = [0] * len(right), [0] * len(right)
    found = []
    for time, value in left:
        near = range(bisect_right(times, time - WINDOW), bisect_left(times, time + WINDOW))
        matching = [i for i in near if holds(value, right[i][1])]
        for i in near:
            partners[i] += 1
        for i in matching:
            matches[i] += 1
        found.append(Member(len(matching), len(near)))
    return found, [Member(m, n) for m, n in zip(matches, partners, strict=True)]


def zipf(size: int, seed: int, keys: int = 50, skew: float = 1.1) -> Population:
    """Equal keys with Zipf frequencies: the k-th key has a weight of k^-skew."""
    random = Random(f"zipf {size} {seed}")
    weights = [1 / k**skew for k in range(1, keys + 1)]

    def stream() -> Recorded:
        times = sorted(random.uniform(0, SPAN) for _ in range(size))
        return list(zip(times, map(float, random.choices(range(keys), weights, k=size)), strict=True))

    return Population("equal Zipf keys", stream(), stream(), lambda x, y: x == y)


def bursts(size: int, seed: int, band: float = 1.0) -> Population:
    """A band join, |x - y| <= band, of values that wander, and sometimes gather for a while."""
    random = Random(f"bursts {size} {seed}")
    parts = [(random.uniform(0, 100), 1.0 if random.random() < 0.2 else 30.0) for _ in range(20)]

    def stream() -> Recorded:
        times = sorted(random.uniform(0, SPAN) for _ in range(size))
        return [(time, random.gauss(*parts[int(time * len(parts) / SPAN)])) for time in times]

    return Population("band of bursty values", stream(), stream(), lambda x, y: abs(x - y) <= band)


def heavy(size: int, seed: int) -> Population:
    """Left elements that match Pareto-distributed shares of all right ones, 2 % on average."""
    random = Random(f"heavy {size} {seed}")

    def stream(value: Callable[[], float]) -> Recorded:
        return [(time, value()) for time in sorted(random.uniform(0, SPAN) for _ in range(size))]

    shape = 2.0
    mean = shape / (shape - 1)
    left = stream(lambda: min(1.0, 0.02 / mean * random.paretovariate(shape)))
    return Population("heavy elements", left, stream(random.random), lambda x, y: y < x)


POPULATIONS: Mapping[str, Callable[[int, int], Population]] = {
    "zipf": zipf,
    "bursts": bursts,
    "heavy": heavy,
}
"""By name, functions that generate a population from its elements per stream and a seed."""
