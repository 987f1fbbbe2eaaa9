"""Collects the data for statistics of streams, cell by cell of a grid of application time."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from random import Random

from midstream.operators.compile.inlets import FULL
from midstream.operators.engine.measuring.sampling import CellSample, StreamSampler, chance_of
from midstream.plans.algebra.operators import Source
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.observations import GROUPS, Cell
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Batch, Element, Payload, Time

MOST = 40
"""The largest number of rows of a stream that are sampled in a cell of the grid."""
LONG = 8
"""The number of cells of the grid from which on a longer one has no larger sample; and those of a block."""
TIMESTAMPS = 16
"""The number of elements of a sample, or somewhat more, whose timestamps are read."""
_CHANCE = Random(0)
"""A generator with a fixed seed, the same in every run."""
_GROUPS = bytes(_CHANCE.randrange(GROUPS) for _ in range(1 << 15))


class Collector:
    """Watches streams, and sums up each cell of time when the stream has passed it.

    A cell lasts from an instant of the grid, a multiple of `step`, to the next one. Its summary has the exact
    number of elements, and a sample of `most` random rows, or all rows if there are fewer. For the `columns`
    of each stream, the values in the sample are counted. Random choices are the same in every run (see
    `sampling`), so the summary depends on the elements only: neither on batches, nor on other streams.

    A caller may also say what is a cell, of several steps of the grid: its sample is as many times as large,
    up to `LONG` times.

    Input    `take` gets each stream's elements in order of start; `progress` is that behind them.
    State    A sample of each stream's last cell, and its last `FULL` elements; summaries that nobody has
             asked for.
    Cost     O(`most`) per cell and stream, so more elements cost less each.

    >>> import midstream as ms
    >>> s = ms.stream("s", x="integer")
    >>> collector = Collector([s.node.operator], {"s": ["x"]}, step=10)
    >>> collector.take("s", [(1, 2, (7,)), (4, 5, (8,)), (9, 10, (7,)), (12, 13, (9,))], 12)
    >>> for cell in collector.cells(10):
    ...     print(cell.start, cell.end, cell.elements, cell.keys["x"])
    0 10 3 Counter({7: 2, 8: 1})
    """

    def __init__(
        self,
        sources: Iterable[Source],
        columns: Mapping[str, Iterable[str]],
        step: int,
        most: int = MOST,
    ) -> None:
        for name, number in (("step", step), ("most", most)):
            require(f"collector: {name}", number, int, "a whole number")
        if step < 1 or most < 1:
            raise ArgumentError(f"collector: found step = {step}, most = {most}, expected 1 or more")
        self._streams = {
            source.stream: _Gathering(source, tuple(columns.get(source.stream, ())), step, most)
            for source in sources
        }

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Take elements of a stream, possibly none, and their progress; other streams are ignored."""
        gathering = self._streams.get(stream)
        if gathering is not None:
            gathering.take(batch, progress)

    def take_cell(self, stream: str, elements: Batch, start: int, end: int) -> None:
        """Take all elements of a stream between two instants of the grid, not none, as one cell."""
        gathering = self._streams.get(stream)
        if gathering is not None:
            gathering.take_cell(elements, start, end)

    def cells(self, until: Time) -> list[Cell]:
        """The cells that end by an instant, in order of time, each once.

        All streams must have come to that instant. A cell without elements of a stream is left out.
        """
        return sorted(
            (cell for gathering in self._streams.values() for cell in gathering.give(until)),
            key=lambda cell: (cell.end, cell.stream),
        )


