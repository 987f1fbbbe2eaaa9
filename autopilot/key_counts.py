"""An advisor for plans of another engine that begin with different joins: it counts keys."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.settings import BALANCED
from midstream.optimizer.pair_rates import DecayedCounts, difference, pair_rate
from midstream.plans.values.arguments import require_mapping, require_number, wrong
from midstream.plans.values.errors import ArgumentError

P = TypeVar("P", bound=Hashable)

Rates = Mapping[str, Mapping[Hashable, float]]
"""Elements per chronon by column and key."""

LITTLE = 1e-3
"""The share of a rate that may be missing; a larger one is made up for."""


class KeyCounts(Generic[P]):
    """Counts the keys of columns, and computes the pairs of each plan's first join; no join has to run.

    plans       by plan, the two columns that it joins first; names of columns are the caller's
    window      the validity of an element, in chronons
    half_life   the time after which an element counts half, in windows

    A second count decays so fast that pairs of elements a window apart count e times less than those of equal
    times: it gives the recent results of plans.

    >>> counts = KeyCounts({"a, b first": ("a.x", "b.x"), "b, c first": ("b.y", "c.y")}, window=10)
    >>> for time in range(100):
    ...     counts.take(time, {"a.x": 1})
    ...     counts.take(time, {"b.x": 1, "b.y": time % 2})
    ...     counts.take(time, {"c.y": 0})
    >>> advice = counts.advise("a, b first", 100)
    >>> round(advice.running), [(other.plan, round(other.rate)) for other in advice.others]
    (19, [('b, c first', 9)])
    """

    def __init__(
        self, plans: Mapping[P, tuple[str, str]], window: float, half_life: float = BALANCED.half_life
    ) -> None:
        """Raises ArgumentError for other arguments."""
        self._plans: dict[P, tuple[str, str]] = _joins(plans)
        self._window = require_number("key counts: window", window, above=0)
        half_life = require_number("key counts: half_life", half_life, above=0)
        columns = list(dict.fromkeys(column for join in self._plans.values() for column in join))
        self._slow = _Counts(columns, half_life * window)
        self._fast = _Counts(columns, math.log(2) * window)
        self._first: float | None = None

    def take(self, time: float, keys: Mapping[str, Hashable]) -> None:
        """Count an element with its start and its keys by column; elements of a column come in order.

        Cost     O(1) per column.
        Raises   ArgumentError for a column that no plan joins by.
        """
        require_mapping("key counts: take", keys, "keys by the name of a column")
        time = require_number("key counts: take", time)
        self._first = time if self._first is None else self._first
        for counts in (self._slow, self._fast):
            counts.take(time, keys)

    def advise(self, running: P, now: float) -> Advice[P] | None:
        """The results of all plans, from the elements before `now`; None within a window of the first.

        Cost     O(keys), of all columns.
        Raises   ArgumentError for an unknown plan.
        """
        now = require_number("key counts: advise", now)
        try:
            join = self._plans[running]
        except (KeyError, TypeError):
            raise wrong("key counts: advise", running, f"one of the plans {list(self._plans)}") from None
        if self._first is None or (passed := now - self._first) < self._window:
            return None
        slow, fast = self._slow.rates(now, passed), self._fast.rates(now, passed)
        others = []
        for plan, other in self._plans.items():
            if plan != running:
                saving = difference(slow, join, other, self._window, self._slow.decay)
                rate, lately = self._rate(other, slow), self._rate(other, fast)
                others.append(Forecast(plan, rate, saving.value, saving.deviation, lately))
        return Advice(
            self._rate(join, slow),
            tuple(others),
            "pair rates by decayed counts of keys",
            self._rate(join, fast),
        )

    def _rate(self, join: tuple[str, str], rates: Rates) -> float:
        left, right = join
        return pair_rate(rates[left], rates[right], self._window)


class _Counts:
    """Decayed counts of all columns."""

    def __init__(self, columns: list[str], half_life: float) -> None:
        self._by_column = {column: DecayedCounts(half_life) for column in columns}
        self.decay = math.log(2) / half_life

    def take(self, time: float, keys: Mapping[str, Hashable]) -> None:
        for column, key in keys.items():
            try:
                self._by_column[column].take(time, key)
            except (KeyError, TypeError):
                known = ", ".join(self._by_column)
                raise ArgumentError(
                    f"key counts: take: found {column}: {key!r}, expected a hashable key of one of {known}"
                ) from None

    def rates(self, now: float, passed: float) -> Rates:
        """Elements per chronon by column and key.

        At first they make up for the missing elements from before the first one.
        """
        missing = math.exp(-self.decay * passed)
        rates = {column: counts.rates(now) for column, counts in self._by_column.items()}
        if missing < LITTLE:
            return rates
        return {
            column: {key: rate / (1 - missing) for key, rate in by_key.items()}
            for column, by_key in rates.items()
        }


def _joins(plans: object) -> dict[P, tuple[str, str]]:
    expected = "by plan, the names of the two columns that it joins first"
    if not isinstance(plans, Mapping) or not plans:
        raise wrong("key counts: plans", plans, expected)
    for join in plans.values():
        is_pair = isinstance(join, tuple) and len(join) == 2
        if not is_pair or not all(isinstance(column, str) for column in join):
            raise wrong("key counts: plans", join, expected)
    return dict(plans)
