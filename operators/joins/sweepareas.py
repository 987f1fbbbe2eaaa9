"""SweepAreas: the state of a join's input, arranged for probing by payload and for purging by time (thesis,
11.3).

Each combines a primary structure, its `index`, which a probe reads, with a secondary one, in order of ends.
Which to take follows from the condition of the join and from the expiration pattern of the input.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from sys import getsizeof
from textwrap import indent
from typing import Any, ClassVar, Protocol

from midstream.operators.compile.generated import define
from midstream.operators.joins.probes import key_source, known_source
from midstream.plans.values.streams import Batch, Element, Time


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

ALONE = -1
"""In place of the number of an element that was alone in its bucket before."""

SELDOM = 63
"""A bucket is looked at when its size is a multiple of 64."""


def is_hollow(bucket: Bucket) -> bool:
    """Whether most of a bucket is empty places. A dict keeps the place of what has left until it grows again;
    after a burst, whoever iterates would pass over all of them, for ever."""
    return getsizeof(bucket) > 256 * (len(bucket) + 64)


_FUNCTIONS = """
def insert(batch, since):
    for element in batch:
        end, row = element[1], element[2]
        if end > since:
            key = {key}
            if {known}:
                {keep}

def purge(here):
    {purge}
"""


class Hashed(ABC):
    """Elements in buckets by the columns of a key; those whose key is not known are not kept.

    What it does is source, which a join puts among its own (see hash_worker). In the source, an
    area's objects have the prefix `area_`.
    """

    __slots__ = ("_names", "columns", "index", "insert", "purge")

    KEEP: ClassVar[str]
    """Keeps an `element` with its `end` under its `key`, which is known."""
    PURGE: ClassVar[str]
    """Forgets what ends at or before `here`; `area_KEY` stands for the key of a `row`."""
    CANDIDATES: ClassVar[str]
    """The elements of a `bucket`."""

    index: dict[Hashable, Any]
    """The buckets by key."""
    insert: Callable[[Batch, Time], None]
    """Keep those elements of a batch that end after a time, and have a key."""
    purge: Callable[[Time], None]
    """Forget the elements that end at or before a time."""

    def __init__(self, columns: Sequence[int], **names: Any) -> None:
        self.columns = tuple(columns)
        self.index = {}
        self._names = {"index": self.index, "find": self.index.get, **names}
        source = _FUNCTIONS.format(
            key=key_source("row", columns),
            known=known_source("row", columns),
            keep=self.source(self.KEEP, "area_", 16),
            purge=self.source(self.PURGE, "area_", 4),
        )
        functions = self.names("area_")
        self.insert = define(source, "insert", functions, "hashed state")
        self.purge = functions["purge"]

    @abstractmethod
    def __len__(self) -> int:
        """How many are kept. Cost: O(1)."""

    @abstractmethod
    def __iter__(self) -> Iterator[Element]:
        """The elements that are kept."""

    def source(self, piece: str, prefix: str, indented: int) -> str:
        """A piece of source to be put into a function, with another prefix."""
        key = key_source("row", self.columns)
        return indent(piece, indented * " ").strip().replace("area_KEY", key).replace("area_", prefix)

    def names(self, prefix: str) -> dict[str, Any]:
        """What that source names."""
        return {prefix + name: value for name, value in self._names.items()}


class HashSweepArea(Hashed):
    """The same for any ends: each element has a number in its bucket, and numbers are kept in order of ends,
    in a queue as long as ends come in order, else in a heap. The bucket of a single element is the element;
    when others join it, it is the one that has no number.

    Cost     insert and purge O(1) per element where ends come in order, else O(log n).

    >>> area = HashSweepArea([0])
    >>> area.insert([(0, 5, ("a", 1)), (2, 9, ("a", 2)), (3, 9, (None, 3))], 0)
    >>> list(area.index["a"].values())
    [(0, 5, ('a', 1)), (2, 9, ('a', 2))]
    >>> area.purge(5)
    >>> list(area)
    [(2, 9, ('a', 2))]
    """

    __slots__ = ("_heap", "_queue")

    index: dict[Hashable, Element | Bucket]

    KEEP = """
