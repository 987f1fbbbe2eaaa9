"""Running aggregate functions: values enter and leave, and the aggregate of those that are in can be asked
for at any time.

What each function means stands in `midstream.plans.aggregates`; agreement is tested. Unknown values (None)
are not passed in.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from midstream.plans.aggregates import rounded
from midstream.plans.streams import Time

_UNIT = 1074
"""Every finite float is an integer multiple of 2**-1074."""


class Accumulator(ABC):
    """The aggregate of the values that are in."""

    __slots__ = ()

    @abstractmethod
    def add(self, value: Any, end: Time) -> None:
        """A value enters, to leave at `end`. Values enter in order of their starts."""

    @abstractmethod
    def remove(self, value: Any) -> None:
        """A value leaves, because its end is reached."""

    @abstractmethod
    def value(self, at: Time) -> Any:
        """The aggregate of the values that are in and end after `at`. Successive calls never go back in
        time."""


class Count(Accumulator):
    """How many values are in. Cost: O(1).

    >>> count = Count()
    >>> count.add("x", 9)
    >>> count.value(0)
    1
    """

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def add(self, value: Any, end: Time) -> None:
        """One more."""
        self._count += 1

    def remove(self, value: Any) -> None:
        """One less."""
        self._count -= 1

    def value(self, at: Time) -> int:
        """The number."""
        return self._count


class Sum(Accumulator):
    """The exact sum. Cost: O(1).

    Floats are kept as multiples of 2**-1074 in one integer, so that adding and removing loses nothing; other
    numbers, which a column of any type may hold, in one fraction.

    >>> sum_ = Sum()
    >>> for number in (1e16, 1.0): sum_.add(number, 9)
    >>> sum_.remove(1e16)
    >>> sum_.value(0)
    1.0
    """

    __slots__ = ("_count", "_floats", "_fraction", "_rest", "_special", "_whole")

    def __init__(self) -> None:
        self._count = 0
        self._whole = 0
        self._floats = 0
        self._fraction = 0
        self._rest = Fraction()
        self._special: dict[float, int] = {}

    def add(self, value: Any, end: Time) -> None:
        """One more summand."""
        self._change(value, 1)

    def remove(self, value: Any) -> None:
        """One less."""
        self._change(value, -1)

    def _change(self, value: Any, sign: int) -> None:
        self._count += sign
        if isinstance(value, int):
            self._whole += sign * value
            return
        self._floats += sign
        try:
            numerator, denominator = value.as_integer_ratio()
        except (OverflowError, ValueError):  # infinite; NaN
            self._change_special(float(value) if value == value else math.nan, sign)
            return
        if isinstance(value, float):
            self._fraction += sign * (numerator << (_UNIT + 1 - denominator.bit_length()))
        else:
            self._rest += sign * Fraction(numerator, denominator)

    def _change_special(self, value: float, sign: int) -> None:
        count = self._special.get(value, 0) + sign
        if count:
            self._special[value] = count
        else:
            del self._special[value]

    def value(self, at: Time) -> int | float | None:
        """The sum, rounded once; None of nothing."""
        if not self._count:
            return None
        return self._whole if not self._floats else self._quotient(1)

    def _quotient(self, divisor: int) -> float:
        if self._special:
            return next(iter(self._special)) if len(self._special) == 1 else math.nan
        numerator = self._fraction + (self._whole << _UNIT)
        if self._rest:
            return rounded((Fraction(numerator, 1 << _UNIT) + self._rest) / divisor)
        try:
            return numerator / (divisor << _UNIT)
        except OverflowError:
            return math.inf if numerator > 0 else -math.inf


class Mean(Sum):
    """The exact mean, rounded once. Cost: O(1)."""

    __slots__ = ()

    def value(self, at: Time) -> float | None:
        """The mean; None of nothing."""
        return self._quotient(self._count) if self._count else None


class Maximum(Accumulator):
    """The largest value.

    Kept are the values that no other value exceeds and outlives: in order of their ends, they decrease. The
    front is the maximum.

    Cost     O(1) amortised where ends are ordered; else O(log n) comparisons and a move of memory.

    >>> maximum = Maximum()
    >>> for value, end in ((3, 10), (7, 20), (5, 30)): maximum.add(value, end)
    >>> maximum.value(0), maximum.value(20), maximum.value(30)
    (7, 5, None)
    """

    __slots__ = ("_ends", "_first", "_values")

    def __init__(self) -> None:
        self._ends: list[Time] = []
        self._values: list[Any] = []
        self._first = 0

    @staticmethod
    def _is_covered(value: Any, by: Any) -> bool:
        return bool(by >= value)

    def add(self, value: Any, end: Time) -> None:
        """One more value; those that it exceeds and outlives are forgotten."""
        ends, values, first = self._ends, self._values, self._first
        covered = self._is_covered
        at = len(ends)
        if first < at and end < ends[-1]:
            at = bisect_left(ends, end, first)
            if covered(value, values[at]):
                return
        elif first < at and end == ends[-1] and covered(value, values[-1]):
            return
        # Values that end no later than the new one, from the last of them backwards.
        stop = at
        while stop < len(ends) and ends[stop] == end:
            stop += 1
        start = stop
        while start > first and covered(values[start - 1], value):
            start -= 1
        ends[start:stop] = [end]
        values[start:stop] = [value]

    def remove(self, value: Any) -> None:
        """Nothing to do: values leave by their ends."""

    def value(self, at: Time) -> Any:
        """The largest value that ends after `at`; None of nothing."""
        ends, first = self._ends, self._first
        while first < len(ends) and ends[first] <= at:
            first += 1
        if 2 * first > len(ends):
            del ends[:first], self._values[:first]
            first = 0
        self._first = first
        return self._values[first] if first < len(ends) else None


class Minimum(Maximum):
    """The smallest value; see Maximum."""

    __slots__ = ()

    @staticmethod
    def _is_covered(value: Any, by: Any) -> bool:
        return bool(by <= value)


ACCUMULATORS: Mapping[str, Callable[[], Accumulator]] = {
    "count": Count,
    "sum": Sum,
    "avg": Mean,
    "min": Minimum,
    "max": Maximum,
}
"""The accumulator of each aggregate function."""
