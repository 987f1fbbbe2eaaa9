"""Running aggregate functions whose values leave when they say so: when a value enters, its end is not
known."""

from __future__ import annotations

from typing import Any

from midstream.operators.functions.accumulator import Accumulator
from midstream.operators.functions.accumulators import accumulator
from midstream.operators.functions.order_statistics import Ordered
from midstream.operators.functions.user_aggregates import PartialResults
from midstream.plans.expressions.aggregates import AggregateCall, UserAggregate
from midstream.plans.values.streams import Time


class Largest(Ordered):
    """The largest value. Cost: O(log n), O(1) for the value.

    >>> largest = Largest()
    >>> for value in (3, 7, 5): largest.add(value, 9)
    >>> largest.remove(7)
    >>> largest.value(0)
    5
    """

    __slots__ = ()

    def value(self, at: Time) -> Any:
        """The last; None of nothing."""
        return self._values[-1] if self._values else None


class Smallest(Ordered):
    """The smallest value; see Largest."""

    __slots__ = ()

    def value(self, at: Time) -> Any:
        """The first; None of nothing."""
        return self._values[0] if self._values else None


class MergedBySign(Accumulator):
    """A user's aggregate function without inverse.

    State    A partial result per value, and a tree over them.
    Cost     O(log n) merges to add and remove.

    >>> widest = MergedBySign(UserAggregate("widest", abs, max, lambda x: x))
    >>> for value in (3, -7, 3, 5): widest.add(value, 9)
    >>> widest.remove(-7)
    >>> widest.value(0)
    5
    """

    __slots__ = ("_count", "_function", "_partials", "_places")

    def __init__(self, function: UserAggregate) -> None:
        self._function = function
        self._count = 0
        self._partials = PartialResults(function.merge)
        self._places: dict[Any, list[int]] = {}

    def add(self, value: Any, end: Time) -> None:
        """One more value."""
        self._count += 1
        self._places.setdefault(value, []).append(self._partials.put(self._function.initialise(value)))

    def remove(self, value: Any) -> None:
        """One of the values that equal it leaves."""
        self._count -= 1
        places = self._places[value]
        self._partials.drop(places.pop())
        if not places:
            del self._places[value]

    def value(self, at: Time) -> Any:
        """The function of the values that are in; None of nothing."""
        return self._function.result(self._partials.total) if self._count else None


def accumulator_by_sign(call: AggregateCall) -> Accumulator:
    """A new accumulator for a call, which does not look at ends. Values enter with FOREVER as theirs.

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
        return MergedBySign(function)
    return accumulator(call)


def keeps_values(call: AggregateCall) -> bool:
    """Whether what a call keeps grows with the number of values."""
    if isinstance(call.function, UserAggregate):
        return call.distinct or call.function.inverse is None
    return call.distinct or call.function in ("min", "max", "median", "top_k")
