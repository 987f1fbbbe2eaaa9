"""SweepAreas without any order by payload, for joins with any condition."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import count

from midstream.operators.base.compaction import MASK, compact
from midstream.operators.base.expiry import Expiry
from midstream.operators.joins.sweepareas import Numbered
from midstream.plans.values.streams import Batch, Element, Time


class ListSweepArea:
    """Elements in order of arrival; probing looks at all of them.

    Cost     insert O(1) where ends are ordered, else O(log n); purge the same per purged element.

    >>> area = ListSweepArea()
    >>> area.insert([(0, 9, "a"), (2, 5, "b")], since=0)
    >>> area.purge(5)
    >>> list(area)
    [(0, 9, 'a')]
    """

    __slots__ = ("_arrivals", "_expiry", "index")

    def __init__(self) -> None:
        self.index: Numbered = {}
        """The elements."""
        self._expiry: Expiry[int] = Expiry()
        self._arrivals = count()

    def insert(self, batch: Batch, since: Time) -> None:
        """Keep those elements of a batch that end after a time."""
        index, arrivals, add = self.index, self._arrivals, self._expiry.add
        for element in batch:
            if element[1] > since:
                number = next(arrivals)
                index[number] = element
                add(element[1], number)

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time."""
        index = self.index
        for _, number in self._expiry.expired(time):
            del index[number]
            if not len(index) & MASK:
                self.index = index = compact(index)

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Element]:
        return iter(self.index.values())


class FifoListSweepArea:
    """Elements whose ends never decrease, in one queue; probing looks at all of them.

    Cost     insert and purge O(1) per element.
    """

    __slots__ = ("index",)

    def __init__(self) -> None:
        self.index: deque[Element] = deque()
        """The elements."""

    def insert(self, batch: Batch, since: Time) -> None:
        """Keep those elements of a batch that end after a time."""
        self.index.extend([element for element in batch if element[1] > since])

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time."""
        index = self.index
        while index and index[0][1] <= time:
            index.popleft()

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Element]:
        return iter(self.index)
