"""What expires next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Generic, Protocol, TypeVar

from midstream.plans.values.streams import Time

T = TypeVar("T")


class Expiring(Protocol[T]):
    """Items with end timestamps, of which those that have ended are taken out, first ends first.

    The two implementations are for the two expiration patterns (thesis, 11.3.3): ends that come in order, and
    any ends.
    """

    @property
    def next(self) -> Time | None:
        """The earliest end; None where there is no item."""

    def add(self, end: Time, item: T) -> None:
        """Keep an item until `end`."""

    def expired(self, time: Time) -> Iterator[tuple[Time, T]]:
        """Take out the items that end at or before a time, in order of their ends, ties as they came."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[tuple[Time, T]]: ...


class FifoExpiry(Generic[T]):
    """Items whose ends never decrease, as behind a time window: they leave as they came.

    An end that decreases all the same waits for those before it; it is given out late, and none is lost.

    Cost     O(1) to add and to take.

    >>> expiry = FifoExpiry()
    >>> for end in (5, 7, 9): expiry.add(end, f"until {end}")
    >>> expiry.next, list(expiry.expired(7)), len(expiry)
    (5, [(5, 'until 5'), (7, 'until 7')], 1)
    """

    __slots__ = ("_ends", "_items")

    def __init__(self) -> None:
        # Two queues of what is there anyhow are smaller than one of pairs.
        self._ends: deque[Time] = deque()
        self._items: deque[T] = deque()

    @property
    def next(self) -> Time | None:
        """The earliest end; None where there is no item."""
        return self._ends[0] if self._ends else None

    def add(self, end: Time, item: T) -> None:
        """Keep an item until `end`."""
        self._ends.append(end)
        self._items.append(item)

    def expired(self, time: Time) -> Iterator[tuple[Time, T]]:
        """Take out the items that end at or before a time."""
        ends, items = self._ends, self._items
        while ends and ends[0] <= time:
            yield ends.popleft(), items.popleft()

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[tuple[Time, T]]:
        return zip(self._ends, self._items, strict=True)


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

    __slots__ = ("_arrivals", "_ends", "_heap", "_items", "next")

    def __init__(self) -> None:
        # What is in the heap ends before the last of the queue, and came after those of the queue that end
        # with it. So the queue is not empty while the heap is not, and goes first where ends are equal.
        self._ends: deque[Time] = deque()
        self._items: deque[T] = deque()
        self._heap: list[tuple[Time, int, T]] = []
        self._arrivals = count()
        self.next: Time | None = None
        """The earliest end; None where there is no item."""

    def add(self, end: Time, item: T) -> None:
        """Keep an item until `end`."""
        ends = self._ends
        if not ends:
            self.next = end
        elif end < ends[-1]:
            heappush(self._heap, (end, next(self._arrivals), item))
            if self.next is None or end < self.next:
                self.next = end
            return
        ends.append(end)
        self._items.append(item)

    def pop(self) -> tuple[Time, T]:
        """Take out the item that ends first, with its end; there must be one."""
        ends, heap = self._ends, self._heap
        if ends[0] == self.next:
            first = ends.popleft(), self._items.popleft()
        else:
            end, _, item = heappop(heap)
            first = end, item
        if heap and heap[0][0] < ends[0]:
            self.next = heap[0][0]
        else:
            self.next = ends[0] if ends else None
        return first

    def expired(self, time: Time) -> Iterator[tuple[Time, T]]:
        """Take out the items that end at or before a time, in order of their ends."""
        while self.next is not None and self.next <= time:
            yield self.pop()

    def __len__(self) -> int:
        return len(self._ends) + len(self._heap)

    def __iter__(self) -> Iterator[tuple[Time, T]]:
        """The items that are kept, in no particular order."""
        yield from zip(self._ends, self._items, strict=True)
        for end, _, item in self._heap:
            yield end, item
