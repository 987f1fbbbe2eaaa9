"""Samples of the elements of streams, taken as they come, in bounded memory.

Each element has a random number, and a sample has the elements with the least ones. So two samples of
neighbouring times are merged into the sample of both, and nothing depends on how elements came in pieces.

    number of an element  =  hash of its stream, its block of time, and its place in that block

The place and not the row is hashed: rows that are equal keep their weight, and an element that is in no
sample costs next to nothing.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar
from zlib import crc32

from xxhash import xxh64_intdigest

from midstream.plans.values.streams import BEGINNING, FOREVER, START, Batch, Element, Time

BITS = 15
PLACES = 1 << BITS
"""The number of places in a block that have numbers of their own."""
SEGMENT = 256
"""The number of places whose numbers are sorted."""
MANY = 1024
"""The largest number of elements that are added at once."""
ENOUGH = 1.5
"""The number of elements for each one of a sample from which on only some are looked at."""
FEW = 16
"""The number of elements up to which each is looked at."""
CELLS = 64
"""The number of cells of elements ahead of a look, from which on neighbours are merged."""
SEED = 42
"""The seed of hashes, which is that of Spark."""
CYCLE = 7_919
"""The places by which numbers are moved in each further round of a block."""

T = TypeVar("T")


def chance_of(stream: str, number: int) -> int:
    """The random number of a stream's cell or block, by its number.

    Neighbours and other streams have other numbers.
    """
    return crc32(stream.encode()) + 40_503 * number


def number_of(place: int) -> int:
    """The number of a place below PLACES, which is a number below PLACES, too: some bits of its XXH64.

    Spark computes the same as `shiftrightunsigned(xxhash64(place), 49)`.

    >>> number_of(0), number_of(1)
    (23437, 20330)
    """
    return xxh64_intdigest(place.to_bytes(8, "little"), SEED) >> 64 - BITS


class _Numbers(NamedTuple):
    """The numbers of places, twice one behind the other; and by segment its places by number, and these."""

    by_place: array[int]
    places: Sequence[bytes]
    sorted: Sequence[array[int]]


@cache
def _numbers() -> _Numbers:
    by_place = array("H", map(number_of, range(PLACES)))
    places, ordered = [], []
    for first in range(0, PLACES, SEGMENT):
        pairs = sorted((by_place[first + i], i) for i in range(SEGMENT))
        places.append(bytes(i for _, i in pairs))
        ordered.append(array("H", (number for number, _ in pairs)))
    return _Numbers(by_place + by_place, places, ordered)


Picked = tuple[int, int, int, Element]
"""An element of a sample, in the order of samples.

    its number
    a random number of its block, which decides between equal ones
    the number of elements of the stream that came before
    the element
