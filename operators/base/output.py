"""Results that are computed out of order and given out in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from operator import itemgetter

from midstream.plans.values.streams import START, Batch, Element, Time

_ARRIVAL = itemgetter(1)


def _descending(element: Element) -> Time:
    return -element[0]


class OrderedOutput:
    """Holds back each result until no earlier one can come.

    While held results arrive in order, for example where streams are in step, a queue suffices. Results out
    of order are kept as one ordered run per call, its first result last; a heap finds the run with the
    earliest result. Results come in batches, and are mostly due at once; with an Expiry of single results, a
    union would take twice as long, and duplicate elimination a tenth to a quarter longer.

    State    The results that start after the last bound.
    Cost     O(1) per result that comes in order, else O(log n).
    Source   procedure TRANSFER (thesis, 11.5.3), with a heap of runs, and only for results that must wait

    >>> output = OrderedOutput()
    >>> output.release([(5, 9, "b"), (3, 9, "a")], bound=4)
    [(3, 9, 'a')]
    >>> output.release([], bound=5)
    [(5, 9, 'b')]
    """

    __slots__ = ("_arrivals", "_in_runs", "queue", "runs")

    def __init__(self) -> None:
        self.queue: deque[Element] = deque()
        """The results held in order; callers may read it and `runs`, but not change them."""
        self.runs: list[tuple[Time, int, Batch]] = []
        """The results held out of order."""
        self._arrivals = count()
        self._in_runs = 0

    def release(self, fresh: Batch, bound: Time) -> Batch:
        """Take new results; return all that start at or before the bound, in order, ties in order of arrival.

        The given list is neither changed nor returned.
        """
        queue, runs = self.queue, self.runs
        ready: Batch = []
        while queue and queue[0][0] <= bound:
            ready.append(queue.popleft())
        if runs and runs[0][0] <= bound:
            # Of equal starts, those in the queue came first, as it takes none while there are runs.
            ready = _merged(ready, self._due(bound))
        if len(fresh) == 1:
            element = fresh[0]
            start = element[0]
            if start > bound:
                if not runs and (not queue or start >= queue[-1][0]):
                    queue.append(element)
                else:
                    self._hold(fresh[:])
                return ready
            ready.append(element)
            if len(ready) > 1 and ready[-2][0] > start:
                ready.sort(key=START)
            return ready
        return self._release_many(fresh, ready, bound) if fresh else ready

    def _release_many(self, fresh: Batch, ready: Batch, bound: Time) -> Batch:
        fresh = sorted(fresh, key=START)
        if fresh[-1][0] > bound:
            cut = bisect_right(fresh, bound, key=START)
            held = fresh[cut:]
            del fresh[cut:]
            if not self.runs and (not self.queue or held[0][0] >= self.queue[-1][0]):
                self.queue.extend(held)
            else:
                held.reverse()
                self._hold(held)
        return _merged(ready, fresh)

    def _hold(self, run: Batch) -> None:
        """Keep a run, whose first result is its last item."""
        self._in_runs += len(run)
        heappush(self.runs, (run[-1][0], next(self._arrivals), run))

    def _due(self, bound: Time) -> Batch:
        """Take out the results that start at or before the bound, in order, ties in order of arrival."""
        runs = self.runs
        touched = []
        is_simple = True
        while runs and runs[0][0] <= bound:
            touched.append(heappop(runs))
            is_simple = is_simple and len(touched[-1][2]) == 1
        if is_simple:
            # Each run is one result, and the heap has put them in order.
            self._in_runs -= len(touched)
            return [run[0] for _, _, run in touched]
        touched.sort(key=_ARRIVAL)
        ready: Batch = []
        for _, number, run in touched:
            later = bisect_left(run, -bound, key=_descending)
            ready += run[: later - 1 if later else None : -1]
            del run[later:]
            if run:
                heappush(runs, (run[-1][0], number, run))
        self._in_runs -= len(ready)
        if len(touched) > 1:
            ready.sort(key=START)
        return ready

    def __len__(self) -> int:
        return len(self.queue) + self._in_runs

    def __iter__(self) -> Iterator[Element]:
        yield from self.queue
        for _, _, run in self.runs:
            yield from run


def _merged(first: Batch, then: Batch) -> Batch:
    """Merge two ordered batches; ties come from the first one first."""
    if not first or not then:
        return first or then
    is_behind = first[-1][0] <= then[0][0]
    first += then
    if not is_behind:
        first.sort(key=START)
    return first
