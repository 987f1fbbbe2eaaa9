"""The valid payloads of a signed stream, for probing by key."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from midstream.operators.base.compaction import MASK, compact
from midstream.plans.values.streams import Payload

Counts = dict[Payload, int]
"""Payloads of one key, each with its multiplicity."""


class Buckets:
    """Multisets of payloads by key.

    A payload that ends is found by hashing, so no order of time is kept.

    Cost     O(1) to change a multiplicity.
    Source   thesis, 14.2.3: SweepAreas of the positive-negative approach

    >>> buckets = Buckets()
    >>> buckets.change("a", ("a", 1), 2), buckets.change("a", ("a", 1), -1), buckets.change("a", ("a", 7), 1)
    ((0, 2), (2, 1), (0, 1))
    >>> buckets.of("a"), len(buckets)
    ({('a', 1): 1, ('a', 7): 1}, 2)
    """

    __slots__ = ("_buckets", "_size")

    def __init__(self) -> None:
        self._buckets: dict[Hashable, Counts] = {}
        self._size = 0

    def of(self, key: Hashable) -> Counts:
        """The payloads of a key; callers must not change them."""
        return self._buckets.get(key) or {}

    def change(self, key: Hashable, payload: Payload, by: int) -> tuple[int, int]:
        """Change a multiplicity; returns the old one and the new one."""
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = {}
        before = bucket.get(payload, 0)
        after = before + by
        if after:
            bucket[payload] = after
            self._size += not before
        else:
            del bucket[payload]
            self._size -= 1
            if not bucket:
                del self._buckets[key]
            elif not len(bucket) & MASK:
                self._buckets[key] = compact(bucket)
        return before, after

    def clear(self) -> None:
        """Forget all payloads."""
        self._buckets.clear()
        self._size = 0

    def __len__(self) -> int:
        """The number of different payloads."""
        return self._size

    def __iter__(self) -> Iterator[Payload]:
        for bucket in self._buckets.values():
            yield from bucket
