"""A log: the elements of a stream inside a plan that are still valid, kept on request."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from operator import itemgetter

from midstream.plans.values.streams import BEGINNING, Batch, Element, Time


class Log:
    """The elements of a stream that are still valid at the last element's start.

    `complete_from` is the instant at which all elements have expired that came before the log was requested:
    from it on the log lacks no valid element.

    State    The elements that end after the last one's start.
    Cost     O(log n) per element.

    >>> log = Log(complete_from=4)
    >>> log.see([(1, 9, "a"), (2, 5, "b"), (3, 4, "c")])
    >>> log.see([(4, 6, "d")])
    >>> len(log), log.valid_from(4.5)
    (3, [(4.5, 9, 'a'), (4.5, 5, 'b'), (4.5, 6, 'd')])
    """

    __slots__ = ("_arrivals", "_valid", "complete_from")

    def __init__(self, complete_from: Time = BEGINNING) -> None:
        self.complete_from = complete_from
        self._arrivals = count()
        self._valid: list[tuple[Time, int, Element]] = []
        """A heap of the valid elements by ends."""

    def see(self, batch: Batch) -> None:
        """Add elements in order of start, and drop those that have expired by then."""
        valid, arrivals = self._valid, self._arrivals
        for element in batch:
            heappush(valid, (element[1], next(arrivals), element))
        now = batch[-1][0]
        while valid and valid[0][0] <= now:
            heappop(valid)

    def valid_from(self, time: Time) -> Batch:
        """The elements valid at a time or later, cut to begin there, in order of arrival.

        No element has started after that time.

        Cost     O(n log n)
        """
        valid = sorted(((n, element) for end, n, element in self._valid if end > time), key=itemgetter(0))
        return [(max(start, time), end, payload) for _, (start, end, payload) in valid]

    def __len__(self) -> int:
        return len(self._valid)

    def __iter__(self) -> Iterator[Element]:
        """The elements in the log."""
        return (element for _, _, element in self._valid)
