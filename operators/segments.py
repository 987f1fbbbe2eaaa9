"""The results of groups while they come about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from midstream.plans.streams import Batch, Element, Payload, Time


class Segments:
    """The segments of groups in the order in which they opened, which is that of their starts.

    They are kept as columns; results are made of them when they leave.

    >>> segments = Segments()
    >>> segments.starts += [1, 2, 3]; segments.ends += [5, None, 4]; segments.payloads += ["a", None, "b"]
    >>> segments.take(), len(segments), segments.first_start
    ([(1, 5, 'a')], 2, 2)
    """

    __slots__ = ("_first", "ends", "hollow", "payloads", "starts", "taken")

    def __init__(self) -> None:
        self.starts: list[Time] = []
        self.ends: list[Time | None] = []
        """None where one is open."""
        self.payloads: list[Payload | None] = []
        """None where one is open, and where one came to nothing."""
        self.hollow = 0
        """How many came to nothing and have not left."""
        self.taken = 0
        """How many came before the first of the columns."""
        self._first = 0

    def take(self) -> Batch:
        """The closed ones up to the first that is open. Cost: O(1) each, amortised."""
        starts, ends, payloads, first = self.starts, self.ends, self.payloads, self._first
        at, size = first, len(ends)
        while at < size and ends[at] is not None:
            at += 1
        if at == first:
            return []
        out = cast(Batch, list(zip(starts[first:at], ends[first:at], payloads[first:at], strict=True)))
        if self.hollow:
            found = [one for one in out if one[2] is not None]
            self.hollow -= len(out) - len(found)
            out = found
        if 2 * at > size:  # so that what is moved is no more than what has left
            del starts[:at], ends[:at], payloads[:at]
            self.taken += at
            at = 0
        self._first = at
        return out

    @property
    def first_start(self) -> Time:
        """The start of the first that has not left."""
        return self.starts[self._first]

    def __len__(self) -> int:
        return len(self.starts) - self._first

    def __iter__(self) -> Iterator[Element]:
        for i in range(self._first, len(self.starts)):
            end = self.ends[i]
            # An open one's end is not known yet; it lies ahead.
            yield self.starts[i], self.starts[i] if end is None else end, self.payloads[i]
