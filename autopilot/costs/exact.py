"""The intermediate results of a plan, each with its validity: enough to price the plan, and moves to it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable


class Trace:
    """When each intermediate result of a plan is valid, if the plan runs from the beginning.

    Where results start with the latest of the elements behind them, and end with the first of them (filters,
    maps, unions, joins), a plan that begins later, with what is valid from a split time on, gives those of
    them that are valid behind it.

    >>> trace = Trace([(3, 10), (1, 9), (8, 12)])
    >>> trace.begun(1, 8), trace.reaching(9, 0, 12), trace.alive(4)
    (2, 2, 2)
    """

    def __init__(self, intervals: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(intervals)
        self.starts = [start for start, _ in ordered]
        self.ends = [end for _, end in ordered]
        self._longest = max((end - start for start, end in ordered), default=0)

    def __len__(self) -> int:
        return len(self.starts)

    def begun(self, since: int, until: int) -> int:
        """How many start in [since, until). O(log n)."""
        return max(0, bisect_left(self.starts, until) - bisect_left(self.starts, since))

    def reaching(self, last: int, since: int, until: int) -> int:
        """How many of those that start in [since, until) are valid behind the chronon `last`."""
        first, beyond = bisect_left(self.starts, since), bisect_left(self.starts, until)
        return sum(end > last for end in self.ends[first:beyond])

    def alive(self, at: int) -> int:
        """How many of those that start before an instant are valid behind its chronon."""
        return self.reaching(at, at - self._longest, at)
