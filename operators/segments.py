"""The results of groups while they come about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from midstream.plans.streams import Batch


class Segments:
    """The segments of groups in the order in which they opened, which is that of their starts.

    >>> segments = Segments()
    >>> segments.items += [(1, 5, ("a",)), (), "an open one", (3, 4, ("b",))]
    >>> segments.take(), len(segments), segments.first
    ([(1, 5, ('a',))], 2, 'an open one')
    """

    __slots__ = ("_first", "items", "taken")

    def __init__(self) -> None:
        self.items: list[Any] = []
        """Closed ones as elements, `()` where one came to nothing; in place of an open one, its group."""
        self.taken = 0
        """How many came before the first of the items."""
        self._first = 0

    def take(self) -> Batch:
        """The closed ones up to the first that is open. Cost: O(1) each, amortised."""
        items, first = self.items, self._first
        at, size = first, len(items)
        while at < size and type(items[at]) is tuple:
            at += 1
        out = [one for one in items[first:at] if one]
        if 2 * at > size:  # so that what is moved is no more than what has left
            del items[:at]
            self.taken += at
            at = 0
        self._first = at
        return out

    @property
    def first(self) -> Any:
        """The group of the first open one."""
        return self.items[self._first]

    def __len__(self) -> int:
        return len(self.items) - self._first

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items[self._first :])
