"""Times of results: the lag of progress behind the time, and the delay of results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce

from midstream.optimizer.cost.estimate import Estimate, Work


def lag_and_delay(rate: float, work: Work, inputs: Sequence[Estimate]) -> tuple[float, float]:
    """The lag and the delay of an output with a rate.

    While one result waits, as many others come as are waiting (Little's law). So the delay is the number of
    waiting results, divided by their rate. Progress is that of the slowest input, or the first result that
    waits.
    """
    wait = work.waiting / rate if 0 < rate < math.inf else 0.0
    delay = max([s.delay for s in inputs]) + wait
    return max(later([s.lag for s in inputs]), delay), delay


def longer_by(first: float, second: float) -> float:
    """The average excess of one time over another, 0 where it is shorter; both distributed exponentially.

    >>> longer_by(6.0, 0.0), longer_by(6.0, 6.0), longer_by(0.0, 6.0)
    (6.0, 3.0, 0.0)
    """
    return first * first / (first + second) if first and math.isfinite(first + second) else first


def until_reached(s: Estimate) -> float:
    """Chronons that an element of another stream waits until this stream's progress has reached its start.

    The wait is 0 if an element has come at the same instant of the granularity (a chronon at least). With
    the lag d, the average is

        d (1 - e^(-g/d)) d / g
    """
    if not 0 < s.lag < math.inf:
        return s.lag
    return s.lag * -math.expm1(-s.g / s.lag) * s.lag / s.g


def later(lags: Iterable[float]) -> float:
    """The lag of the slowest of several independent streams.

    The age of the last element is distributed exponentially; the longer of two such times is on average
    a + b - 1 / (1/a + 1/b).

    >>> later([6.0]), later([6.0, 6.0]), later([6.0, 0.0]), later([])
    (6.0, 9.0, 6.0, 0.0)
    """
    return reduce(_later, lags, 0.0)


def _later(one: float, other: float) -> float:
    return one + other - one * other / (one + other) if one and other else one + other
