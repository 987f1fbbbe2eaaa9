"""Outputs of the operators that compare what two streams hold: difference and its kin, semi-join and
anti-join.

The thesis has no formulas for them. These take the rows that are equal, or that match, to be valid
independently of each other: how many there are at an instant then has a Poisson distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from midstream.optimizer.cost.estimate import Content, Cut, Estimate, inverse, times

MANY_ROWS = 200.0
"""From so many equal rows on, the smaller of two numbers is taken for the average minimum."""


class Overlap(NamedTuple):
    """Two inputs, and how many rows of one kind are valid at an instant on average: on the left, on the
    right, and in common."""

    s: Estimate
    t: Estimate
    mine: float
    other: float
    both: float
    """Of all kinds."""


class Rows(NamedTuple):
    """How many results are valid at an instant, and how often a start on the one side, or a start or an end
    on the other, may begin one."""

    valid: float
    begun: float


OverlapFormula = Callable[[Overlap], Rows]


def difference(of: Overlap) -> Rows:
    """n - m: a start on the left, or an end on the right of what is on the left."""
    valid = of.s.valid - of.both if of.both < of.s.valid else 0.0
    return Rows(valid, of.s.rate + min(of.t.rate, times(of.s.rate, of.other)))


def strict_difference(of: Overlap) -> Rows:
    """n where m is 0: where there is no partner, or the last one ends."""
    alone = math.exp(-of.other)
    return Rows(times(of.s.valid, alone), times(of.s.rate + times(of.t.rate, of.mine), alone))


def intersection(of: Overlap) -> Rows:
    """min(n, m): where there is a partner."""
    begun = times(of.s.rate, -math.expm1(-of.other)) + times(of.t.rate, -math.expm1(-of.mine))
    return Rows(of.both, begun)


def max_union(of: Overlap) -> Rows:
    """max(n, m): any start."""
    more, less = max(of.s.valid, of.t.valid), min(of.s.valid, of.t.valid)
    return Rows(more + (less - of.both if math.isfinite(of.both) else 0.0), of.s.rate + of.t.rate)


def compared(formula: OverlapFormula, kinds: float, s: Estimate, t: Estimate) -> Content:
    """What is valid behind difference and its kin, over so many different rows."""
    return Content(formula(_overlap(kinds, s, t)).valid, s.facts, math.gcd(s.g, t.g))


def compared_cut(formula: OverlapFormula, kinds: float, s: Estimate, t: Estimate, content: Content) -> Cut:
    """How that is cut: starts and ends of elements begin results where the rows that are there let them."""
    valid, most = formula(_overlap(kinds, s, t))
    return Cut.of(min(most, valid) if valid < most else most, content, s.l)


def matched(share: float, s: Estimate, t: Estimate) -> Content:
    """What is valid behind semi-join and anti-join: the share of left rows for which some right row matches,
    or none."""
    return Content(times(share, s.valid), s.facts, math.gcd(s.g, t.g))


def matched_cut(share: float, s: Estimate) -> Cut:
    """How that is cut: as the left rows are."""
    return Cut(inverse(times(share, s.rate)), s.l)


def matching_share(keeps_matching: bool, selectivity: float, t: Estimate) -> float:
    """The share of rows for which some right row matches, or none."""
    alone = math.exp(-times(selectivity, t.valid))
    return 1 - alone if keeps_matching else alone


def in_common(a: float, b: float) -> float:
    """The average minimum of two numbers that have Poisson distributions with these averages.

    >>> round(in_common(1.0, 1.0), 3), in_common(0.0, 5.0), in_common(1000.0, 300.0)
    (0.476, 0.0, 300.0)
    """
    if not a or not b or max(a, b) > MANY_ROWS:
        return min(a, b)
    total, term, k = 0.0, 1.0, 0
    more_a, more_b, p, q = 1.0, 1.0, math.exp(-a), math.exp(-b)
    while term > 1e-12:
        more_a, more_b = more_a - p, more_b - q
        k += 1
        p, q = p * a / k, q * b / k
        term = max(more_a, 0.0) * max(more_b, 0.0)
        total += term
    return total


def _overlap(kinds: float, s: Estimate, t: Estimate) -> Overlap:
    mine, other = _each(s.valid, kinds), _each(t.valid, kinds)
    both = times(kinds, in_common(mine, other)) if math.isfinite(kinds) else 0.0
    return Overlap(s, t, mine, other, both)


def _each(valid: float, kinds: float) -> float:
    return valid / kinds if kinds else 0.0
