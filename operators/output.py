"""Results that are found out of order, given out in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from operator import itemgetter

from midstream.plans.streams import Batch, Element, Time

_START = itemgetter(0)
_ARRIVAL = itemgetter(1)


def _descending(element: Element) -> Time:
    return -element[0]


class OrderedOutput:
    """Holds back each result until no earlier one can come.

    What one call holds back is kept as one ordered run, its first result last; a heap tells which run has the
    earliest.

    State    The results that start after the last bound.
    Cost     O(log n) per result; O(1) per result of a call that comes in order and is not held.
    Source   procedure TRANSFER (thesis, 11.5.3), with a heap of runs, and only for what must wait.

    >>> output = OrderedOutput()
    >>> output.release([(5, 9, "b"), (3, 9, "a")], bound=4)
    [(3, 9, 'a')]
    >>> output.release([], bound=5)
    [(5, 9, 'b')]
    """

    __slots__ = ("_arrivals", "_runs", "_size")

    def __init__(self) -> None:
        self._runs: list[tuple[Time, int, Batch]] = []
        self._arrivals = count()
        self._size = 0

    def release(self, fresh: Batch, bound: Time) -> Batch:
        """Take new results; give out, in order, all that start at or before the bound.

        The list that is given is not changed, and not given back.
        """
        runs = self._runs
        if len(fresh) < 2:
            return self._release_one(fresh, bound)
        fresh = sorted(fresh, key=_START)
        if runs and runs[0][0] <= bound:
            ready = self._due(bound)
        elif fresh[-1][0] <= bound:
            return fresh
        else:
            ready = []
        cut = bisect_right(fresh, bound, key=_START)
        if cut < len(fresh):
            self._hold(fresh[: cut - 1 if cut else None : -1])
            del fresh[cut:]
        if ready and fresh:
            ready += fresh
            ready.sort(key=_START)
            return ready
        return ready or fresh

    def _release_one(self, fresh: Batch, bound: Time) -> Batch:
        """The same for one result or none, as single elements bring."""
        runs = self._runs
        late = not fresh or fresh[0][0] > bound
        if fresh and late:
            self._size += 1
            heappush(runs, (fresh[0][0], next(self._arrivals), fresh[:]))
        if not runs or runs[0][0] > bound:
            return [] if late else fresh[:]
        ready = self._due(bound)
        if not late:
            ready += fresh
            if ready[-2][0] > fresh[0][0]:
                ready.sort(key=_START)
        return ready

    def _hold(self, run: Batch) -> None:
        """Keep a run, whose first result is its last item."""
        self._size += len(run)
        heappush(self._runs, (run[-1][0], next(self._arrivals), run))

    def _due(self, bound: Time) -> Batch:
        """Take out what starts at or before the bound, in order, ties as they came."""
        runs = self._runs
        touched = []
        is_simple = True
        while runs and runs[0][0] <= bound:
            touched.append(heappop(runs))
            is_simple = is_simple and len(touched[-1][2]) == 1
        if is_simple:
            # Each run is one result, and the heap has put them in order.
            self._size -= len(touched)
            return [run[0] for _, _, run in touched]
        touched.sort(key=_ARRIVAL)
        ready: Batch = []
        for _, number, run in touched:
            later = bisect_left(run, -bound, key=_descending)
            ready += run[: later - 1 if later else None : -1]
            del run[later:]
            if run:
                heappush(runs, (run[-1][0], number, run))
        self._size -= len(ready)
        if len(touched) > 1:
            ready.sort(key=_START)
        return ready

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Element]:
        return (element for _, _, run in self._runs for element in run)
