"""SweepAreas: the state of a join's input, for probing by payload and purging by time (thesis, 11.3).

Each combines a primary structure, its `index`, which a probe reads, with a secondary one, in order of ends.
The condition of the join and the expiration pattern of the input decide which one to take.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, ClassVar, Protocol

from midstream.operators.base.compaction import MASK, compact
from midstream.operators.base.keys import key_function
from midstream.plans.values.streams import Batch, Element, Time


class SweepArea(Protocol):
    """The elements of one input of a join that a later element of the other may meet."""

    @property
    def index(self) -> Any:
        """The structure that a probe reads; callers must not change it, nor store it."""

    def insert(self, batch: Batch, since: Time) -> None:
        """Keep those elements of a batch that end after a time, each until its end."""

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time: no later element can meet them."""

    def __len__(self) -> int:
        """The number of elements.

        Cost     O(1)
        """

    def __iter__(self) -> Iterator[Element]:
        """The elements."""


Numbered = dict[int, Element]
"""Elements in order of arrival, each under a number, so that any of them can be removed at once."""

ALONE = -1
"""The key, instead of its number, of an element that was alone in its bucket before."""


class Hashed:
    """Elements in buckets by the columns of a key; elements whose key has a NULL are not kept."""

    __slots__ = ("_key", "index")

    CANDIDATES: ClassVar[str]
    """Source of the elements of a `bucket`, for probes."""

    index: dict[Hashable, Any]
    """The buckets by key; the bucket of a single element is the element."""

    def __init__(self, columns: Sequence[int]) -> None:
        self._key = key_function(columns)
        self.index = {}


class HashSweepArea(Hashed):
    """Hashed elements with any ends: each element has a number in its bucket.

    The bucket of a single element is the element; when others join it, it is the only one without a number.

    Ends are kept as in Expiry, in a queue while they come in order, else in a heap. But expired elements need
    not leave in order, so nothing moves up from the heap; with an Expiry, a join of unordered ends would take
    a quarter longer.

    Cost     insert and purge O(1) per element where ends come in order, else O(log n).

    >>> area = HashSweepArea([0])
    >>> area.insert([(0, 5, ("a", 1)), (2, 9, ("a", 2)), (3, 9, (None, 3))], 0)
    >>> list(area.index["a"].values())
    [(0, 5, ('a', 1)), (2, 9, ('a', 2))]
    >>> area.purge(5)
    >>> list(area)
    [(2, 9, ('a', 2))]
    """

    __slots__ = ("_heap", "_numbers", "_queue")

    CANDIDATES = "(bucket.values() if type(bucket) is dict else (bucket,))"

    def __init__(self, columns: Sequence[int]) -> None:
        super().__init__(columns)
        self._numbers = count()
        self._queue: deque[tuple[Time, int, Hashable]] = deque()
        self._heap: list[tuple[Time, int, Hashable]] = []

    def insert(self, batch: Batch, since: Time) -> None:
        """Keep those elements of a batch that end after a time, and have a key."""
        index, queue, key_of = self.index, self._queue, self._key
        for element in batch:
            end = element[1]
            if end <= since or (key := key_of(element[2])) is None:
                continue
            number = next(self._numbers)
            if key not in index:
                index[key] = element
            elif type(bucket := index[key]) is dict:
                bucket[number] = element
            else:
                index[key] = {ALONE: bucket, number: element}
            if not queue or end >= queue[-1][0]:
                queue.append((end, number, key))
            else:
                heappush(self._heap, (end, number, key))

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time."""
        index, queue, heap = self.index, self._queue, self._heap
        while True:
            if queue and queue[0][0] <= time:
                _, number, key = queue.popleft()
            elif heap and heap[0][0] <= time:
                _, number, key = heappop(heap)
            else:
                return
            bucket = index[key]
            if type(bucket) is not dict or len(bucket) == 1:
                del index[key]
            else:
                del bucket[number if number in bucket else ALONE]
                if not len(bucket) & MASK:
                    index[key] = compact(bucket)

    def of(self, key: Hashable) -> Collection[Any]:
        """The elements of a key, in order of arrival."""
        bucket = self.index.get(key, {})
        return bucket.values() if type(bucket) is dict else (bucket,)

    def __len__(self) -> int:
        return len(self._queue) + len(self._heap)

    def __iter__(self) -> Iterator[Element]:
        for key in self.index:
            yield from self.of(key)


LONG = 256
"""The length from which a bucket becomes a deque when its first element leaves.

In a shorter list, moving up the other elements costs less.
"""


class FifoHashSweepArea(Hashed):
    """Hashed elements whose ends never decrease: an element leaves from the front of its bucket.

    The elements themselves are the queue, and the bucket of a single element is the element. So nothing else
    is allocated for an element, and nothing else must be fetched from memory.

    Cost     insert and purge O(1) per element; a bucket is found in O(1).

    >>> area = FifoHashSweepArea([0])
    >>> area.insert([(0, 5, ("a", 1)), (2, 9, ("a", 2)), (3, 9, ("b", 3))], 0)
    >>> area.index
    {'a': [(0, 5, ('a', 1)), (2, 9, ('a', 2))], 'b': (3, 9, ('b', 3))}
    """

    __slots__ = ("_queue",)

    CANDIDATES = "((bucket,) if type(bucket) is tuple else bucket)"

    def __init__(self, columns: Sequence[int]) -> None:
        super().__init__(columns)
        self._queue: deque[Element] = deque()

    def insert(self, batch: Batch, since: Time) -> None:
        """Keep those elements of a batch that end after a time, and have a key."""
        index, queue, key_of = self.index, self._queue, self._key
        for element in batch:
            if element[1] <= since or (key := key_of(element[2])) is None:
                continue
            if key not in index:
                index[key] = element
            elif type(bucket := index[key]) is tuple:
                index[key] = [bucket, element]
            else:
                bucket.append(element)
            queue.append(element)

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time."""
        index, queue = self.index, self._queue
        while queue and queue[0][1] <= time:
            key = self._key(queue.popleft()[2])
            bucket = index[key]
            if type(bucket) is tuple or len(bucket) == 1:
                del index[key]
            else:
                if len(bucket) >= LONG and type(bucket) is list:
                    bucket = index[key] = deque(bucket)
                del bucket[0]

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._queue)
