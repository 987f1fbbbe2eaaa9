"""When results come: how far progress is behind the time, and how long results wait."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

from midstream.optimizer.cost.estimate import Estimate


def timed(output: Estimate, inputs: Sequence[Estimate]) -> Estimate:
    """An output with its lag and its delay.

    Results that wait are as many as come while one waits (Little's law), so their delay is their number by
    their rate. Progress is that of the slower input, or the first result that waits.
    """
    rate, waiting = output.rate, output.work.waiting
    wait = waiting / rate if 0 < rate < math.inf else 0.0
    delay = max((s.delay for s in inputs), default=0.0) + wait
    return replace(output, lag=max(later(s.lag for s in inputs), delay), delay=delay)


def longer_by(one: float, other: float) -> float:
    """By how much one time is longer than another on average, where both are distributed exponentially, and
    by nothing where it is not.

    >>> longer_by(6.0, 0.0), longer_by(6.0, 6.0), longer_by(0.0, 6.0)
    (6.0, 3.0, 0.0)
    """
    return one * one / (one + other) if one and math.isfinite(one + other) else one


def until_reached(s: Estimate) -> float:
    """How long an element of another stream waits until the progress of this one has reached its start.

    Nothing is to be waited for where an element has come at the same instant of the granularity, be it that
    of chronons: of the lag d,

        d (1 - e^(-g/d)) d / g
    """
    if not 0 < s.lag < math.inf:
        return s.lag
    return s.lag * -math.expm1(-s.g / s.lag) * s.lag / s.g


def later(lags: Iterable[float]) -> float:
    """The lag of the slowest of several streams that come independently of each other, at random instants.

    How long ago the last element came is distributed exponentially; of two such times, the longer one is on
    average a + b - 1 / (1/a + 1/b).

    >>> later([6.0]), later([6.0, 6.0]), later([6.0, 0.0]), later([])
    (6.0, 9.0, 6.0, 0.0)
    """
    return reduce(_later, lags, 0.0)


def _later(one: float, other: float) -> float:
    return one + other - one * other / (one + other) if one and other else one + other
