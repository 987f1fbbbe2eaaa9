"""How far off an advisor is: what plans cost when they ran, beside what it told of them.

    factor  =  (T · ratio + n) / (T + n)          after T windows in which a plan ran
    ratio   =  measured / told, towards 1 by a standard deviation

How sure a ratio is follows from how much it differs from window to window: where results are few, or come in
bursts, a plan may cost twice what was told of it by chance. With m and t of each window, and r = Σ m / Σ t

    variance of r  =  Σ (m − max(1, r) t)² / (Σ t)² · T / (T − 1)

Where less was measured than told, differences are taken from what was told: that nothing came for a while
tells little.

By these factors all that it tells is corrected. So a plan that was moved to, and is dearer than was told, is
left again by an ordinary move: the old plan's cost has been measured, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Generic

from midstream.autopilot.advice import Advice, Forecast, P


@dataclass(frozen=True, slots=True)
class _Sums:
    """For so many windows what was told, what was measured, and sums of the products of both; decayed."""

    windows: float = 0.0
    told: float = 0.0
    measured: float = 0.0
    told_told: float = 0.0
    told_measured: float = 0.0
    measured_measured: float = 0.0

    def then(self, windows: float, told: float, measured: float, kept: float) -> _Sums:
        """What was so far decays, and something is added."""
        return _Sums(
            self.windows * kept + windows,
            self.told * kept + told,
            self.measured * kept + measured,
            self.told_told * kept + told * told,
            self.told_measured * kept + told * measured,
            self.measured_measured * kept + measured * measured,
        )

    def difference(self, ratio: float) -> float:
        """Of what was measured from so many times what was told: the root of the sum of squares, and a bit
        more, as one of them is no sample."""
        if self.windows <= 1:
            return math.inf
        squares = self.measured_measured - 2 * ratio * self.told_measured + ratio**2 * self.told_told
        return math.sqrt(max(0.0, squares) * self.windows / (self.windows - 1))


@dataclass(slots=True)
class _Seen:
    """Of a plan while it ran."""

    sums: _Sums = _Sums()
    passed: float = 0.0
    """Of a window that is not over, in chronons."""
    told: float = 0.0
    measured: float = 0.0


class Errors(Generic[P]):
    """Learns a factor for each plan.

    A plan that has not run yet has the mean of the others' factors. Little deviations are no errors: what is
    told is about to come, what is measured has been.

    >>> errors = Errors(window=10)
    >>> for _ in range(100):
    ...     errors.saw("b", passed=10, told=10.0, measured=30.0)
    >>> round(errors.factor("b"), 1), errors.factor("a") == errors.factor("b")
    (2.7, True)
    """

    WEIGHT = 4.0
    """So many windows a plan must run for half of its error to be believed."""
    MEMORY = 16.0
    """After so many windows in which the plan runs, what was seen counts half."""
    LITTLE = 1.5
    """Up to this factor, or its inverse, an advisor is right."""

    DOUBT = 1.0
    """So many standard deviations a ratio may be nearer to 1 than it seems."""
    MOST = 16.0
    """No advisor is taken to be off by more than this factor, or its inverse."""

    def __init__(self, window: float) -> None:
        self._window = window
        self._seen: dict[P, _Seen] = {}

    def saw(self, plan: P, passed: float, told: float, measured: float) -> None:
        """A plan ran alone, and has done so for a window; what was told and measured is of the time that has
        passed since it was seen last."""
        seen = self._seen.setdefault(plan, _Seen())
        seen.passed, seen.told, seen.measured = (
            seen.passed + passed,
            seen.told + told,
            seen.measured + measured,
        )
        if seen.passed >= self._window:
            windows = seen.passed / self._window
            sums = seen.sums.then(windows, seen.told, seen.measured, 0.5 ** (windows / self.MEMORY))
            self._seen[plan] = _Seen(sums)

    def factor(self, plan: P) -> float:
        """By how much a plan costs more than is told."""
        seen = self._seen.get(plan)
        factors = [self._of(one.sums) for one in ([seen] if seen else self._seen.values())]
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

    def _of(self, sums: _Sums) -> float:
        if not sums.told and not sums.measured:
            return 1.0
        # Where next to nothing is told, a quotient is wild.
        told = max(sums.told, sums.measured / self.MOST)
        ratio = sums.measured / told
        expected = max(1.0, sums.measured / sums.told if sums.told else ratio)
        doubt = self.DOUBT * sums.difference(expected) / told
        ratio = max(1.0, ratio - doubt) if ratio > 1 else min(1.0, ratio + doubt)
        ratio = max(ratio, 1 / self.MOST)
        return (sums.windows * ratio + self.WEIGHT) / (sums.windows + self.WEIGHT)


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
