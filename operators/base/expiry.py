"""Items ordered by their end timestamps."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from midstream.plans.values.streams import Time

T = TypeVar("T")


class Expiry(Generic[T]):
    """Items that are taken out at their end timestamps, in order of ends; ties in order of arrival.

    While ends arrive in order, as behind a time window, a queue suffices; an end out of order goes to a heap.
    So the expiration pattern (thesis, 11.3.3) need not be known beforehand, and a rare exception does not
    slow down the normal case.

    A loop that cannot afford calls writes the queue itself while ends are in order, and calls `move_up` where
    that is due.

    Cost     O(1) to add in order, O(log n) out of order; the same to take.

    >>> expiry = Expiry()
    >>> for end in (5, 9, 7): expiry.add(end, f"until {end}")
    >>> expiry.next, list(expiry.expired(7)), len(expiry)
    (5, [(5, 'until 5'), (7, 'until 7')], 1)
    """

    __slots__ = ("_arrivals", "ends", "items", "late")

    def __init__(self) -> None:
        # Two queues of existing objects take less memory than one of pairs.
        self.ends: deque[Time] = deque()
        """A queue of ends, the earliest first."""
        self.items: deque[T] = deque()
        """The items that end at these times."""
        self.late: list[tuple[Time, int, T]] = []
        """A heap of items that came out of order.

        Their ends are not before the first of the queue, and before the last. Among equal ends, items of the
        queue came first.
        """
        self._arrivals = count()

    @property
    def next(self) -> Time | None:
        """The earliest end; None where there is no item."""
        return self.ends[0] if self.ends else None

    def add(self, end: Time, item: T) -> None:
        """Keep an item until `end`."""
        ends = self.ends
        if not ends or end >= ends[-1]:
            ends.append(end)
            self.items.append(item)
        elif end < ends[0]:
            ends.appendleft(end)
            self.items.appendleft(item)
        else:
            heappush(self.late, (end, next(self._arrivals), item))

    def move_up(self) -> None:
        """Move the first late item to the queue, as it ends before the queue's next one."""
        end, _, item = heappop(self.late)
        self.ends.appendleft(end)
        self.items.appendleft(item)

    def expired(self, time: Time) -> Iterator[tuple[Time, T]]:
        """Take out the items that end at or before a time, also those that are added meanwhile."""
        ends, items, late = self.ends, self.items, self.late
        while ends and ends[0] <= time:
            first = ends.popleft(), items.popleft()
            if late and late[0][0] < ends[0]:
                self.move_up()
            yield first

    def __len__(self) -> int:
        return len(self.ends) + len(self.late)

    def __iter__(self) -> Iterator[tuple[Time, T]]:
        """The items that are kept, in no particular order."""
        yield from zip(self.ends, self.items, strict=True)
        for end, _, item in self.late:
            yield end, item
