"""The errors of an advisor: the measured cost of plans that ran, beside its forecasts.

    factor  =  (T · ratio + n) / (T + n)          after T windows in which a plan ran
    ratio   =  measured / forecast, towards 1 by a standard deviation

The uncertainty of a ratio follows from its differences from window to window: where results are few, or come
in bursts, a plan may by chance cost twice its forecast. With m and f of each window, and r = Σ m / Σ f

    variance of r  =  Σ (m − max(1, r) f)² / (Σ f)² · T / (T − 1)

If less was measured than forecast, differences are taken from the forecast, because a while without results
proves little.

All forecasts are corrected by these factors. So if a move went to a plan that is dearer than its forecast, an
ordinary move leaves it again: the old plan's cost has been measured, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Generic

from midstream.autopilot.advice import Advice, Forecast, P


@dataclass(frozen=True, slots=True)
class _Sums:
    """Decayed sums over windows: forecasts, measurements, and the products of both."""

    windows: float = 0.0
    forecast: float = 0.0
    measured: float = 0.0
    forecast_squares: float = 0.0
    products: float = 0.0
    measured_squares: float = 0.0

    def then(self, windows: float, forecast: float, measured: float, kept: float) -> _Sums:
        """Decay the sums so far, and add a period."""
        return _Sums(
            self.windows * kept + windows,
            self.forecast * kept + forecast,
            self.measured * kept + measured,
            self.forecast_squares * kept + forecast * forecast,
            self.products * kept + forecast * measured,
            self.measured_squares * kept + measured * measured,
        )

    def difference(self, ratio: float) -> float:
        """The deviation of measurements from `ratio` times the forecasts: a root of squares over all windows.

        It is corrected upwards for few windows, and infinite for one, as one window is no sample.
        """
        if self.windows <= 1:
            return math.inf
        squares = self.measured_squares - 2 * ratio * self.products + ratio**2 * self.forecast_squares
        return math.sqrt(max(0.0, squares) * self.windows / (self.windows - 1))


@dataclass(slots=True)
class _Seen:
    """The sums of a plan while it ran."""

    sums: _Sums = _Sums()
    passed: float = 0.0
    """The chronons of a window that is not over."""
    forecast: float = 0.0
    measured: float = 0.0


class Errors(Generic[P]):
    """Learns a factor for each plan.

    A plan that has not run yet has the mean of the others' factors. Small deviations are no errors: a
    forecast is about the future, a measurement about the past.

    >>> errors = Errors(window=10)
    >>> for _ in range(100):
    ...     errors.saw("b", passed=10, forecast=10.0, measured=30.0)
    >>> round(errors.factor("b"), 1), errors.factor("a") == errors.factor("b")
    (2.7, True)
    """

    WEIGHT = 4.0
    """The number of windows that a plan must run for half of its error to be believed."""
    MEMORY = 16.0
    """The number of windows, while the plan runs, after which a measurement counts half."""
    LITTLE = 1.5
    """The factor, or its inverse, up to which an advisor is right."""

    DOUBT = 1.0
    """The number of standard deviations by which a ratio may be nearer to 1 than it seems."""
    MOST = 16.0
    """The largest factor, or its inverse, by which an advisor is taken to be off."""

    def __init__(self, window: float) -> None:
        self._window = window
        self._seen: dict[P, _Seen] = {}

    def saw(self, plan: P, passed: float, forecast: float, measured: float) -> None:
        """Learn from a plan that has run alone for a window or longer.

        `passed` is the time since the last call, in chronons; `forecast` and `measured` are the costs in that
        time.
        """
        seen = self._seen.setdefault(plan, _Seen())
        seen.passed, seen.forecast, seen.measured = (
            seen.passed + passed,
            seen.forecast + forecast,
            seen.measured + measured,
        )
        if seen.passed >= self._window:
            windows = seen.passed / self._window
            sums = seen.sums.then(windows, seen.forecast, seen.measured, 0.5 ** (windows / self.MEMORY))
            self._seen[plan] = _Seen(sums)

    def factor(self, plan: P) -> float:
        """The measured cost of a plan as a multiple of its forecast."""
        seen = self._seen.get(plan)
        factors = [self._of(ran.sums) for ran in ([seen] if seen else self._seen.values())]
        mean = sum(factors) / len(factors) if factors else 1.0
        return mean if not 1 / self.LITTLE <= mean <= self.LITTLE else 1.0

    def corrected(self, advice: Advice[P], running: P) -> Advice[P]:
        """The advice with all costs multiplied by their factors."""
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
        if not sums.forecast and not sums.measured:
            return 1.0
        # Where next to nothing was forecast, a quotient is wild.
        forecast = max(sums.forecast, sums.measured / self.MOST)
        ratio = sums.measured / forecast
        expected = max(1.0, sums.measured / sums.forecast if sums.forecast else ratio)
        doubt = self.DOUBT * sums.difference(expected) / forecast
        ratio = max(1.0, ratio - doubt) if ratio > 1 else min(1.0, ratio + doubt)
        ratio = max(ratio, 1 / self.MOST)
        return (sums.windows * ratio + self.WEIGHT) / (sums.windows + self.WEIGHT)


def _corrected(advice: Advice[P], other: Forecast[P], own: float, factor: float) -> Forecast[P]:
    doubted = advice.running - other.rate - other.saving  # by what the advisor has lowered the saving
    return replace(
        other,
        rate=other.rate * factor,
        saving=advice.running * own - other.rate * factor - doubted * max(own, factor),
        deviation=other.deviation * max(own, factor),
        lately=_times(other.lately, factor),
    )


def _times(lately: float | None, factor: float) -> float | None:
    return None if lately is None else lately * factor
