"""The valid rows of an aggregation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import repeat
from typing import Any

from midstream.plans.values.streams import Time


class ValidRows:
    """The valid rows: of each its end, its group, and the values of the arguments.

    As in Expiry, ends that come in order pass through queues, others through a heap. What is in the heap ends
    before the last of the queues, so those are not empty while the heap is not, and go first where ends are
    equal. Queues and heap are written by the generated loop, as calls would double the cost of a row; and as
    items of an Expiry, rows out of order would cost a tenth more.

    Parts of a row that need not be known are not kept: its group where there is one group at most, and
    its arguments where there are none. No object is made that holds both a row's values and its group:
    garbage collection would look at it for as long as the row is valid.
    """

    __slots__ = ("ends", "entries", "heap", "members")

    def __init__(self) -> None:
        self.ends: deque[Time] = deque()
        self.members: deque[Any] = deque()
        self.entries: deque[tuple[Any, ...]] = deque()
        self.heap: list[tuple[Time, int, Any, tuple[Any, ...] | None]] = []
        """End, number of arrival, group, arguments."""

    def rows(self, alone: Any) -> Iterator[tuple[Time, Any, tuple[Any, ...]]]:
        """All rows; `alone` is the group where there is one at most."""
        members = self.members or repeat(alone)
        for end, group, entry in zip(self.ends, members, self.entries or repeat(()), strict=False):
            yield end, group, entry
        for end, _, group, late in self.heap:
            yield end, group, late or ()

    def __len__(self) -> int:
        return len(self.ends) + len(self.heap)
