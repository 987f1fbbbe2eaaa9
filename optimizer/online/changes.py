"""Detection of changes in a stream of numbers: Page's test."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

THRESHOLD = 16.0
"""Sum of excess standard deviations from which on numbers count as changed."""


class PageHinkley:
    """Detects since when numbers are larger, or smaller, than before.

    For each number x, the excess is the number of standard deviations from the mean so far, beyond an
    `allowance`. A change is detected when the sum of excesses is above `threshold`:

        up  =  max(0, up + z − allowance)        down  =  max(0, down − z − allowance)

    where z = (x − mean) / deviation. The test needs `learning` numbers first, and begins anew after a change.

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
        """Take a number with its time; return the beginning of a change if it reveals one, else None."""
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
    """Watches several named numbers; after a change in one of them, all tests begin anew."""

    def __init__(self, threshold: float = THRESHOLD) -> None:
        self._threshold = threshold
        self._tests: dict[Hashable, PageHinkley] = {}

    def take(self, time: float, numbers: Mapping[Hashable, float]) -> float | None:
        """Take the numbers of a time; return the beginning of a change if one is detected now, else None."""
        found = [
            since
            for name, x in numbers.items()
            if (since := self._tests.setdefault(name, PageHinkley(self._threshold)).take(time, x)) is not None
        ]
        if found:
            for test in self._tests.values():
                test.forget()
        return min(found, default=None)
