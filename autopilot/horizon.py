"""The time for which one plan stays the best, learned from the past.

    horizon  =  (n · prior + time) / (n + changes)

This is the mean duration of situations, if they end by chance and only the prior was known: n situations as
long as the prior. The present situation, which has not ended, counts too, so that a long calm leads to a long
horizon. Both sums decay, so that the distant past is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)


class Horizon(Generic[P]):
    """Learns the horizon from the best plan at each look.

    prior     the horizon before anything is known; in chronons, as all times
    margin    a plan follows the best one when it costs less by this share, so that equal plans do not take
              turns
    bounds    the horizon is never shorter or longer than these multiples of the prior

    >>> horizon = Horizon(prior=10, margin=0.2)
    >>> for time in range(0, 400, 2):
    ...     horizon.look(time, {"a": 1, "b": 5} if time // 40 % 2 else {"a": 5, "b": 1})
    >>> round(horizon.expected)
    20
    """

    WEIGHT = 3.0
    """The number of situations that the prior counts for."""
    MEMORY = 32.0
    """The number of priors after which an observation counts half."""

    def __init__(self, prior: float, margin: float, bounds: tuple[float, float] = (0.25, 2.0)) -> None:
        self._prior, self._margin, self._bounds = prior, margin, bounds
        self._time = self._changes = 0.0
        self._best: P | None = None
        self._looked: float | None = None

    @property
    def expected(self) -> float:
        """The time for which the present situation is expected to last, in chronons."""
        learned = (self.WEIGHT * self._prior + self._time) / (self.WEIGHT + self._changes)
        shortest, longest = self._bounds
        return min(max(learned, shortest * self._prior), longest * self._prior)

    def look(self, now: float, rates: Mapping[P, float]) -> None:
        """Learn from the cost of each plan per chronon at an instant."""
        if self._looked is not None:
            passed = now - self._looked
            decay = 0.5 ** (passed / (self.MEMORY * self._prior))
            self._time, self._changes = self._time * decay + passed, self._changes * decay
        self._looked = now
        best = min(rates, key=rates.__getitem__, default=None)
        if best is None or best == self._best:
            return
        if self._best is None or self._best not in rates:
            self._best = best
        elif rates[best] < (1 - self._margin) * rates[self._best]:
            self._best, self._changes = best, self._changes + 1
