"""Confidence intervals for shares of rows, and of pairs, that were found in samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from midstream.plans.values.errors import StatisticsError

CONFIDENCE = 0.9
"""Probability that an interval contains the true share."""

FEW = 3
"""Number of elements below which no deviation is estimated."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with its probable bounds.

    >>> print(Interval(0.25, 0.125, 0.5))
    0.25 (0.125 to 0.5)
    """

    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """True if it excludes anything."""
        return self.low > 0 or self.high < 1

    def __contains__(self, share: float) -> bool:
        return self.low <= share <= self.high

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True, slots=True)
class Member:
    """An element of a sample: its number of partners valid together with it, and of those that match."""

    matches: float
    partners: float


def share_of_rows(holding: float, rows: float, confidence: float = CONFIDENCE) -> Interval:
    """The share of rows that satisfies a condition, from a sample of them; [0, 1] without any rows.

    It is Wilson's interval with a continuity correction:

        2 n p + z² ± (1 + z √(z² - 1/n + 4 n p (1 - p) ± (4 p - 2)))
        ------------------------------------------------------------        p = holding / n
                              2 (n + z²)

    If some rows are always drawn together, `rows` is the effective number of independent rows.

    Source   R. G. Newcombe, Two-sided confidence intervals for the single proportion, 1998, method 4

    >>> for holding, rows in ((10, 100), (0, 40), (0, 0)):
    ...     print(share_of_rows(holding, rows))
    0.1 (0.0569 to 0.166)
    0 (0 to 0.085)
    0.5 (0 to 1)
    """
    if not rows:
        return Interval(0.5, 0.0, 1.0)
    p, z = holding / rows, NormalDist().inv_cdf((1 + confidence) / 2)
    middle, width = 2 * holding + z * z, 2 * (rows + z * z)
    below, above = (
        1 + z * math.sqrt(max(0.0, z * z - 1 / rows + 4 * holding * (1 - p) + sign * (4 * p - 2)))
        for sign in (1, -1)
    )
    low = max(0.0, (middle - below) / width) if p > 0 else 0.0
    high = min(1.0, (middle + above) / width) if p < 1 else 1.0
    return Interval(p, min(low, p), max(high, p))


def share_of_pairs(
    left: Sequence[Member], right: Sequence[Member], confidence: float = CONFIDENCE
) -> Interval:
    """The share of matching pairs among those that are valid together, from samples of both sides.

    Elements were drawn independently; pairs were not, as the pairs of one element share it. With X matches
    among Z pairs, r = X / Z, and an element's excess e = matches - r partners, the variance of X is the sum
    of the variances from the elements of both sides, less the variance of pairs, which is in both:

        v  =  Σ e²  +  Σ e²  -  X (1 - r)               Σ over the left, and over the right elements

    Small counts are skewed, so the bounds are those of a gamma distribution with this variance. The upper one
    allows for one more element like the largest that was drawn.

    If the matches of a side are worth fewer than three independent elements, no deviation can be estimated.
    Then the lower bound is 0, and the upper one that of the share of elements with any match: 1 if there are
    few.

    Cost     O(elements)
    Source   variance of two-sample U-statistics; M. P. Fay, E. J. Feuer, Confidence intervals for directly
             standardized rates, 1997, for the bounds of a sum of unequal counts
    """
    matches, pairs = (math.fsum(getattr(each, of) for each in left) for of in ("matches", "partners"))
    if not (
        math.isclose(matches, math.fsum(each.matches for each in right))
        and math.isclose(pairs, math.fsum(each.partners for each in right))
    ):
        raise StatisticsError(
            f"pairs: found {matches} of {pairs} by the left elements, expected the same by the right ones"
        )
    if not pairs:
        return Interval(0.5, 0.0, 1.0)
    if matches > pairs / 2:
        others = share_of_pairs(_others(left), _others(right), confidence)
        return Interval(1 - others.value, 1 - others.high, 1 - others.low)
    share = matches / pairs
    taking_part = min(independent(each.matches for each in side) for side in (left, right))
    if taking_part < FEW:
        return Interval(share, 0.0, max(share, min(1.0, _of_few(left, right, confidence))))
    excess = math.fsum((each.matches - share * each.partners) ** 2 for side in (left, right) for each in side)
    by_chance = matches * (1 - share)
    variance = max(by_chance, excess - by_chance)
    one_more = max(each.matches for side in (left, right) for each in side)
    low = _gamma((1 - confidence) / 2, matches, variance)
    high = _gamma((1 + confidence) / 2, matches + one_more, variance + one_more**2)
    return Interval(share, low / pairs, min(1.0, high / pairs))


def independent(weights: Iterable[float]) -> float:
    """The effective number of independent weights: their number if they are equal, else less.

    Source   L. Kish, Survey Sampling, 1965

    >>> independent([2, 2, 2]), independent([4, 1, 1]), independent([])
    (3.0, 2.0, 0.0)
    """
    each = list(weights)
    squares = math.fsum(weight**2 for weight in each)
    return math.fsum(each) ** 2 / squares if squares else 0.0


def _of_few(left: Sequence[Member], right: Sequence[Member], confidence: float) -> float:
    """Upper bound of the share of matching pairs, from the elements that have any match.

    Elements that match very many others are the worst case: samples miss the most pairs at once.
    """
    bounds = []
    for side in (left, right):
        elements = independent(each.partners for each in side)
        matching = sum(1 for each in side if each.matches)
        bounds.append(_gamma((1 + confidence) / 2, matching + 1, matching + 1) / elements)
    return max(bounds)


def _others(side: Iterable[Member]) -> list[Member]:
    """The members by the pairs that do not match."""
    return [Member(each.partners - each.matches, each.partners) for each in side]


def _gamma(below: float, mean: float, variance: float) -> float:
    """The quantile of a gamma distribution; within 2 % above the median if its shape is 1 or more.

    Source   E. B. Wilson, M. M. Hilferty, The distribution of chi-square, 1931

    >>> round(_gamma(0.95, 1, 1), 2), round(_gamma(0.05, 10, 10), 2)
    (2.97, 5.42)
    """
    shape = mean**2 / variance
    root = 1 - 1 / (9 * shape) + NormalDist().inv_cdf(below) / (3 * math.sqrt(shape))
    return mean * max(0.0, root) ** 3
