"""Fork: the new plan's share of an input, while the old plan gets all of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from midstream.plans.values.streams import BEGINNING, START, Batch, Time


@dataclass(frozen=True, slots=True)
class Fork:
    """A function from an input's elements to the new plan's share of them.

    Each input has its own fork, made for one migration, so a fork may keep state. It is called with a batch,
    possibly empty, and the progress behind it, and returns the new plan's part of the batch.
    """

    part: Callable[[Batch, Time], Batch]
    begins: Time = BEGINNING
    """The new plan's progress until the input has come as far; from there on it is the input's."""

    def __call__(self, batch: Batch, progress: Time) -> Batch:
        return self.part(batch, progress)


def fork(split: Time) -> Fork:
    """Give the new plan the elements that are valid from the split time on.

        new@t  =  S@t for t >= split, else nothing

    No element starts or ends at the split time, which lies inside a chronon.

    Cost     O(1) per element.
    Source   thesis, Algorithm 26, without the old plan's part

    >>> fork(4.5)([(1, 3, "a"), (2, 9, "b"), (7, 8, "c")], 7)
    [(4.5, 9, 'b'), (7, 8, 'c')]
    """

    def from_split_on(batch: Batch, progress: Time) -> Batch:
        reach = bisect_left(batch, split, key=START)
        if not reach:
            return batch
        return [(split, end, payload) for _, end, payload in batch[:reach] if end > split] + batch[reach:]

    return Fork(from_split_on, split)


EVERYTHING = Fork(lambda batch, progress: batch)
"""Gives the new plan all elements as they are."""
