"""SweepAreas: the state of a join's input, arranged for probing by payload and for purging by time (thesis,
11.3).

Each combines a primary structure, its `index`, which a probe reads, with a secondary one, in order of ends.
Which to take follows from the condition of the join and from the expiration pattern of the input.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from sys import getsizeof
from typing import Any, Protocol

from midstream.operators.expiry import Expiry
from midstream.operators.probes import key_source
from midstream.plans.streams import Batch, Element, Payload, Time


class SweepArea(Protocol):
    """The elements of one input of a join that a later element of the other may meet."""

    @property
    def index(self) -> Any:
        """What a probe reads; not to be written from outside, nor to be kept."""

    def insert(self, batch: Batch, since: Time) -> None:
        """Keep those elements of a batch that end after a time, each until its end."""

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time: no later element can meet them."""

    def __len__(self) -> int:
        """How many are kept. Cost: O(1)."""

    def __iter__(self) -> Iterator[Element]:
        """The elements that are kept."""


Bucket = dict[int, Element]
"""Elements in order of arrival, each under a number, so that any of them can be taken out at once."""

SELDOM = 63
"""A bucket is looked at when its size is a multiple of 64."""


def is_hollow(bucket: Bucket) -> bool:
    """Whether most of a bucket is empty places. A dict keeps the place of what has left until it grows again;
    after a burst, whoever iterates would pass over all of them, for ever."""
    return getsizeof(bucket) > 256 * (len(bucket) + 64)


class HashSweepArea:
    """Elements in buckets by the columns of a key; those whose key is not known are not kept.

    Cost     As ListSweepArea; a bucket is found in O(1).

    >>> area = HashSweepArea([0])
    >>> area.insert([(0, 5, ("a", 1)), (2, 9, ("a", 2)), (3, 9, (None, 3))], since=0)
    >>> list(area.index["a"].values())
    [(0, 5, ('a', 1)), (2, 9, ('a', 2))]
    >>> area.purge(5)
    >>> list(area)
    [(2, 9, ('a', 2))]
    """

    __slots__ = ("_arrivals", "_expiry", "_key", "index")

    def __init__(self, columns: Sequence[int]) -> None:
        self.index: dict[Hashable, Bucket] = {}
        """The elements by key."""
        self._key = _key(columns)
        self._expiry: Expiry[tuple[Hashable, int]] = Expiry()
        self._arrivals = count()

    def insert(self, batch: Batch, since: Time) -> None:
        """Keep those elements of a batch that end after a time, and have a key."""
        index, key_of, arrivals, add = self.index, self._key, self._arrivals, self._expiry.add
        for element in batch:
            if element[1] > since and (key := key_of(element[2])) is not None:
                number = next(arrivals)
                bucket = index.get(key)
                if bucket is None:
                    index[key] = {number: element}
                else:
                    bucket[number] = element
                add(element[1], (key, number))

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time."""
        index, expiry = self.index, self._expiry
        if expiry.next is None or expiry.next > time:
            return
        for _, (key, number) in expiry.expired(time):
            bucket = index[key]
            del bucket[number]
            if not bucket:
                del index[key]
            elif not len(bucket) & SELDOM and is_hollow(bucket):
                index[key] = dict(bucket)

    def __len__(self) -> int:
        return len(self._expiry)

    def __iter__(self) -> Iterator[Element]:
        for bucket in self.index.values():
            yield from bucket.values()


_LONG = 256
"""From this length on, a bucket becomes a deque when its first element leaves: in a short list, moving the
others up costs less."""

_FIFO_HASH = """
def functions(index, queue, deque):
    find, add, take = index.get, queue.append, queue.popleft

    def insert(batch, since):
        for element in batch:
            start, end, row = element
            if end > since:
                key = {key}
                if {known}:
                    bucket = find(key)
                    if bucket is None:
                        index[key] = [element]
                    else:
                        bucket.append(element)
                    add(element)

    def purge(time):
        while queue and queue[0][1] <= time:
            row = take()[2]
            key = {key}
            bucket = index[key]
            length = len(bucket)
            if length == 1:
                del index[key]
            else:
                if length >= {long} and type(bucket) is list:
                    bucket = index[key] = deque(bucket)
                del bucket[0]

    return insert, purge
"""


class FifoHashSweepArea:
    """The same for ends that never decrease: an element leaves from the front of its bucket, and the elements
    themselves are the queue, so that nothing else is allocated.

    Cost     insert and purge O(1) per element; a bucket is found in O(1).

    >>> area = FifoHashSweepArea([0])
    >>> area.insert([(0, 5, ("a", 1)), (2, 9, ("a", 2))], since=0)
    >>> area.index
    {'a': [(0, 5, ('a', 1)), (2, 9, ('a', 2))]}
    """

    __slots__ = ("_queue", "index", "insert", "purge")

    insert: Callable[[Batch, Time], None]
    """Keep those elements of a batch that end after a time, and have a key."""
    purge: Callable[[Time], None]
    """Forget the elements that end at or before a time."""

    def __init__(self, columns: Sequence[int]) -> None:
        self.index: dict[Hashable, list[Element] | deque[Element]] = {}
        """The elements by key."""
        self._queue: deque[Element] = deque()
        self.insert, self.purge = _fifo_hash(tuple(columns))(self.index, self._queue, deque)

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._queue)


@lru_cache(maxsize=256)
def _fifo_hash(columns: tuple[int, ...]) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    known = " and ".join(f"row[{i}] is not None" for i in columns)
    exec(_FIFO_HASH.format(key=key_source("row", columns), known=known, long=_LONG), names)
    functions: Callable[..., Any] = names["functions"]
    return functions


def _key(columns: Sequence[int]) -> Callable[[Payload], Hashable]:
    """The key of a payload, or None where one of its columns is unknown."""
    key = key_source("row", columns)
    if len(columns) > 1:
        key = f"None if {' or '.join(f'row[{i}] is None' for i in columns)} else {key}"
    function: Callable[[Payload], Hashable] = eval(f"lambda row: {key}", {})
    return function
