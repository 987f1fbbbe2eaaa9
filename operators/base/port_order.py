"""Elements of several ports in one order of starts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain

from midstream.plans.values.streams import FOREVER, START, Batch, Element, Time

PortElement = tuple[Time, int, Element]
"""Start, port, element."""


class PortOrder:
    """Holds back each element until no other port can bring an earlier one.

    State    The elements that start after the last bound, of each port in order of arrival: as every port is
             ordered by start, a queue for each suffices.
    Cost     O(1) per element, plus merging what one call releases.

    >>> order = PortOrder(2)
    >>> order.take(0, [(3, 9, "a"), (7, 9, "b")], bound=3)
    [(3, 0, (3, 9, 'a'))]
    >>> order.take(1, [(4, 5, "c"), (8, 9, "d")], bound=7)
    [(4, 1, (4, 5, 'c')), (7, 0, (7, 9, 'b'))]
    >>> order.first(0), order.first(1)
    (None, 8)
    """

    __slots__ = ("_next", "_numbered", "_waiting")

    def __init__(self, ports: int) -> None:
        self._waiting: tuple[deque[Element], ...] = tuple(deque() for _ in range(ports))
        self._numbered = tuple(enumerate(self._waiting))
        self._next: Time = FOREVER
        """The earliest start that waits."""

    def take(self, port: int, batch: Batch, bound: Time) -> list[PortElement]:
        """Take a batch of one port; return all elements that start at or before the bound, in order."""
        queue = self._waiting[port]
        if len(batch) == 1 and (queue or batch[0][0] > bound):
            if not queue:  # else the first of the queue starts no later
                self._next = min(self._next, batch[0][0])
            queue.append(batch[0])
            return [] if self._next > bound else self._with_waiting([], bound)
        if queue or (batch and batch[-1][0] > bound):
            if batch and batch[0][0] < self._next:
                self._next = batch[0][0]
            queue.extend(batch)
            batch = []
        ready = [(element[0], port, element) for element in batch]
        return ready if self._next > bound else self._with_waiting(ready, bound)

    def _with_waiting(self, ready: list[PortElement], bound: Time) -> list[PortElement]:
        first: Time = FOREVER
        for port, queue in self._numbered:
            while queue and queue[0][0] <= bound:
                element = queue.popleft()
                ready.append((element[0], port, element))
            if queue and queue[0][0] < first:
                first = queue[0][0]
        self._next = first
        if len(ready) > 1:
            ready.sort(key=START)
        return ready

    def first(self, port: int) -> Time | None:
        """The start of the first waiting element of a port; None if none waits."""
        queue = self._waiting[port]
        return queue[0][0] if queue else None

    def __len__(self) -> int:
        return sum(map(len, self._waiting))

    def __iter__(self) -> Iterator[Element]:
        return chain(*self._waiting)
