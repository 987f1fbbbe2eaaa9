"""Aggregate functions that users define by merging partial results."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from midstream.operators.base.expiry import Expiry
from midstream.operators.functions.accumulator import Accumulator
from midstream.plans.expressions.aggregates import UserAggregate
from midstream.plans.values.finite import finite
from midstream.plans.values.streams import FOREVER, Time

_NOTHING: Any = object()
"""The partial result of no value; None may be a user's partial result."""


class PartialResults:
    """Partial results that come and go in any order, and their merged total.

    They are the leaves of a binary tree, whose inner nodes hold the merged results of their two children. As
    merging is commutative, any free leaf will do for a new one, and the tree never needs balancing.

    Cost     O(log n) merges to put and to drop, amortised where the tree must grow.

    >>> largest = PartialResults(max)
    >>> place = [largest.put(number) for number in (3, 9, 4)]
    >>> largest.drop(place[1])
    >>> largest.total
    4
    """

    __slots__ = ("_free", "_merge", "_nodes")

    def __init__(self, merge: Callable[[Any, Any], Any]) -> None:
        self._merge = merge
        self._clear()

    def _clear(self) -> None:
        self._nodes = [_NOTHING, _NOTHING]
        """The root is at 1, the children of i are at 2i and 2i + 1; the second half are the leaves."""
        self._free = [0]

    @property
    def total(self) -> Any:
        """All partial results merged; `_NOTHING` if there is none."""
        return self._nodes[1]

    def put(self, partial: Any) -> int:
        """Add a partial result; returns its place."""
        if not self._free:
            self._grow()
        place = self._free.pop()
        self._set(place, partial)
        return place

    def drop(self, place: int) -> None:
        """Remove the partial result at a place."""
        self._free.append(place)
        if len(self._free) == len(self._nodes) // 2:
            self._clear()
        else:
            self._set(place, _NOTHING)

    def _set(self, place: int, partial: Any) -> None:
        nodes, merge = self._nodes, self._merge
        at = len(nodes) // 2 + place
        nodes[at] = partial
        while at > 1:
            at //= 2
            nodes[at] = _merged(merge, nodes[2 * at], nodes[2 * at + 1])

    def _grow(self) -> None:
        leaves = self._nodes[len(self._nodes) // 2 :]
        size = 2 * len(leaves)
        nodes = [_NOTHING] * size + leaves + [_NOTHING] * len(leaves)
        for at in range(size - 1, 0, -1):
            nodes[at] = _merged(self._merge, nodes[2 * at], nodes[2 * at + 1])
        self._nodes = nodes
        self._free = list(range(size - 1, len(leaves) - 1, -1))


def _merged(merge: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if left is _NOTHING:
        return right
    return left if right is _NOTHING else merge(left, right)


class Merged(Accumulator):
    """A user's aggregate function without inverse.

    Values whose ends come in order pass through a queue of two stacks. On the back stack values are merged as
    they come; on the front one each partial result is merged with all behind it. When the front one is empty,
    the back one is turned over. Values out of order go to a tree.

    State    A partial result per value, twice as many in the tree.
    Cost     O(1) merges, amortised, per value where ends are ordered, else O(log n).

    >>> largest = Merged(UserAggregate("largest", abs, max, lambda x: x))
    >>> for value, end in ((3, 10), (-7, 20), (5, 30), (9, 15)): largest.add(value, end)
    >>> largest.value(10), largest.value(15), largest.value(20)
    (9, 7, 5)
    """

    __slots__ = ("_back", "_back_total", "_front", "_function", "_late", "_places")

    def __init__(self, function: UserAggregate) -> None:
        self._function = function
        self._front: list[tuple[Time, Any]] = []
        self._back: list[tuple[Time, Any]] = []
        self._back_total = _NOTHING
        self._late = PartialResults(function.merge)
        self._places: Expiry[int] = Expiry()

    def add(self, value: Any, end: Time) -> None:
        """Add a value."""
        partial = self._function.initialise(value)
        last = self._back or self._front[:1]
        if last and end < last[-1][0]:
            self._places.add(end, self._late.put(partial))
        else:
            self._back_total = _merged(self._function.merge, self._back_total, partial)
            self._back.append((end, partial))

    def remove(self, value: Any) -> None:
        """Do nothing: values leave by their ends."""

    def value(self, at: Time) -> Any:
        """The function of the values that end after `at`; None without values."""
        self._evict(at)
        merge = self._function.merge
        total = self._front[-1][1] if self._front else _NOTHING
        total = _merged(merge, total, self._back_total)
        total = _merged(merge, total, self._late.total)
        return None if total is _NOTHING else self._function.result(total)

    def _evict(self, at: Time) -> None:
        front = self._front
        while front and front[-1][0] <= at:
            front.pop()
        if not front and self._back and self._back[0][0] <= at:
            self._turn_over(at)
        for _, place in self._places.expired(at):
            self._late.drop(place)

    def _turn_over(self, at: Time) -> None:
        total = _NOTHING
        for end, partial in reversed(self._back):
            if end <= at:
                break
            total = _merged(self._function.merge, partial, total)
            self._front.append((end, total))
        self._back = []
        self._back_total = _NOTHING


class MergedByValue(Accumulator):
    """A user's aggregate function, without inverse, of values that leave by value, whatever their ends.

    State    A partial result per value, and a tree over them.
    Cost     O(log n) merges to add and remove.

    >>> widest = MergedByValue(UserAggregate("widest", abs, max, lambda x: x))
    >>> for value in (3, -7, 3, 5): widest.add(value, 9)
    >>> widest.remove(-7)
    >>> widest.value(0)
    5
    """

    __slots__ = ("_function", "_partials", "_places")

    def __init__(self, function: UserAggregate) -> None:
        self._function = function
        self._partials = PartialResults(function.merge)
        self._places: dict[Any, list[int]] = {}

    def add(self, value: Any, end: Time) -> None:
        """Add a value."""
        self._places.setdefault(value, []).append(self._partials.put(self._function.initialise(value)))

    def remove(self, value: Any) -> None:
        """Remove one of the values that are equal to it."""
        places = self._places[value]
        self._partials.drop(places.pop())
        if not places:
            del self._places[value]

    def value(self, at: Time) -> Any:
        """The function of the present values; None without values."""
        total = self._partials.total
        return None if total is _NOTHING else self._function.result(total)


class Invertible(Accumulator):
    """A user's aggregate function with an inverse.

    An inverse cannot undo an infinite partial result. Values that would make it infinite are set aside, and
    merged when the result is asked for; each is tried again when another value has left.

    State    A partial result, and the values that are set aside.
    Cost     O(1) calls of the user's functions, and O(1) for each value that is set aside.

    >>> total = Invertible(UserAggregate("total", lambda x: x, lambda a, b: a + b, lambda a: a,
    ...                                  lambda a, b: a - b))
    >>> for value in (3.0, 1e308, 1e308): total.add(value, 9)
    >>> total.remove(1e308)
    >>> total.value(0)
    1e+308
    """

    __slots__ = ("_aside", "_function", "_inverse", "_merged", "_total")

    def __init__(self, function: UserAggregate) -> None:
        assert function.inverse is not None
        self._function = function
        self._inverse = function.inverse
        self._merged = 0
        """The number of values in the total."""
        self._total = _NOTHING
        self._aside: list[Any] = []

    def add(self, value: Any, end: Time) -> None:
        """Add a value."""
        total = self._with(self._total, value)
        if _is_finite(total):
            self._total = total
            self._merged += 1
        else:
            self._aside.append(value)

    def remove(self, value: Any) -> None:
        """Remove a value."""
        if value in self._aside:
            self._aside.remove(value)
            return
        self._merged -= 1
        if self._merged:
            self._total = self._inverse(self._total, self._function.initialise(value))
        else:
            self._total = _NOTHING
        aside, self._aside = self._aside, []
        for each in aside:
            self.add(each, FOREVER)

    def value(self, at: Time) -> Any:
        """The function of the present values; None without values."""
        total = reduce(self._with, self._aside, self._total)
        return None if total is _NOTHING else self._function.result(total)

    def _with(self, total: Any, value: Any) -> Any:
        return _merged(self._function.merge, total, self._function.initialise(value))


def _is_finite(partial: Any) -> bool:
    """True if all numbers of a partial result are finite, or it has none."""
    if isinstance(partial, tuple | list):
        return all(map(_is_finite, partial))
    return partial is None or finite(partial) is not None
