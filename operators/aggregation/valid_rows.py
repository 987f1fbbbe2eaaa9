"""The valid rows of an aggregation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import repeat
from typing import Any

from midstream.plans.values.streams import Time


class ValidRows:
    """The valid rows, each with its end, its group, and the values of the arguments.

    As in Expiry, ends that come in order pass through queues, others through a heap. Rows in the heap end
    before the last of the queues. So the queues are not empty while the heap is not, and rows in the queues
    go first among equal ends. The generated loop writes queues and heap itself, as calls would double the
    cost of a row; and as items of an Expiry, rows out of order would cost a tenth more.

    Unneeded parts of a row are not kept: its group where there is one group at most, and its arguments where
    there are none. No object holds both a row's values and its group: garbage collection would look at it for
    as long as the row is valid.
    """

    __slots__ = ("ends", "entries", "heap", "members")

    def __init__(self) -> None:
        self.ends: deque[Time] = deque()
        self.members: deque[Any] = deque()
        self.entries: deque[tuple[Any, ...]] = deque()
        self.heap: list[tuple[Time, int, Any, tuple[Any, ...] | None]] = []
        """The end, the number of arrival, the group, and the arguments."""

    def rows(self, alone: Any) -> Iterator[tuple[Time, Any, tuple[Any, ...]]]:
        """All rows; `alone` is the only group where there is one at most."""
        members = self.members or repeat(alone)
        for end, group, entry in zip(self.ends, members, self.entries or repeat(()), strict=False):
            yield end, group, entry
        for end, _, group, late in self.heap:
            yield end, group, late or ()

    def __len__(self) -> int:
        return len(self.ends) + len(self.heap)
