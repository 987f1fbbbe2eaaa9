"""How far off an advisor is: what plans cost when they ran, beside what it told of them.

    factor  =  (T · measured / told + n) / (T + n)        after T windows in which a plan ran

By these factors all that it tells is corrected. So a plan that was moved to, and is dearer than was told, is
left again by an ordinary move: the old plan's cost has been measured, too.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from midstream.migration.autopilot.advice import Advice, Forecast

P = TypeVar("P", bound=Hashable)


@dataclass(frozen=True, slots=True)
class _Seen:
    """Of a plan while it ran, decayed: for so many windows, what was told and what was measured."""

    windows: float = 0.0
    told: float = 0.0
    measured: float = 0.0


class Errors(Generic[P]):
    """Learns a factor for each plan.

    A plan that has not run yet has the mean of the others' factors. Little deviations are no errors: what is
    told is about to come, what is measured has been.

    >>> errors = Errors(window=10)
    >>> for _ in range(100):
    ...     errors.saw("b", passed=10, told=1.0, measured=30.0)
    >>> round(errors.factor("b"), 1), errors.factor("a") == errors.factor("b")
    (2.7, True)
    """

    WEIGHT = 4.0
    """So many windows a plan must run for half of its error to be believed."""
    MEMORY = 16.0
    """After so many windows in which the plan runs, what was seen counts half."""
    LITTLE = 1.5
    """Up to this factor, or its inverse, an advisor is right."""

    MOST = 4.0
    """No advisor is taken to be off by more than this factor, or its inverse."""

    def __init__(self, window: float) -> None:
        self._window = window
        self._seen: dict[P, _Seen] = {}

    def saw(self, plan: P, passed: float, told: float, measured: float) -> None:
        """A plan ran alone, and has done so for a window; `told` is per chronon, `measured` in all."""
        windows, before = passed / self._window, self._seen.get(plan, _Seen())
        kept = 0.5 ** (windows / self.MEMORY)
        self._seen[plan] = _Seen(
            before.windows * kept + windows,
            before.told * kept + told * passed,
            before.measured * kept + measured,
        )

    def factor(self, plan: P) -> float:
        """By how much a plan costs more than is told."""
        seen = self._seen.get(plan)
        factors = [self._of(one) for one in ([seen] if seen else self._seen.values())]
        mean = sum(factors) / len(factors) if factors else 1.0
        return mean if not 1 / self.LITTLE <= mean <= self.LITTLE else 1.0

    def corrected(self, advice: Advice[P], running: P) -> Advice[P]:
        """What an advisor should have told."""
        own = self.factor(running)
        factors = [self.factor(other.plan) for other in advice.others]
        if own == 1.0 and set(factors) <= {1.0}:
            return advice
        others = tuple(
            _corrected(advice, other, own, factor)
            for other, factor in zip(advice.others, factors, strict=True)
        )
        return replace(advice, running=advice.running * own, others=others, lately=_times(advice.lately, own))

    def _of(self, seen: _Seen) -> float:
        if not seen.told and not seen.measured:
            return 1.0
        # Where next to nothing is told, a quotient is wild.
        ratio = seen.measured / max(seen.told, seen.measured / self.MOST)
        ratio = max(ratio, 1 / self.MOST)
        return (seen.windows * ratio + self.WEIGHT) / (seen.windows + self.WEIGHT)


def _corrected(advice: Advice[P], other: Forecast[P], own: float, factor: float) -> Forecast[P]:
    return replace(
        other,
        rate=other.rate * factor,
        saving=advice.running * own - other.rate * factor,
        deviation=other.deviation * max(own, factor),
        lately=_times(other.lately, factor),
    )


def _times(lately: float | None, factor: float) -> float | None:
    return None if lately is None else lately * factor
