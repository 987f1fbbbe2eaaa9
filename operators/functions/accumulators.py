"""Running aggregate functions: values enter and leave, and the present aggregate is always available.

The meaning of each function is defined in `midstream.plans.expressions.aggregates`; tests compare both. NULL
values are not passed in.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from midstream.operators.functions.accumulator import Accumulator, Additive
from midstream.operators.functions.estimates import ScaledSum, StandardError
from midstream.operators.functions.exact import ExactSum
from midstream.operators.functions.order_statistics import Median, TopK
from midstream.operators.functions.user_aggregates import Invertible, Merged, MergedByValue
from midstream.plans.expressions.aggregates import AggregateCall, UserAggregate
from midstream.plans.values.exact import rounded_quotient, rounded_root
from midstream.plans.values.streams import Time


class Count(Accumulator):
    """The number of present values.

    Cost     O(1)

    >>> count = Count()
    >>> count.add("x", 9)
    >>> count.value(0)
    1
    """

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def add(self, value: Any, end: Time) -> None:
        """Count one more value."""
        self._count += 1

    def remove(self, value: Any) -> None:
        """Count one value less."""
        self._count -= 1

    def value(self, at: Time) -> int:
        """The number of values."""
        return self._count


class Sum(Additive):
    """The exact sum.

    It is a float if a present value is no integer. An integer may leave where an equal float entered, or the
    reverse; then the value of the sum decides.

    Cost     O(1)

    >>> sum_ = Sum()
    >>> for number in (1e16, 1.0): sum_.add(number, 9)
    >>> sum_.remove(1e16)
    >>> sum_.value(0)
    1.0
    """

    __slots__ = ("_count", "_integers", "_others")

    def __init__(self) -> None:
        self._count = 0
        self._integers = 0
        self._others = ExactSum()
        """The sum of the values that are no integers."""

    def change(self, value: Any, sign: int) -> None:
        """Add or subtract a value, and count it."""
        self._count += sign
        if isinstance(value, int):
            self._integers += sign * value
        else:
            self._others.change(value, sign)

    def value(self, at: Time) -> int | float | None:
        """The sum, rounded once; None without values."""
        if not self._count:
            return None
        return self.rounded() if self._others.count > 0 or not self.is_integer else self.integer()

    @property
    def is_integer(self) -> bool:
        """True if the sum is an integer, whatever its type."""
        return self._others.is_integer

    def rounded(self) -> float | None:
        """The sum as a float; None beyond the largest float."""
        return self._others.over(1, self._integers)

    def integer(self) -> int:
        """The sum, if it is an integer."""
        numerator, denominator = self._others.ratio()
        return self._integers + numerator // denominator


class Mean(Sum):
    """The exact mean, rounded once.

    Cost     O(1)
    """

    __slots__ = ()

    def value(self, at: Time) -> float | None:
        """The mean; None without values."""
        return self._others.over(self._count, self._integers) if self._count else None


class Variance(Additive):
    """The variance, or its root, rounded once.

        Σ(x - mean)²  =  Σx² - (Σx)² / n

    With rounded intermediate results this loses all digits; here none is lost.

    Cost     O(1)

    >>> variance = Variance(freedom=1)
    >>> for number in (1e9, 1e9 + 1, 1e9 + 2): variance.add(number, 9)
    >>> variance.value(0)
    1.0
    """

    __slots__ = ("_count", "_freedom", "_round", "_squares", "_total")

    def __init__(self, freedom: int, round_: Callable[[int, int], float | None] = rounded_quotient) -> None:
        self._freedom = freedom
        self._round = round_
        self._count = 0
        self._total = ExactSum()
        self._squares = ExactSum()

    def change(self, value: Any, sign: int) -> None:
        """Add or subtract a value, and count it."""
        self._count += sign
        self._total.change(value, sign)
        self._squares.change_square(value, sign)

    def remove_all(self, other: Variance) -> None:
        """Remove the values that another one was made of."""
        self._count -= other._count
        self._total.take_out(other._total)
        self._squares.take_out(other._squares)

    def value(self, at: Time) -> float | None:
        """The variance; None if there are no more values than `freedom`."""
        count = self._count
        if count <= self._freedom:
            return None
        (total, p), (squares, q) = self._total.ratio(), self._squares.ratio()  # denominators p and q
        numerator = count * squares * p * p - total * total * q
        return self._round(numerator, count * (count - self._freedom) * q * p * p)


class Maximum(Accumulator):
    """The largest value.

    Only values that no other value exceeds and outlives are kept: in order of their ends, they decrease. The
    first of them is the maximum.

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
        """Add a value, and forget those that it exceeds and outlives."""
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
        """Do nothing: values leave by their ends."""

    def value(self, at: Time) -> Any:
        """The largest value that ends after `at`; None without values."""
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


