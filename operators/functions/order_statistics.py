"""Running aggregate functions that need the values in order: median and top-k."""

from __future__ import annotations

import math
from typing import Any

from sortedcontainers import SortedList

from midstream.operators.functions.accumulator import Accumulator
from midstream.plans.values.exact import exact_mean
from midstream.plans.values.streams import Time


class Ordered(Accumulator):
    """The values in order.

    Cost     O(log n) comparisons to add and remove.
    """

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: SortedList[Any] = SortedList()

    def add(self, value: Any, end: Time) -> None:
        """Add a value."""
        self._values.add(value)

    def remove(self, value: Any) -> None:
        """Remove one of the values that are equal to it."""
        self._values.remove(value)


class Median(Ordered):
    """The middle value, or the mean of the two in the middle, rounded once.

    Cost     O(log n)

    >>> median = Median()
    >>> for value in (9, 1, 2): median.add(value, 9)
    >>> median.remove(2)
    >>> median.value(0)
    5.0
    """

    __slots__ = ()

    def value(self, at: Time) -> float | None:
        """The median; None without values."""
        values = self._values
        size = len(values)
        if not size:
            return None
        upper = values[size // 2]
        lower = upper if size % 2 else values[size // 2 - 1]
        if type(lower) is type(upper) is float:
            # A sum of two floats is exact where half of it would not be, so this is rounded once.
            mean: float = (lower + upper) / 2
            if math.isfinite(mean):
                return mean
        return exact_mean((lower, upper))


class TopK(Ordered):
    """The k largest values in descending order.

    Cost     O(log n) to add and remove, O(k + log n) for the value.

    >>> top = TopK(2)
    >>> for value in (3, 9, 4): top.add(value, 9)
    >>> top.value(0)
    (9, 4)
    """

    __slots__ = ("_k",)

    def __init__(self, k: int) -> None:
        super().__init__()
        self._k = k

    def value(self, at: Time) -> tuple[Any, ...] | None:
        """The largest values; None without values."""
        return tuple(self._values[-self._k :][::-1]) or None