number = area_arrival()
if key not in area_index:
    area_index[key] = element
elif type(bucket := area_index[key]) is dict:
    bucket[number] = element
else:
    area_index[key] = {area_ALONE: bucket, number: element}
if not area_queue or end >= area_queue[-1][0]:
    area_queue.append((end, number, key))
else:
    area_push(area_heap, (end, number, key))
"""
    PURGE = """
while True:
    if area_queue and area_queue[0][0] <= here:
        _, number, key = area_queue.popleft()
    elif area_heap and area_heap[0][0] <= here:
        _, number, key = area_pop(area_heap)
    else:
        break
    bucket = area_index[key]
    if type(bucket) is not dict or len(bucket) == 1:
        del area_index[key]
    else:
        del bucket[number if number in bucket else area_ALONE]
        if not len(bucket) & area_SELDOM and area_is_hollow(bucket):
            area_index[key] = dict(bucket)
"""
    CANDIDATES = "(bucket.values() if type(bucket) is dict else (bucket,))"

    def __init__(self, columns: Sequence[int]) -> None:
        self._queue: deque[tuple[Time, int, Hashable]] = deque()
        self._heap: list[tuple[Time, int, Hashable]] = []
        super().__init__(
            columns,
            arrival=count().__next__,
            queue=self._queue,
            heap=self._heap,
            push=heappush,
            pop=heappop,
            ALONE=ALONE,
            SELDOM=SELDOM,
            is_hollow=is_hollow,
        )

    def found(self, key: Hashable) -> Collection[Any]:
        """The elements of a key, in order of arrival."""
        bucket = self.index.get(key, {})
        return bucket.values() if type(bucket) is dict else (bucket,)

    def __len__(self) -> int:
        return len(self._queue) + len(self._heap)

    def __iter__(self) -> Iterator[Element]:
        for key in self.index:
            yield from self.found(key)


LONG = 256
"""From this length on, a bucket becomes a deque when its first element leaves: in a short list, moving the
others up costs less."""


class FifoHashSweepArea(Hashed):
    """The same for ends that never decrease: an element leaves from the front of its bucket, and the elements
    themselves are the queue. The bucket of a single element is the element. So nothing else is allocated
    for it, and nothing else is to be fetched from memory.

    Cost     insert and purge O(1) per element; a bucket is found in O(1).

    >>> area = FifoHashSweepArea([0])
    >>> area.insert([(0, 5, ("a", 1)), (2, 9, ("a", 2)), (3, 9, ("b", 3))], 0)
    >>> area.index
    {'a': [(0, 5, ('a', 1)), (2, 9, ('a', 2))], 'b': (3, 9, ('b', 3))}
    """

    __slots__ = ("_queue",)

    index: dict[Hashable, Element | list[Element] | deque[Element]]

    KEEP = """
if key not in area_index:
    area_index[key] = element
elif type(bucket := area_index[key]) is tuple:
    area_index[key] = [bucket, element]
else:
    bucket.append(element)
area_queue.append(element)
"""
    PURGE = """
while area_queue and area_queue[0][1] <= here:
    row = area_queue.popleft()[2]
    key = area_KEY
    bucket = area_index[key]
    if type(bucket) is tuple or len(bucket) == 1:
        del area_index[key]
    else:
        if len(bucket) >= area_LONG and type(bucket) is list:
            bucket = area_index[key] = area_deque(bucket)
        del bucket[0]
"""
    CANDIDATES = "((bucket,) if type(bucket) is tuple else bucket)"

    def __init__(self, columns: Sequence[int]) -> None:
        self._queue: deque[Element] = deque()
        super().__init__(columns, queue=self._queue, LONG=LONG, deque=deque)

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._queue)