class CountDistinct(Accumulator):
    """The number of different values.

    Cost     O(1)

    >>> count = CountDistinct()
    >>> for value in "aab": count.add(value, 9)
    >>> count.remove("a")
    >>> count.value(0)
    2
    """

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[Any, int] = {}

    def add(self, value: Any, end: Time) -> None:
        """Count one more occurrence of a value."""
        self._counts[value] = self._counts.get(value, 0) + 1

    def remove(self, value: Any) -> None:
        """Count one occurrence less."""
        count = self._counts[value] - 1
        if count:
            self._counts[value] = count
        else:
            del self._counts[value]

    def value(self, at: Time) -> int:
        """The number of different values."""
        return len(self._counts)


class OfDistinct(Accumulator):
    """A function of the different present values: equal ones are passed on once.

    The function must let values leave by value, whatever their ends, and treat equal values alike.

    Cost     O(1) besides the function's own, which is called when the first of equal values enters and the
             last one leaves.
    """

    __slots__ = ("_entries", "_function")

    def __init__(self, function: Accumulator) -> None:
        self._function = function
        self._entries: dict[Any, list[Any]] = {}
        """By value, its number of occurrences, and the one of them that was passed on."""

    def add(self, value: Any, end: Time) -> None:
        """Add a value; passed on if it is new."""
        entry = self._entries.get(value)
        if entry is None:
            self._entries[value] = [1, value]
            self._function.add(value, end)
        else:
            entry[0] += 1

    def remove(self, value: Any) -> None:
        """Remove a value; passed on if it is the last of its equals."""
        entry = self._entries[value]
        entry[0] -= 1
        if not entry[0]:
            del self._entries[value]
            self._function.remove(entry[1])

    def value(self, at: Time) -> Any:
        """The value of the function."""
        return self._function.value(at)


class SumDistinct(Accumulator):
    """The exact sum of the different values.

    It is an integer if all present values are integers. Values that equal another one count here, because
    they may outlast it.

    Cost     O(1)

    >>> sum_ = SumDistinct()
    >>> for value in (2, 2.0, 3): sum_.add(value, 9)
    >>> sum_.value(0)
    5.0
    """

    __slots__ = ("_different", "_no_integers", "_sum")

    def __init__(self) -> None:
        self._sum = Sum()
        self._different = OfDistinct(self._sum)
        self._no_integers = 0

    def add(self, value: Any, end: Time) -> None:
        """Add a value."""
        self._no_integers += not isinstance(value, int)
        self._different.add(value, end)

    def remove(self, value: Any) -> None:
        """Remove a value."""
        self._no_integers -= not isinstance(value, int)
        self._different.remove(value)

    def value(self, at: Time) -> int | float | None:
        """The sum, rounded once; None without values."""
        if self._sum.value(at) is None:
            return None
        is_float = self._no_integers > 0 or not self._sum.is_integer
        return self._sum.rounded() if is_float else self._sum.integer()


ACCUMULATORS: Mapping[str, Callable[[], Accumulator]] = {
    "count": Count,
    "sum": Sum,
    "avg": Mean,
    "min": Minimum,
    "max": Maximum,
    "var_pop": partial(Variance, 0),
    "var_samp": partial(Variance, 1),
    "stddev_pop": partial(Variance, 0, rounded_root),
    "stddev_samp": partial(Variance, 1, rounded_root),
    "median": Median,
    "scaled_sum": ScaledSum,
    "standard_error": StandardError,
}
"""The accumulator of each aggregate function of one argument."""


def accumulator(call: AggregateCall) -> Accumulator:
    """A new accumulator for a call.

    >>> from midstream.plans.expressions.aggregates import avg, top_k
    >>> type(accumulator(top_k("x", 3))).__name__, type(accumulator(avg("x", distinct=True))).__name__
    ('TopK', 'OfDistinct')
    """
    function = call.function
    if call.distinct and function == "count":
        return CountDistinct()
    if call.distinct and function == "sum":
        return SumDistinct()
    if not isinstance(function, UserAggregate):
        made = ACCUMULATORS[function]() if call.k is None else TopK(call.k)
    elif function.inverse is not None:
        made = Invertible(function)
    else:
        # Different values leave by value.
        made = MergedByValue(function) if call.distinct else Merged(function)
    return OfDistinct(made) if call.distinct else made