"""


class CellSample:
    """The number of elements in a cell of time, the first start, and a sample of `most` elements.

    State    At most twice `most` elements.
    """

    __slots__ = ("_limit", "_most", "_picked", "count", "first")

    def __init__(self, most: int) -> None:
        self._most = most
        self.count = 0
        self.first: Time = FOREVER
        self._picked: list[Picked] = []
        self._limit = PLACES
        """The number from which on no element gets into the sample."""

    def merge(self, other: CellSample) -> CellSample:
        """Add the elements of a neighbouring cell; returns this sample."""
        self.count += other.count
        self.first = min(self.first, other.first)
        self._picked += other._picked
        self._reduce()
        return self

    def add(self, elements: Batch, since: int, until: int, place: int, tie: int, order: int) -> None:
        """Add some of the elements of a batch, whose numbers are those from a place on.

        Cost     O(elements that get into the sample, and elements / `SEGMENT`)
        """
        number, limit = until - since, self._limit
        if not self.count:
            self.first = elements[since][0]
            if number > ENOUGH * self._most:
                # So many elements have enough numbers below, all but certainly.
                limit = int(ENOUGH * self._most * PLACES / number)
        self.count += number
        self._picked += _picked(elements, since, until, place, tie, order, limit)
        if limit < self._limit and len(self._picked) < self._most:
            self._picked = _picked(elements, since, until, place, tie, order, PLACES)
        self._reduce()

    def _reduce(self) -> None:
        if len(self._picked) > 2 * self._most or (len(self._picked) > self._most and self._limit == PLACES):
            self._picked.sort()
            del self._picked[self._most :]
            # An equal number may win by its tie.
            self._limit = self._picked[-1][0] + 1

    def elements(self, most: int) -> list[Element]:
        """A sample of at most so many elements, in order of time."""
        picked = sorted(self._picked)[:most] if len(self._picked) > most else self._picked
        return [element for _, _, _, element in sorted(picked, key=itemgetter(2))]


def _picked(
    elements: Batch, since: int, until: int, place: int, tie: int, order: int, limit: int
) -> list[Picked]:
    """Some elements of a batch, of those whose numbers are below a limit."""
    numbers, moved = _numbers(), order - since
    if until - since <= FEW or limit == PLACES:
        some = numbers.by_place[place : place + until - since]
        return [
            (number, tie, moved + i, elements[i]) for i, number in enumerate(some, since) if number < limit
        ]
    found: list[Picked] = []
    for first in range(place - place % SEGMENT, place + until - since, SEGMENT):
        segment, to = first % PLACES // SEGMENT, first - place + since
        those, places = numbers.sorted[segment], numbers.places[segment]
        below = bisect_left(those, limit)
        found += [
            (number, tie, moved + i, elements[i])
            for number, nth in zip(those[:below], places[:below], strict=True)
            if since <= (i := to + nth) < until
        ]
    return found


class StreamSampler:
    """Numbers the elements of a stream: each gets the hash of its place in a block of time, from 0 on."""

    def __init__(self, stream: str, length: int) -> None:
        """`length` is that of a block, in chronons."""
        self._stream, self._length = stream, length
        self._end: Time = BEGINNING
        """The end of the block."""
        self._chance = 0
        """The random number of the block."""
        self._place = self._order = 0

    def add(self, elements: Batch, sample: CellSample) -> None:
        """Add further elements of the stream to a sample."""
        at, number = 0, len(elements)
        while at < number:
            if elements[at][0] >= self._end:
                block = int(elements[at][0] // self._length)
                self._end, self._place = (block + 1) * self._length, 0
                self._chance = chance_of(self._stream, block)
            until = number
            if elements[-1][0] >= self._end:
                until = bisect_left(elements, self._end, at, key=START)
            while at < until:
                at = self._add(elements, at, until, sample)

    def _add(self, elements: Batch, at: int, until: int, sample: CellSample) -> int:
        """Add some elements of one round of a block; returns where the others begin."""
        # The numbers of a round come again in the next one, at other places.
        turn, place = divmod(self._place, PLACES)
        until = min(until, at + MANY, at + PLACES - place)
        moved = self._chance + CYCLE * turn
        tie = _numbers().by_place[(self._chance + turn) % PLACES]
        sample.add(elements, at, until, (place + moved) % PLACES, tie, self._order)
        self._place += until - at
        self._order += until - at
        return until


def by_step(elements: Batch, until: Time, step: int) -> Iterator[tuple[int | None, Batch]]:
    """The elements before an instant, without a number; then those of each step of a grid, with its number.

    >>> list(by_step([(1, 2, "a"), (4, 5, "b"), (5, 6, "c"), (9, 10, "d")], 2, 5))
    [(None, [(1, 2, 'a')]), (0, [(4, 5, 'b')]), (1, [(5, 6, 'c'), (9, 10, 'd')])]
    """
    at = bisect_left(elements, until, key=START)
    if at:
        yield None, elements[:at]
    while at < len(elements):
        number = int(elements[at][0] // step)
        since, at = at, bisect_left(elements, (number + 1) * step, at, key=START)
        yield number, elements[since:at]


class Ahead(Generic[T]):
    """Values of the cells ahead of a look, by the number of each cell's last step.

    If there would be more than `CELLS` of them, each becomes twice as long.
    """

    def __init__(self, merge: Callable[[T, T], T]) -> None:
        self._merge = merge
        self._width = 1
        """The steps of a cell."""
        self.cells: dict[int, T] = {}
        """The values by the number of the last step, in order."""

    def add(self, number: int, value: T) -> None:
        """Add the value of a step, by its number, which is none before the last one."""
        last = self._last(number)
        self.cells[last] = self._merge(self.cells[last], value) if last in self.cells else value
        if len(self.cells) > CELLS:
            self._width *= 2
            cells, self.cells = self.cells, {}
            for last, one in cells.items():
                self.add(last, one)

    def _last(self, number: int) -> int:
        return number - number % self._width + self._width - 1

    def drop(self, number: int) -> None:
        """Drop the values of the cells that end with a step or a later one."""
        self.cells = {last: one for last, one in self.cells.items() if last < number}

    def next(self, number: int | None) -> int | None:
        """The last step of the first cell that does not end before a step; None where there is none."""
        return next((last for last in self.cells if number is None or last >= number), None)

    def first(self, number: int) -> list[T]:
        """Take the values of the cells away that end before a step, by its number."""
        taken = [last for last in self.cells if last < number]
        values = [self.cells.pop(last) for last in taken]
        if not self.cells:
            self._width = 1
        return values
