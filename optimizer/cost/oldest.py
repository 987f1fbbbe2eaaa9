"""The age of the oldest open item: results that are closed wait behind it, in order of starts."""

from __future__ import annotations

import math
from collections.abc import Callable

from midstream.optimizer.cost.estimate import times

STEPS = 40
"""Intervals of a numerical integral; the result is right to a hundredth."""


def oldest(older: Callable[[float], float], most: float) -> float:
    """The average age of the oldest of some independent items; `most` is the greatest possible age.

    `older(a)` is the average number of items older than a. None is older with the probability e^(-older(a)).

        the integral of 1 - e^(-older(a)) from 0 to the most

    >>> round(oldest(lambda a: 5 * math.exp(-a), 50.0), 1)        # as long as the longest of 5 single events
    2.2
    """
    if not 0 < most < math.inf:
        return most
    # Simpson's rule. Where all are open until `most`, rounding may make the last number less than 0.
    width = most / STEPS
    values = [-math.expm1(-min(max(older(i * width), 0.0), 700.0)) for i in range(STEPS + 1)]
    return (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2])) * width / 3


def oldest_alone(s_rate: float, s_length: float, absent: float, rate: float) -> float:
    """The average age of the oldest left row of an anti-join without a match.

    This many are open for longer than a, if matches come at the rate λ and last for m:

        r (l - a) e^(-λ a) e^(-λ m)
    """
    if not math.isfinite(s_length) or not math.isfinite(s_rate):
        return s_length
    most = min(s_length, 40 / rate) if rate else s_length
    return oldest(lambda a: absent * s_rate * (s_length - a) * math.exp(-rate * a), most)


def oldest_of_equal_ages(valid: float, length: float) -> float:
    """The average age of the oldest of `valid` open items with ages uniformly distributed up to a length."""
    if not valid:
        return 0.0
    return times(length, 1 + math.expm1(-valid) / valid if valid < math.inf else 1.0)


def oldest_group(n: float, rate: float, length: float) -> float:
    """The average age of the oldest segment of n groups, whose rows each come at the rate ρ.

    This many are older than a: the groups with a row in which nothing has come or gone since.

        n e^(-2 ρ a) (1 - e^(-ρ (l - a)))
    """
    if not rate or not math.isfinite(rate) or not math.isfinite(n):
        return length if not math.isfinite(rate) else 0.0
    ends = 2.0 if length < math.inf else 1.0
    most = min(length, (math.log(max(n, 1.0)) + 8) / (ends * rate))

    def older(a: float) -> float:
        there = -math.expm1(-rate * (length - a)) if length < math.inf else 1.0
        return n * math.exp(-ends * rate * a) * there

    return oldest(older, most)
