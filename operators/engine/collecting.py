"""Collects what statistics of streams are estimated from, cell by cell of a grid of application time."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from random import Random
from zlib import crc32

from midstream.plans.algebra.operators import Source
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.observations import GROUPS, Cell
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Payload, Time

MOST = 256
"""So many rows of a stream are looked at in a cell at most."""
_START = itemgetter(0)
_ROW = itemgetter(2)
_NOISE = Random(0).randbytes(1 << 16)
"""Chance: the same in every run."""
_GROUPS = bytes(byte % GROUPS for byte in Random(1).randbytes(1 << 16))


class Collector:
    """Watches streams, and sums up each cell of time when the stream has passed it.

    A cell lasts from an instant of the grid, `first` + i `step`, to the next one. Its summary has the exact
    number of elements, and a sample: one row, at random, of each of `most` equal stretches; all where there
    are not so many. Of `columns`, by stream, the values in the sample are counted. Chance is the same in
    every run, so what comes out depends on the elements only: not on batches, nor on what other streams do.

    Input    `take` is told of each stream's elements in order of start; `progress` is that behind them.
    State    The elements of the last cell of each stream; summaries that nobody has asked for.
    Cost     A batch is copied (some nanoseconds an element); O(`most`) per cell and stream, so that an
             element costs less the more there are.

    >>> import midstream as ms
    >>> s = ms.stream("s", x="integer")
    >>> collector = Collector([s.node.operator], {"s": ["x"]}, step=10)
    >>> collector.take("s", [(1, 2, (7,)), (4, 5, (8,)), (9, 10, (7,)), (12, 13, (9,))], 12)
    >>> for cell in collector.cells(10):
    ...     print(cell.start, cell.end, cell.count, sum(map(Counter, cell.keys["x"]), Counter()))
    0 10 3 Counter({7: 2, 8: 1})
    """

    def __init__(
        self,
        sources: Iterable[Source],
        columns: Mapping[str, Iterable[str]],
        step: int,
        first: int = 0,
        most: int = MOST,
    ) -> None:
        for name, number in (("step", step), ("first", first), ("most", most)):
            require(f"collector: {name}", number, int, "a whole number")
        if step < 1 or most < 1:
            raise ArgumentError(f"collector: found step = {step}, most = {most}, expected 1 or more")
        self._streams = {
            source.stream: _Gathering(source, tuple(columns.get(source.stream, ())), step, first, most)
            for source in sources
        }

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Elements of a stream, possibly none, and the progress behind them; others are ignored."""
        gathering = self._streams.get(stream)
        if gathering is not None:
            gathering.take(batch, progress)

    def cells(self, until: Time) -> list[Cell]:
        """The cells that end by then, in order of time, each once. All streams must have come so far.

        A cell in which nothing came on a stream is not told of.
        """
        return sorted(
            (cell for gathering in self._streams.values() for cell in gathering.give(until)),
            key=lambda cell: (cell.start, cell.stream),
        )


class _Gathering:
    """The elements of a stream in a cell, and the summaries of those before."""

    def __init__(self, source: Source, columns: Sequence[str], step: int, first: int, most: int) -> None:
        self._source = source
        self._columns = {name: itemgetter(source.columns.index(name)) for name in columns}
        self._step, self._first, self._most = step, first, most
        self._salt = crc32(source.stream.encode())
        # A list of our own: the batch is the caller's, who may use it again.
        self._elements: list[Element] = []
        self._until: Time = BEGINNING
        self._summaries: list[Cell] = []

    def take(self, batch: Batch, progress: Time) -> None:
        while batch and batch[-1][0] >= self._until:
            inside = bisect_left(batch, self._until, key=_START)
            self._elements += batch[:inside]
            self._close()
            batch = batch[inside:]
            self._until = self._grid(batch[0][0]) + self._step
        self._elements += batch
        if progress >= self._until:
            self._close()

    def give(self, until: Time) -> list[Cell]:
        """The summaries of cells that end by then, which are forgotten here."""
        if self._until <= until:
            self._close()
        mine = [cell for cell in self._summaries if cell.end <= until]
        del self._summaries[: len(mine)]
        return mine

    def _grid(self, start: Time) -> int:
        """When the cell begins in which something starts."""
        return int(start) - (int(start) - self._first) % self._step

    def _close(self) -> None:
        if self._elements:
            self._summaries.append(self._summary(self._elements))
            self._elements = []

    def _summary(self, elements: Sequence[Element]) -> Cell:
        start = self._grid(elements[0][0])
        number = min(len(elements), self._most)
        # Neighbouring cells and other streams meet with another piece of chance.
        at = (self._salt + 40_503 * ((start - self._first) // self._step)) % (len(_NOISE) // 2)
        sample = elements
        if number < len(elements):
            stride = len(elements) / number
            noise = enumerate(_chance(_NOISE, at, number))
            sample = [elements[int((i + byte / 256) * stride)] for i, byte in noise]
        parts = _grouped(sample, _chance(_GROUPS, at, number))
        length, endless = self._lengths(sample)
        return Cell(
            stream=self._source.stream,
            start=start,
            end=start + self._step,
            first=int(elements[0][0]),
            count=len(elements),
            length=length,
            endless=endless,
            granule=self._granule(sample),
            parts=parts,
            keys={name: _counts(parts, value) for name, value in self._columns.items()},
        )

    def _lengths(self, sample: Sequence[Element]) -> tuple[float, float]:
        """How long elements are valid that end, on average, and the share of the others."""
        if not self._source.intervals:
            return 1.0, 0.0
        ending = [end - start for start, end, _ in sample if end != FOREVER]
        return math.fsum(ending) / len(ending) if ending else 0.0, 1 - len(ending) / len(sample)

    def _granule(self, sample: Sequence[Element]) -> int:
        """The ends of chronons tell nothing."""
        starts = (int(element[0]) for element in sample)
        if not self._source.intervals:
            return math.gcd(*starts)
        ends = (int(end) for start, end, _ in sample if end not in (FOREVER, start + 1))
        return math.gcd(*starts, *ends)


def _chance(noise: bytes, at: int, number: int) -> bytes:
    """So many bytes of chance from a place on; the same ones again where there are not so many."""
    piece = noise[at : at + number]
    return piece if len(piece) == number else (noise[at:] * (number // (len(noise) - at) + 1))[:number]


def _grouped(sample: Iterable[Element], groups: bytes) -> list[list[Payload]]:
    parts: list[list[Payload]] = [[] for _ in range(GROUPS)]
    for group, element in zip(groups, sample, strict=True):
        parts[group].append(element[2])
    return parts


def _counts(parts: Iterable[Sequence[Payload]], value: itemgetter[int]) -> list[Mapping[Hashable, int]]:
    """How often each value of a column is in each group."""
    found: list[Mapping[Hashable, int]] = []
    for rows in parts:
        counts: Counter[Hashable] = Counter(map(value, rows))
        del counts[None]
        found.append(counts)
    return found
