"""The starts of the elements of a cell, and their numbers in the stream.

    expected number of elements until t  =  area(t)  =  integral of the rate from 0 to t

The number of elements of a Poisson process is a Poisson variable of the whole area. Half of the time has a
binomial part of them, half of that again, and so on. So finding a cell's elements, and how many come before,
takes as many steps as a tree of cells is high. Within a cell the areas of elements are uniform.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from midstream.scenarios.streams.instants import ROUNDING, pieces_of
from midstream.scenarios.streams.nexmark.counters import drawer
from midstream.scenarios.streams.stream_spec import Poisson, StreamSpec, Trace

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

IN_CELL = 65_536
"""The average number of elements in a cell, about."""


@dataclass(frozen=True)
class Arrivals:
    """The starts of the elements of a stream.

    width    of a cell, in chronons
    cells    how many there are; a power of 2
    """

    seed: int
    name: str
    is_poisson: bool
    duration: int
    width: int
    cells: int
    _since: Floats
    _rates: Floats
    _slopes: Floats
    _areas: Floats

    @property
    def expected(self) -> float:
        """The expected number of elements."""
        return float(self._areas[-1])

    def numbered(self, first: int, end: int) -> Iterator[tuple[int, int, Integers]]:
        """The cells in [first, end), each with its first element's number and the starts of its elements."""
        if self.is_poisson:
            total = int(drawer(self.seed, self.name, "count").poisson(self.expected))
            for cell, number, count in self._split(1, 0, self.cells, 0, total, first, end):
                yield cell, number, self._poisson(cell, count)
        else:
            for cell in range(first, end):
                yield cell, *self._regular(cell)

    def bounds(self, cell: int) -> tuple[int, int]:
        """The first chronon of a cell, and the first behind it."""
        return min(cell * self.width, self.duration), min((cell + 1) * self.width, self.duration)

    def _split(
        self, node: int, left: int, right: int, number: int, count: int, first: int, end: int
    ) -> Iterator[tuple[int, int, int]]:
        """The cells of a node of the tree, with the number of the first element and the count of elements."""
        if right <= first or left >= end:
            return
        if right - left == 1:
            yield left, number, count
            return
        middle = (left + right) // 2
        area = [float(self.area(np.array([float(self.bounds(c)[0])]))[0]) for c in (left, middle)]
        whole = float(self.area(np.array([float(self.bounds(right - 1)[1])]))[0]) - area[0]
        share = min(1.0, (area[1] - area[0]) / whole) if whole > 0 else 0.0
        part = int(drawer(self.seed, self.name, "split", node).binomial(count, share))
        yield from self._split(2 * node, left, middle, number, part, first, end)
        yield from self._split(2 * node + 1, middle, right, number + part, count - part, first, end)

    def _poisson(self, cell: int, count: int) -> Integers:
        since, until = self.bounds(cell)
        low, high = self.area(np.array([since, until], np.float64))
        areas = np.sort(drawer(self.seed, self.name, "arrivals", cell).uniform(low, high, count))
        return np.clip(self._starts(areas), since, max(since, until - 1))

    def _regular(self, cell: int) -> tuple[int, Integers]:
        since, until = self.bounds(cell)
        low, high = self.area(np.array([since, until], np.float64))
        # An element next to a cell's end may belong to the other cell, as instants are rounded.
        numbers = np.arange(max(0, int(low) - 2), min(int(high) + 3, int(np.ceil(self.expected))))
        starts = self._starts(numbers.astype(np.float64))
        inside = (starts >= since) & (starts < until)
        return (int(numbers[inside][0]) if inside.any() else 0), starts[inside]

    def area(self, times: Floats) -> Floats:
        """The expected number of elements that start before each of some instants."""
        at = np.clip(np.searchsorted(self._since, times, "right") - 1, 0, len(self._rates) - 1)
        past = np.minimum(times, self.duration) - self._since[at]
        found: Floats = self._areas[at] + self._rates[at] * past + self._slopes[at] * past * past / 2
        return found

    def _starts(self, areas: Floats) -> Integers:
        """The chronons at which the expected numbers of elements reach some areas."""
        at = np.clip(np.searchsorted(self._areas, areas, "right") - 1, 0, len(self._rates) - 1)
        area, rate, slope = areas - self._areas[at], self._rates[at], self._slopes[at]
        root = np.sqrt(np.maximum(0.0, rate * rate + 2 * slope * area))
        past = np.divide(2 * area, rate + root, out=np.zeros_like(area), where=area > 0)
        last = np.nextafter(np.append(self._since[1:], float(self.duration)), 0.0)
        instants = np.minimum(self._since[at] + past, last[at])
        found: Integers = np.floor(instants + ROUNDING).astype(np.int64)
        return found


def arrivals_of(name: str, spec: StreamSpec, second: int, seed: int, duration: int) -> Arrivals:
    """The arrivals of a stream, as the simulator has them.

    Cost     O(bursts and points of courses); they are the same for all cells.
    """
    process = spec.arrivals
    assert not isinstance(process, Trace)
    random = Random(f"{seed}/{name}/arrivals")
    pieces = [piece for piece in pieces_of(process, second, random, duration) if piece.until > piece.since]
    areas = np.concatenate([[0.0], np.cumsum([piece.area for piece in pieces])])
    cells = 1
    while cells * IN_CELL < areas[-1] and cells < duration:
        cells *= 2
    given: dict[str, Any] = {
        "_since": np.array([piece.since for piece in pieces]),
        "_rates": np.array([piece.rate for piece in pieces]),
        "_slopes": np.array([(p.last_rate - p.rate) / (p.until - p.since) for p in pieces]),
        "_areas": areas,
    }
    return Arrivals(seed, name, isinstance(process, Poisson), duration, -(-duration // cells), cells, **given)
