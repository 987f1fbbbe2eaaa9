"""Notices that a stream of numbers is no longer as it was: Page's test."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

THRESHOLD = 16.0
"""By so many standard deviations in all, numbers must be away from what they were."""


class PageHinkley:
    """Tells since when numbers are larger than they were before, or smaller.

    Of each number x it is counted by how many standard deviations it is away from the mean so far, beyond an
    `allowance`; there is a change when such excesses add up to more than `threshold`:

        up  =  max(0, up + z − allowance)        down  =  max(0, down − z − allowance)

    where z = (x − mean) / deviation. It begins to count after `learning` numbers, and anew after a change.

    State    Constant.
    Cost     O(1) per number.
    Source   E. S. Page, Continuous inspection schemes, 1954; D. V. Hinkley, Inference about the change-point
             from cumulative sum tests, 1971

    >>> test = PageHinkley()
    >>> numbers = [5, 6, 4] * 10 + [9, 10, 8] * 4
    >>> [(time, since) for time, x in enumerate(numbers) if (since := test.take(time, x)) is not None]
    [(36, 30)]
    """

    LEAST_DEVIATION = 0.1

    def __init__(self, threshold: float = THRESHOLD, allowance: float = 0.5, learning: int = 8) -> None:
        self._threshold, self._allowance, self._learning = threshold, allowance, learning
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._number, self._mean, self._squares = 0, 0.0, 0.0
        self._excess = [0.0, 0.0]
        self._since: list[float | None] = [None, None]

    def take(self, time: float, x: float) -> float | None:
        """A number that is of a time; since when there is a change, where it is noticed by this one."""
        self._number += 1
        off = x - self._mean
        if self._number > self._learning:
            deviation = math.sqrt(self._squares / (self._number - 2))
            for side, sign in enumerate((1, -1)):
                z = sign * off / max(deviation, self.LEAST_DEVIATION)
                self._excess[side] = max(0.0, self._excess[side] + z - self._allowance)
                if not self._excess[side]:
                    self._since[side] = None
                elif self._since[side] is None:
                    self._since[side] = time
                if self._excess[side] > self._threshold:
                    since = self._since[side]
                    self.forget()
                    return since
        self._mean += off / self._number
        self._squares += off * (x - self._mean)
        return None


class Changes:
    """Watches several numbers, each by its name; after a change in any all begin anew."""

    def __init__(self, threshold: float = THRESHOLD) -> None:
        self._threshold = threshold
        self._tests: dict[Hashable, PageHinkley] = {}

    def take(self, time: float, numbers: Mapping[Hashable, float]) -> float | None:
        """The numbers of a time; since when there is a change, if one is noticed now."""
        found = [
            since
            for name, x in numbers.items()
            if (since := self._tests.setdefault(name, PageHinkley(self._threshold)).take(time, x)) is not None
        ]
        if found:
            for test in self._tests.values():
                test.forget()
        return min(found, default=None)
