"""The time until a number of independent events has happened: the Gamma distribution."""

from __future__ import annotations

import math

STEPS = 60
"""Intervals of a numerical integral; the result is right to a thousandth."""
PARTS = 8
"""Size of a sample that stands for a range of numbers."""


def gamma_tail(events: int, time: float) -> float:
    """The probability that a number of events, one per unit of time on average, takes longer than a time.

    That is the probability of fewer events in this time, a sum of Poisson probabilities.

    >>> round(gamma_tail(1, 2.0), 4), round(gamma_tail(2, 2.0), 4), gamma_tail(3, 0.0)
    (0.1353, 0.406, 1.0)
    """
    if time > 700 + 2 * events:
        return 0.0
    if events > 200:  # where it is normal
        return 0.5 * math.erfc((time - events) / math.sqrt(2 * events))
    term = total = 1.0
    for k in range(1, events):
        term *= time / k
        total += term
    return min(1.0, total * math.exp(-time)) if math.isfinite(total) else 0.0


def longest(events: int, groups: float, spread: int = 1) -> float:
    """The average of the longest of some independent times, each until a number of events has happened.

        the integral of 1 - (1 - tail(x))^groups;  of single events, the harmonic number of the groups

    With a spread s, the number of events of each group is uniform among the last s numbers up to `events`.

    >>> round(longest(1, 2), 2), round(longest(3, 1), 2), round(longest(1, 1000), 1)
    (1.5, 3.0, 7.5)
    >>> round(longest(3, 1, spread=3), 2), round(longest(3, 1000, spread=3), 1)
    (2.0, 10.8)
    """
    if events == 1 and groups > 100:
        return math.log(groups) + 0.5772 + 1 / (2 * groups)
    more = math.log(max(groups, 1.0))
    end = events + (4 + 2 * math.sqrt(more)) * math.sqrt(events) + 2 * more + 8
    width = end / STEPS
    numbers = _some(events, spread)

    def missing(x: float) -> float:
        tail = sum(gamma_tail(number, x) for number in numbers) / len(numbers)
        return 1.0 if tail >= 1 else -math.expm1(groups * math.log1p(-tail))

    # Simpson's rule.
    inner = sum((4 if i % 2 else 2) * missing(i * width) for i in range(1, STEPS))
    return (missing(0.0) + inner + missing(end)) * width / 3


def _some(last: int, spread: int) -> list[int]:
    """Numbers that stand for the `spread` numbers up to `last`: each, or the middles of equal parts.

    >>> _some(5, 1), _some(5, 3), _some(1000, 800)
    ([5], [3, 4, 5], [251, 351, 451, 551, 651, 751, 851, 951])
    """
    parts = min(spread, PARTS)
    return [last - spread + 1 + spread * (2 * i + 1) // (2 * parts) for i in range(parts)]
