"""The runs on each slice: moves from one plan to others, by strategies, at instants, under seeds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Batch, Payload

MOST_RUNS = 100_000
"""The most runs of a study: each is a row of its results."""

LONGEST_CHUNK = 100
"""The most elements of a chunk; a seed draws the number."""

TIMED_CHUNK, TIMED_SPAN = 2000, 10
"""The most elements of a chunk where operators are timed, and its longer span: calls then cost little."""

MOST_STEPS = 80
"""The most steps of time where nothing arrives: by their end nothing is valid any more."""

EARLIEST, LATEST = 0.25, 0.75
"""The shares of a slice between which drawn instants lie."""


@dataclass(frozen=True, order=True)
class Slice:
    """A slice of a recording: the elements that start in [start, end), in chronons."""

    start: int
    end: int


def slices(first: int, last: int, length: int, number: int) -> tuple[Slice, ...]:
    """Cells of equal length, evenly spread from the first element's start on; at most `number` of them.

    >>> [one.start for one in slices(100, 199, 10, 4)]
    [100, 120, 150, 170]
    >>> slices(100, 104, 10, 4)
    (Slice(start=100, end=110),)
    """
    if length < 1 or number < 1:
        raise ArgumentError(f"slices: found {number} of length {length}, expected 1 or more of each")
    cells = (last - first) // length + 1
    chosen: Sequence[int] = range(cells) if cells <= number else [i * cells // number for i in range(number)]
    return tuple(Slice(first + i * length, first + (i + 1) * length) for i in chosen)


@dataclass(frozen=True)
class Target:
    """A plan to move to, and its name for people."""

    name: str
    plan: Plan


@dataclass(frozen=True)
class RunGrid:
    """The runs on each slice.

    schemas   by stream that the plan reads, the columns of its elements
    span      the most chronons of a chunk for an engine, which bounds how exactly times are measured
    at        shares of a slice at which migrations begin; none: a seed draws one
    mutant    a planted fault, in the runs that migrate
    """

    plan: Plan
    targets: tuple[Target, ...]
    strategies: tuple[str, ...]
    seeds: Sequence[int]
    schemas: Mapping[str, Schema]
    span: int = 1
    at: tuple[float, ...] = ()
    mutant: str | None = None

    def instants(self, part: Slice, seed: int) -> list[int]:
        """The instants at which migrations begin in a slice."""
        shares = self.at or (random.Random(f"{part.start} {seed}").uniform(EARLIEST, LATEST),)
        return sorted({part.start + int(share * (part.end - part.start)) for share in shares})

    def runs(self, slices: int) -> int:
        """The number of runs that migrate."""
        per_slice = len(self.targets) * len(self.strategies) * len(self.seeds) * max(1, len(self.at))
        return slices * per_slice

    def require(self, slices: int) -> None:
        """Raise ArgumentError if there is nothing to run, or too much."""
        if not self.targets:
            raise ArgumentError("simulate: found no other plan to move to, expected one")
        if not 0 < self.runs(slices) <= MOST_RUNS:
            raise ArgumentError(f"simulate: found {self.runs(slices):,} runs, expected 1 to {MOST_RUNS:,}")


Row = tuple[int, str, Payload]
"""The start of an element, its stream, and its payload."""


@dataclass(frozen=True)
class Chunk:
    """Batches that are pushed to an engine at once, of elements that start in [first, last]."""

    first: int
    last: int
    batches: tuple[tuple[str, Batch], ...]


def chunks(
    rows: Sequence[Row], cuts: Sequence[int], seed: int, span: int, longest: int = LONGEST_CHUNK
) -> list[Chunk]:
    """Cut rows, which are sorted by start, into chunks of sizes that a seed draws.

    A chunk spans at most `span` chronons and does not reach over a cut. The elements of one instant may be in
    several chunks.

    >>> rows = [(t, "s", (t,)) for t in range(9)]
    >>> [(one.first, one.last) for one in chunks(rows, [3], seed=1, span=4)]
    [(0, 2), (3, 6), (7, 8)]
    """
    draw = random.Random(f"chunks {seed}")
    found = []
    begin = 0
    while begin < len(rows):
        size = draw.randint(1, longest)
        start = rows[begin][0]
        bound = min([start + span, *(cut for cut in cuts if cut > start)])
        part = [row for row in rows[begin : begin + size] if row[0] < bound]
        by_stream: dict[str, Batch] = {}
        for at, stream, payload in part:
            by_stream.setdefault(stream, []).append((at, at + 1, payload))
        found.append(Chunk(part[0][0], part[-1][0], tuple(by_stream.items())))
        begin += len(part)
    return found


def with_silence(input_chunks: Sequence[Chunk], cuts: Sequence[int], span: int, end: int) -> Iterator[Chunk]:
    """Insert chunks without elements between chunks, after each cut, and up to the end.

    They let time go on where nothing arrives, at first in steps of `span` chronons.

    >>> arrivals = [Chunk(0, 3, ()), Chunk(30, 31, ())]
    >>> [one.first for one in with_silence(arrivals, [15], 10, 40)]
    [0, 13, 15, 25, 30]
    """
    behind = [*(one.first for one in input_chunks[1:]), end]
    for chunk, following in zip(input_chunks, behind, strict=True):
        yield chunk
        marks = [chunk.last, *(cut for cut in cuts if chunk.last < cut < following)]
        for mark, beyond in pairwise([*marks, following]):
            if mark != chunk.last:
                yield Chunk(mark, mark, ())
            for time in range(mark + span, min(beyond, mark + MOST_STEPS * span), span):
                yield Chunk(time, time, ())
