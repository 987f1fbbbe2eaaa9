"""Segments: the results of groups under construction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from midstream.plans.values.streams import Batch, Element, Time


class Segments:
    """The segments of groups in the order in which they opened, which is that of their starts.

    They are kept as columns; results are built when they leave.

    >>> segments = Segments(1)
    >>> segments.starts += [1, 2, 3]; segments.ends += [5, None, 4]; segments.columns[0] += ["a", None, "b"]
    >>> segments.take(), len(segments), segments.first_start
    ([(1, 5, ('a',))], 2, 2)
    """

    __slots__ = ("_first", "columns", "ends", "hollow", "starts", "taken")

    def __init__(self, columns: int) -> None:
        self.starts: list[Time] = []
        self.ends: list[Time | None] = []
        """The ends; None for an open segment, the start for an empty one."""
        self.columns: list[list[Any]] = [[] for _ in range(columns)]
        """The columns of the payloads."""
        self.hollow = 0
        """The number of empty segments that have not left."""
        self.taken = 0
        """The number of segments before the first one in the columns."""
        self._first = 0

    def take(self) -> Batch:
        """Take out the closed segments up to the first open one.

        Cost     O(1) each, amortised
        """
        starts, ends, first = self.starts, self.ends, self._first
        at, size = first, len(ends)
        while at < size and ends[at] is not None:
            at += 1
        if at == first:
            return []
        payloads = zip(*[column[first:at] for column in self.columns], strict=True)
        out = cast(Batch, list(zip(starts[first:at], ends[first:at], payloads, strict=True)))
        if self.hollow:
            lasting = [element for element in out if element[0] < element[1]]
            self.hollow -= len(out) - len(lasting)
            out = lasting
        if 2 * at > size:  # so that no more is moved than has left
            del starts[:at], ends[:at]
            for column in self.columns:
                del column[:at]
            self.taken += at
            at = 0
        self._first = at
        return out

    @property
    def first_start(self) -> Time:
        """The start of the first segment that has not left."""
        return self.starts[self._first]

    def __len__(self) -> int:
        return len(self.starts) - self._first

    def __iter__(self) -> Iterator[Element]:
        for i in range(self._first, len(self.starts)):
            start, end = self.starts[i], self.ends[i]
            # The end of an open segment is not known yet; it lies ahead.
            yield start, start if end is None else end, tuple(column[i] for column in self.columns)
