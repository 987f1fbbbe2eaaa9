"""Rates of pairs of equal keys in two streams, from decayed counts of their keys; no join has to run.

    rate(A, B)  =  2 w · Σ_k λ_A(k) λ_B(k)        λ(k)  =  a · Σ e^(−a · age) over the elements with key k

Source   the decay is G(r) = e^(−ar) of the OM paper, 4.3
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass


class DecayedCounts:
    """Decayed counts of the keys of a stream: after a half-life, in chronons, an element counts half.

    Cost     O(1) per element; O(keys) to read, which also drops keys that have decayed to nothing.

    >>> counts = DecayedCounts(half_life=10)
    >>> for time in range(1000):
    ...     counts.take(time, time % 2)
    >>> [round(rate, 2) for _, rate in sorted(counts.rates(1000).items())]
    [0.47, 0.5]
    """

    NOTHING = 1e-9

    def __init__(self, half_life: float) -> None:
        self.decay = math.log(2) / half_life
        """Share of a count that decays per chronon."""
        self._counts: dict[Hashable, tuple[float, float]] = {}

    def take(self, time: float, key: Hashable) -> None:
        """Count an element; the elements of a key must come in order of time."""
        count, last = self._counts.get(key, (0.0, time))
        self._counts[key] = count * math.exp(-self.decay * (time - last)) + 1, time

    def rates(self, now: float) -> Mapping[Hashable, float]:
        """Elements per chronon, by key."""
        exp, decay = math.exp, self.decay
        counts = {key: count * exp(-decay * (now - last)) for key, (count, last) in self._counts.items()}
        for key in [key for key, count in counts.items() if count <= self.NOTHING]:
            del counts[key], self._counts[key]
        return {key: decay * count for key, count in counts.items()}


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """A rate, in pairs per chronon, and its standard deviation."""

    value: float
    deviation: float


def pair_rate(left: Mapping[Hashable, float], right: Mapping[Hashable, float], window: float) -> float:
    """Pairs per chronon of two streams, from their rates by key.

    >>> pair_rate({"x": 0.5, "y": 1.0}, {"x": 0.5}, window=10)
    5.0
    """
    return 2 * window * math.fsum(rate * right.get(key, 0.0) for key, rate in left.items())


def difference(
    rates: Mapping[str, Mapping[Hashable, float]],
    first: tuple[str, str],
    second: tuple[str, str],
    window: float,
    decay: float,
) -> RateEstimate:
    """The difference of two pair rates, each of two streams; the pairs may share a stream.

    The elements of a key are presumed to be a Poisson process: a rate λ has the variance a λ / 2. A stream
    that both pairs share contributes to both, so the deviation is that of the difference.
    """
    ours, theirs = (pair_rate(rates[one], rates[other], window) for one, other in (first, second))
    partners = defaultdict[str, list[tuple[int, Mapping[Hashable, float]]]](list)
    for sign, (one, other) in ((1, first), (-1, second)):
        partners[one].append((sign, rates[other]))
        partners[other].append((sign, rates[one]))
    slopes = {stream: _total(others) for stream, others in partners.items()}
    of_rates = (
        (2 * window) ** 2
        * decay
        / 2
        * math.fsum(
            rate * slope.get(key, 0.0) ** 2
            for stream, slope in slopes.items()
            for key, rate in rates[stream].items()
        )
    )
    of_pairs = 2 * window * (decay / 2) ** 2 * (ours + theirs)
    return RateEstimate(ours - theirs, math.sqrt(of_rates + of_pairs))


def _total(signed: Sequence[tuple[int, Mapping[Hashable, float]]]) -> Mapping[Hashable, float]:
    """The signed sum of rates by key; for a single term, without its sign."""
    if len(signed) == 1:
        return signed[0][1]
    total = defaultdict[Hashable, float](float)
    for sign, rates in signed:
        for key, rate in rates.items():
            total[key] += sign * rate
    return total
