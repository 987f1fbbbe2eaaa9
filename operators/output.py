"""Results that are found out of order, given out in order."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from operator import itemgetter

from midstream.plans.streams import Batch, Element, Time

_START = itemgetter(0)


class OrderedOutput:
    """Holds back each result until no earlier one can come.

    State    The results that start after the last bound.
    Cost     O(log n) for a result that is held, O(1) for one that is not, plus sorting what one call
             releases.
    Source   procedure TRANSFER (thesis, 11.5.3), with a heap only for what must wait.

    >>> output = OrderedOutput()
    >>> output.release([(5, 9, "b"), (3, 9, "a")], bound=4)
    [(3, 9, 'a')]
    >>> output.release([], bound=5)
    [(5, 9, 'b')]
    """

    __slots__ = ("_arrivals", "_held")

    def __init__(self) -> None:
        self._held: list[tuple[Time, int, Element]] = []
        self._arrivals = count()

    def release(self, fresh: Batch, bound: Time) -> Batch:
        """Take new results; give out, in order, all that start at or before the bound."""
        held = self._held
        ready: Batch = []
        while held and held[0][0] <= bound:
            ready.append(heappop(held)[2])
        for element in fresh:
            if element[0] <= bound:
                ready.append(element)
            else:
                heappush(held, (element[0], next(self._arrivals), element))
        ready.sort(key=_START)
        return ready

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Element]:
        return (element for _, _, element in self._held)
