"""What expires next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from midstream.plans.streams import Time

T = TypeVar("T")


class Expiry(Generic[T]):
    """Items in order of their end timestamps.

    As long as ends arrive in order, as behind a time window, a queue suffices; what arrives out of order goes
    to a heap. So the expiration pattern (thesis, 11.3.3) need not be known beforehand, and a rare exception
    does not cost the rule.

    Cost     O(1) to add in order, O(log n) out of order; the same to take.

    >>> expiry = Expiry()
    >>> for end in (5, 9, 7): expiry.add(end, f"until {end}")
    >>> expiry.next, list(expiry.expired(7)), len(expiry)
    (5, [(5, 'until 5'), (7, 'until 7')], 1)
    """

    __slots__ = ("_arrivals", "_heap", "_queue", "next")

    def __init__(self) -> None:
        self._queue: deque[tuple[Time, int, T]] = deque()
        self._heap: list[tuple[Time, int, T]] = []
        self._arrivals = count()
        self.next: Time | None = None
        """The earliest end; None where there is no item."""

    def add(self, end: Time, item: T) -> None:
        """Keep an item until `end`."""
        queue = self._queue
        if not queue or end >= queue[-1][0]:
            queue.append((end, next(self._arrivals), item))
        else:
            heappush(self._heap, (end, next(self._arrivals), item))
        if self.next is None or end < self.next:
            self.next = end

    def expired(self, time: Time) -> Iterator[tuple[Time, T]]:
        """Take out the items that end at or before a time, in order of their ends."""
        queue, heap = self._queue, self._heap
        while self.next is not None and self.next <= time:
            if heap and (not queue or heap[0] < queue[0]):
                end, _, item = heappop(heap)
            else:
                end, _, item = queue.popleft()
            if heap and (not queue or heap[0] < queue[0]):
                self.next = heap[0][0]
            else:
                self.next = queue[0][0] if queue else None
            yield end, item

    def __len__(self) -> int:
        return len(self._queue) + len(self._heap)

    def __iter__(self) -> Iterator[tuple[Time, T]]:
        """The items that are kept, in no particular order."""
        for end, _, item in self._queue:
            yield end, item
        for end, _, item in self._heap:
            yield end, item
