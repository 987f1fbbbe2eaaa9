"""Fork: give each plan its part of time."""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter

from midstream.plans.streams import Batch, Time

_START = itemgetter(0)


def fork(batch: Batch, split: Time) -> tuple[Batch, Batch]:
    """Cut a batch at the split time: what is valid before it, for the old plan; from it on, for the new one.

        old@t  =  S@t for t < split, else nothing        new@t  =  S@t for t >= split, else nothing

    No element starts or ends at the split time, which lies inside a chronon.

    Cost     O(1) per element.
    Source   thesis, Algorithm 26

    >>> fork([(1, 3, "a"), (2, 9, "b"), (7, 8, "c")], split=4.5)
    ([(1, 3, 'a'), (2, 4.5, 'b')], [(4.5, 9, 'b'), (7, 8, 'c')])
    """
    reach = bisect_left(batch, split, key=_START)
    before = batch[:reach]
    crossing = [(split, end, payload) for _, end, payload in before if end > split]
    if not crossing:
        return before, batch[reach:]
    old = [element if element[1] < split else (element[0], split, element[2]) for element in before]
    return old, crossing + batch[reach:]


def fork_whole(batch: Batch, split: Time) -> tuple[Batch, Batch]:
    """As `fork`, but the old plan gets its elements with their full validity (thesis, 29.4.1).

    >>> fork_whole([(1, 3, "a"), (2, 9, "b"), (7, 8, "c")], split=4.5)
    ([(1, 3, 'a'), (2, 9, 'b')], [(4.5, 9, 'b'), (7, 8, 'c')])
    """
    reach = bisect_left(batch, split, key=_START)
    before = batch[:reach]
    return before, [(split, end, payload) for _, end, payload in before if end > split] + batch[reach:]
