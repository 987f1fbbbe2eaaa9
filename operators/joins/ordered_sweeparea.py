"""SweepAreas in order of a key, for joins by a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from sortedcontainers import SortedList

from midstream.operators.base.expiry import Expiry
from midstream.plans.values.streams import Batch, Element, Payload, Time

KeyedElement = tuple[Any, int, Element]
"""An element behind its key; the number of its arrival separates equal keys."""


class OrderedSweepArea:
    """Elements in order of a key, so that those in a range of keys are found without reading others.

    An element whose key is NULL or NaN is not kept: it is in no range.

    Cost     O(log n) per element to insert and to purge; a range is found in O(log n).

    >>> from midstream.plans.values.streams import FOREVER
    >>> area = OrderedSweepArea(lambda row: row[0])
    >>> area.insert([(0, 5, (30,)), (1, 6, (10,)), (2, 7, (20,)), (3, 8, (None,))], since=0)
    >>> area.purge(5)
    >>> [element for _, _, element in area.index.irange((10,), (20, FOREVER))]
    [(1, 6, (10,)), (2, 7, (20,))]
    """

    __slots__ = ("_arrivals", "_expiry", "_key", "index")

    def __init__(self, key: Callable[[Payload], Any]) -> None:
        self.index: SortedList[KeyedElement] = SortedList()
        """The elements, each behind its key."""
        self._key = key
        self._expiry: Expiry[KeyedElement] = Expiry()
        self._arrivals = count()

    def insert(self, batch: Batch, since: Time) -> None:
        """Keep those elements of a batch that end after a time, and have a key."""
        key_of, arrivals, add = self._key, self._arrivals, self._expiry.add
        entries: list[KeyedElement] = []
        for element in batch:
            # NaN, which is not equal to itself, has no place in an order.
            if element[1] > since and (key := key_of(element[2])) is not None and key == key:
                entry = (key, next(arrivals), element)
                entries.append(entry)
                add(element[1], entry)
        self.index.update(entries)

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time."""
        remove = self.index.remove
        for _, entry in self._expiry.expired(time):
            remove(entry)

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Element]:
        return (element for _, _, element in self.index)
