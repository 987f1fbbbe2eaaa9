"""SweepAreas: the state of a join's input, arranged for probing by payload and for purging by time (thesis,
11.3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import count
from sys import getsizeof

from midstream.operators.expiry import Expiry
from midstream.plans.streams import Element, Time

Bucket = dict[int, Element]
"""Elements in order of arrival, each under a number, so that any of them can be taken out at once."""


_SELDOM = 63
"""A bucket is looked at when its size is a multiple of 64."""


def _is_hollow(bucket: Bucket) -> bool:
    """Whether most of a bucket is empty places. A dict keeps the place of what has left until it grows again;
    after a burst, whoever iterates would pass over all of them, for ever."""
    return getsizeof(bucket) > 256 * (len(bucket) + 64)


class HashSweepArea:
    """Elements in buckets by key, and in order of their ends.

    Cost     insert O(1) where ends are ordered, else O(log n); purge the same per purged element; a bucket is
             found in O(1).

    >>> area = HashSweepArea()
    >>> area.insert("a", (0, 5, ("a", 1)))
    >>> area.insert("a", (2, 9, ("a", 2)))
    >>> list(area.buckets["a"].values())
    [(0, 5, ('a', 1)), (2, 9, ('a', 2))]
    >>> area.purge(5)
    >>> list(area)
    [(2, 9, ('a', 2))]
    """

    __slots__ = ("_arrivals", "_expiry", "buckets")

    def __init__(self) -> None:
        self.buckets: dict[Hashable, Bucket] = {}
        """The elements by key; to be read, not written, from outside."""
        self._expiry: Expiry[tuple[Hashable, int]] = Expiry()
        self._arrivals = count()

    def insert(self, key: Hashable, element: Element) -> None:
        """Keep an element until its end."""
        number = next(self._arrivals)
        bucket = self.buckets.get(key)
        if bucket is None:
            self.buckets[key] = {number: element}
        else:
            bucket[number] = element
        self._expiry.add(element[1], (key, number))

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time: no later element can meet them."""
        buckets = self.buckets
        for _, (key, number) in self._expiry.expired(time):
            bucket = buckets[key]
            del bucket[number]
            if not bucket:
                del buckets[key]
            elif not len(bucket) & _SELDOM and _is_hollow(bucket):
                buckets[key] = dict(bucket)

    def __len__(self) -> int:
        return len(self._expiry)

    def __iter__(self) -> Iterator[Element]:
        for bucket in self.buckets.values():
            yield from bucket.values()


class ListSweepArea:
    """Elements in order of arrival, and in order of their ends; probing looks at all of them.

    Cost     insert and purge as above.
    """

    __slots__ = ("_arrivals", "_expiry", "elements")

    def __init__(self) -> None:
        self.elements: Bucket = {}
        """The elements; to be read, not written, from outside."""
        self._expiry: Expiry[int] = Expiry()
        self._arrivals = count()

    def insert(self, key: Hashable, element: Element) -> None:
        """Keep an element until its end. The key is not looked at."""
        number = next(self._arrivals)
        self.elements[number] = element
        self._expiry.add(element[1], number)

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time."""
        for _, number in self._expiry.expired(time):
            del self.elements[number]
            if not len(self.elements) & _SELDOM and _is_hollow(self.elements):
                self.elements = dict(self.elements)

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self) -> Iterator[Element]:
        return iter(self.elements.values())
