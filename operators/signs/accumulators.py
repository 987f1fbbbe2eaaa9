"""Running aggregate functions of values whose ends are not known when they enter."""

from __future__ import annotations

from typing import Any

from midstream.operators.functions.accumulator import Accumulator
from midstream.operators.functions.accumulators import accumulator
from midstream.operators.functions.order_statistics import Ordered
from midstream.operators.functions.user_aggregates import MergedByValue
from midstream.plans.expressions.aggregates import AggregateCall, UserAggregate
from midstream.plans.values.streams import Time


class Largest(Ordered):
    """The largest value.

    Cost     O(log n), O(1) for the value

    >>> largest = Largest()
    >>> for value in (3, 7, 5): largest.add(value, 9)
    >>> largest.remove(7)
    >>> largest.value(0)
    5
    """

    __slots__ = ()

    def value(self, at: Time) -> Any:
        """The last value; None without values."""
        return self._values[-1] if self._values else None


class Smallest(Ordered):
    """The smallest value; see Largest."""

    __slots__ = ()

    def value(self, at: Time) -> Any:
        """The first value; None without values."""
        return self._values[0] if self._values else None


def accumulator_by_sign(call: AggregateCall) -> Accumulator:
    """A new accumulator for a call that does not use ends; values enter with FOREVER as their end.

    >>> from midstream.plans.expressions.aggregates import max_, sum_
    >>> type(accumulator_by_sign(max_("x"))).__name__, type(accumulator_by_sign(sum_("x"))).__name__
    ('Largest', 'Sum')
    """
    function = call.function
    if function == "max":
        return Largest()
    if function == "min":
        return Smallest()
    if isinstance(function, UserAggregate) and function.inverse is None and not call.distinct:
        return MergedByValue(function)
    return accumulator(call)


def keeps_values(call: AggregateCall) -> bool:
    """True if the state of a call grows with the number of values."""
    if isinstance(call.function, UserAggregate):
        return call.distinct or call.function.inverse is None
    return call.distinct or call.function in ("min", "max", "median", "top_k", "standard_error")