class _Gathering:
    """A sample of the elements of a stream in a cell, and the summaries of earlier cells."""

    def __init__(self, source: Source, columns: Sequence[str], step: int, most: int) -> None:
        self._summary = Summary(source, columns, step, most)
        self._sampler, self._step, self._most = StreamSampler(source.stream, LONG * step), step, most
        self._sample = CellSample(most)
        self._elements: list[Element] = []
        """The last elements, which are not in the sample yet: many at once cost less each."""
        self._until: Time = BEGINNING
        self._summaries: list[Cell] = []

    def take(self, batch: Batch, progress: Time) -> None:
        while batch and batch[-1][0] >= self._until:
            inside = bisect_left(batch, self._until, key=START)
            self._elements += batch[:inside]
            self._close()
            batch = batch[inside:]
            self._until = self._grid(batch[0][0]) + self._step
        self._elements += batch
        if progress >= self._until:
            self._close()
        elif len(self._elements) >= FULL:
            self._add()

    def take_cell(self, elements: Batch, start: int, end: int) -> None:
        sample = CellSample(LONG * self._most)
        self._sampler.add(elements, sample)
        self._summaries.append(self._summary(sample, start, end))

    def give(self, until: Time) -> list[Cell]:
        """The summaries of cells that end by an instant; they are forgotten here."""
        if self._until <= until:
            self._close()
        mine = [cell for cell in self._summaries if cell.end <= until]
        del self._summaries[: len(mine)]
        return mine

    def _grid(self, start: Time) -> int:
        """The start of the cell in which an element starts."""
        return int(start) - int(start) % self._step

    def _add(self) -> None:
        self._sampler.add(self._elements, self._sample)
        self._elements.clear()

    def _close(self) -> None:
        self._add()
        if self._sample.count:
            start = self._grid(self._sample.first)
            self._summaries.append(self._summary(self._sample, start, start + self._step))
            self._sample = CellSample(self._most)


class Summary:
    """Sums up samples of a stream's cells, which may be of several steps of a grid."""

    def __init__(self, source: Source, columns: Iterable[str], step: int, most: int = MOST) -> None:
        self._stream, self._has_intervals = source.stream, source.intervals
        self._columns = {name: source.columns.index(name) for name in columns}
        self._step, self._most = step, most

    def __call__(self, sample: CellSample, start: int, end: int) -> Cell:
        """The summary of a cell between two instants of the grid, which is not empty."""
        elements = sample.elements(self._most * min(LONG, max(1, (end - start) // self._step)))
        length, endless = _lengths(elements) if self._has_intervals else (1.0, 0.0)
        granule = _granule(elements[:: len(elements) // TIMESTAMPS or 1], self._has_intervals)
        rows = [row for _, _, row in elements]
        of_rows = _sample(rows, chance_of(self._stream, end // self._step - 1), self._columns)
        first, count = int(sample.first), sample.count
        return Cell(self._stream, start, end, first, count, length, endless, granule, *of_rows)


def cell_of_rows(
    stream: str,
    columns: Mapping[str, int],
    start: int,
    step: int,
    first: int,
    count: int,
    times: Sequence[int],
    rows: Sequence[Payload],
) -> Cell:
    """The summary of a cell from the same data that a collector would sample.

    So elements may be counted and picked elsewhere, by `sampling`.

    columns    the positions of columns whose values are counted, by name
    times      the timestamps of the rows, in order
    """
    times = times[:: len(times) // TIMESTAMPS or 1]
    sample = _sample(rows, chance_of(stream, start // step), columns)
    return Cell(stream, start, start + step, first, count, 1.0, 0.0, math.gcd(*times), *sample)


def _sample(
    rows: Sequence[Payload], chance: int, columns: Mapping[str, int]
) -> tuple[Sequence[Payload], bytes, Mapping[str, Mapping[Hashable, int]]]:
    """Rows, with their groups and the counts of their values, as a cell has them."""
    keys = {name: _counts(map(itemgetter(place), rows)) for name, place in columns.items()}
    return rows, _piece(_GROUPS, chance, len(rows)), keys


def _lengths(sample: Sequence[Element]) -> tuple[float, float]:
    """The average validity of elements that end, and the share of elements without an end."""
    ending = [end - start for start, end, _ in sample if end != FOREVER]
    return math.fsum(ending) / len(ending) if ending else 0.0, 1 - len(ending) / len(sample)


def _granule(some: Sequence[Element], has_intervals: bool) -> int:
    """The granule of some timestamps; the ends of chronons tell nothing, and are left out."""
    times = [int(start) for start, _, _ in some]
    if has_intervals:
        times += [int(end) for start, end, _ in some if end not in (FOREVER, start + 1)]
    return math.gcd(*times)


def _piece(chance: bytes, at: int, number: int) -> bytes:
    """A piece of random bytes from a position on; beyond the end it repeats."""
    at %= len(chance)
    piece = chance[at : at + number]
    return piece if len(piece) == number else (chance * (number // len(chance) + 2))[at : at + number]


def _counts(values: Iterable[Hashable]) -> Mapping[Hashable, int]:
    """The number of times that each value of a column occurs; NULL does not count."""
    counts = Counter(values)
    if None in counts:
        del counts[None]
    return counts
