"""The share of intervals that hold the truth, over many samples of one recorded population."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist, median

from midstream.optimizer.sampling.drawing import Drawn
from midstream.optimizer.sampling.intervals import CONFIDENCE, Interval, share_of_pairs
from midstream.scenarios.trials.sampling.populations import Population, Recorded, members

DRAWS = 400


@dataclass(frozen=True, slots=True)
class Coverage:
    """Figures over all draws.

    seen      matching pairs in a sample, on average
    covered   share of draws whose interval holds the truth
    poisson   share of draws whose interval for independent pairs holds the truth
    width     width of the interval as a multiple of the truth; the median
    open      share of draws without a lower bound
    """

    seen: float
    covered: float
    poisson: float
    width: float
    open: float


def coverage(population: Population, share: float, draws: int = DRAWS) -> Coverage:
    """Draw samples of both streams, and count.

    Cost     O(draws · sampled pairs).
    """
    truth = population.truth
    found = list(_draws(population, share, draws))
    return Coverage(
        sum(matches for matches, _, _ in found) / draws,
        sum(truth in ours for _, ours, _ in found) / draws,
        sum(truth in theirs for _, _, theirs in found) / draws,
        median((ours.high - ours.low) / truth for _, ours, _ in found),
        sum(not ours.low for _, ours, _ in found) / draws,
    )


def _draws(population: Population, share: float, draws: int) -> Iterator[tuple[float, Interval, Interval]]:
    for draw in range(draws):
        left, right = members(
            sampled(population.left, f"left {draw}", share),
            sampled(population.right, f"right {draw}", share),
            population.holds,
        )
        matches = sum(each.matches for each in left)
        pairs = sum(each.partners for each in left)
        yield matches, share_of_pairs(left, right), poisson(matches, pairs)


def sampled(recorded: Recorded, seed: str, share: float) -> Recorded:
    """The elements that are drawn."""
    drawn = Drawn(seed, share)
    return [(time, value) for time, value in recorded if drawn(time, value)]


def poisson(matches: float, pairs: float) -> Interval:
    """The interval that would hold if pairs were independent: of a Poisson number of matches.

    >>> print(poisson(10, 100))
    0.1 (0.0542 to 0.17)
    """
    if not pairs:
        return Interval(0.5, 0.0, 1.0)
    low, high = (
        _chi_square((1 + sign * CONFIDENCE) / 2, 2 * n) / 2 for sign, n in ((-1, matches), (1, matches + 1))
    )
    return Interval(matches / pairs, low / pairs, min(1.0, high / pairs))


def _chi_square(below: float, freedom: float) -> float:
    if not freedom:
        return 0.0
    root = 1 - 2 / (9 * freedom) + NormalDist().inv_cdf(below) * math.sqrt(2 / (9 * freedom))
    return freedom * max(0.0, root) ** 3
