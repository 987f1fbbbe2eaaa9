"""Outputs of the operators that compare what two streams hold: difference and its kin, semi-join and
anti-join.

The thesis has no formulas for them. These take the rows that are equal, or that match, to be valid
independently of each other: how many there are at an instant then has a Poisson distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from midstream.optimizer.cost.estimate import Content, Cut, Estimate, times
from midstream.optimizer.cost.selectivity import Shares

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

    @property
    def fewer(self) -> float:
        """How likely it is that the left has fewer rows of a kind than the right."""
        return less(self.mine, self.other)

    @property
    def more(self) -> float:
        """How likely it is that it has more."""
        return less(self.other, self.mine)


class Rows(NamedTuple):
    """How many results are valid at an instant, how many begin in a chronon, and how many of these take the
    place of others, as an end of a row on the carrying side closes the oldest result of its kind."""

    valid: float
    begun: float
    replaced: float = 0.0


OverlapFormula = Callable[[Overlap], Rows]


def difference(of: Overlap) -> Rows:
    """n - m: a left row adds one where there are no fewer than on the right, and so does the end of a right
    row where there are more."""
    valid = of.s.valid - of.both if of.both < of.s.valid else 0.0
    return Rows(valid, times(of.s.rate, 1 - of.fewer) + times(of.t.rate, of.more))


def strict_difference(of: Overlap) -> Rows:
    """n where m is 0: where there is no partner, or the last one ends."""
    alone = math.exp(-of.other)
    return Rows(times(of.s.valid, alone), times(of.s.rate + times(of.t.rate, of.mine), alone))


def intersection(of: Overlap) -> Rows:
    """min(n, m): a row adds one where its side has fewer. Where a left row ends, and no fewer are left than
    on the right, another one takes its place."""
    begun = times(of.s.rate, of.fewer) + times(of.t.rate, of.more)
    replaced = times(of.s.rate, max(0.0, -math.expm1(-of.other) - of.fewer))
    return Rows(of.both, begun + replaced, replaced)


def max_union(of: Overlap) -> Rows:
    """max(n, m): the left rows, and by how many more there are on the right."""
    more, less = max(of.s.valid, of.t.valid), min(of.s.valid, of.t.valid)
    valid = more + (less - of.both if math.isfinite(of.both) else 0.0)
    begun = of.s.rate + times(of.t.rate, 1 - of.more) + times(of.s.rate, of.fewer)
    return Rows(valid, begun, 2 * times(of.s.rate, of.fewer))


def compared(formula: OverlapFormula, kinds: float, s: Estimate, t: Estimate) -> Content:
    """What is valid behind difference and its kin, over so many different rows."""
    return Content(formula(_overlap(kinds, s, t)).valid, s.facts, math.gcd(s.g, t.g))


def compared_cut(
    formula: OverlapFormula, kinds: float, s: Estimate, t: Estimate, content: Content, *, is_net: bool = False
) -> Cut:
    """How that is cut; in signed streams, without what takes the place of an equal row."""
    rows = formula(_overlap(kinds, s, t))
    begun = rows.begun - rows.replaced if is_net else rows.begun
    # A result is valid for a chronon at least.
    return Cut.of(min(begun, rows.valid) if rows.valid < begun else begun, content, s.l)


def matched(share: float, s: Estimate, t: Estimate) -> Content:
    """What is valid behind semi-join and anti-join: the share of left rows for which some right row matches,
    or none."""
    return Content(times(share, s.valid), s.facts, math.gcd(s.g, t.g))


class Matches(NamedTuple):
    """How the matches of one left row come and go.

    absent    the share of time in which none is valid
    begun     how many times a chronon the first one becomes valid
    parts     the same, and how many times what is known of their ends is reached while another one is there
    """

    absent: float
    begun: float
    parts: float


def matches(shares: Shares, t: Estimate) -> Matches:
    """Those of a left row, on average over rows that different shares of right rows match."""
    each = [(weight, _matches(share, t)) for weight, share in shares]
    return Matches(*(math.fsum(times(weight, of[i]) for weight, of in each) for i in range(3)))


def _matches(share: float, t: Estimate) -> Matches:
    """At the rate λ of matches, each valid for l, none is valid for the share e^(-λ l) of time, and the first
    of several comes at the rate λ e^(-λ l).

    A semi-join gives what it knows: until the end of the first match, then until that of the latest which
    has come by then, and so on. How long ago that was at the end of the one before is distributed
    exponentially, up to l; so further parts have the length l - 1/λ + l e^(-λ l) / (1 - e^(-λ l)) on average.
    """
    rate, mean = times(share, t.rate), times(share, t.valid)
    absent = math.exp(-mean)
    begun = times(rate, absent)
    further = _further(mean, t.l)
    parts = begun
    if 0 < further < math.inf:
        parts += max(0.0, 1 - absent - times(begun, t.l)) / further
    return Matches(absent, begun, parts)


def _further(mean: float, length: float) -> float:
    if not mean or math.isinf(length):
        return 0.0
    if math.isinf(mean):
        return length
    if mean < 1e-4:  # where the difference below would be rounded
        return length / 2
    return (
        length * (1 - 1 / mean + (1 / math.expm1(mean) if mean < 700 else 0.0)) if mean < math.inf else length
    )


MatchingCut = Callable[[Matches, Estimate, Content], Cut]


def semi_join_cut(of: Matches, s: Estimate, content: Content) -> Cut:
    """A left row is given while it has matches, in parts, as they are known: one where it begins among them,
    and one for each part that begins while it is valid."""
    return Cut.of(times(s.rate, 1 - of.absent) + times(s.valid, of.parts), content, s.l)


def semi_join_net_cut(of: Matches, s: Estimate, content: Content) -> Cut:
    """The same in one part from the first match to the end of the last."""
    return Cut.of(times(s.rate, 1 - of.absent) + times(s.valid, of.begun), content, s.l)


def anti_join_cut(of: Matches, s: Estimate, content: Content) -> Cut:
    """A left row is given while it has no match: one part where it begins with none, and one whenever the
    last match ends, which is as often as a first one comes."""
    return Cut.of(times(s.rate, of.absent) + times(s.valid, of.begun), content, s.l)


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


def less(a: float, b: float) -> float:
    """How likely it is that the first of two numbers is the smaller one, where they have Poisson
    distributions with these averages.

    >>> round(less(1.0, 1.0), 3), round(less(0.0, 2.0), 3), round(less(300.0, 300.0), 1)
    (0.346, 0.865, 0.5)
    """
    if not b or math.isinf(a):
        return 0.0
    if max(a, b) > MANY_ROWS:
        return 0.5 * math.erfc((a - b + 0.5) / math.sqrt(2 * (a + b))) if math.isfinite(b) else 1.0
    total, p, q, more, k = 0.0, math.exp(-a), math.exp(-b), 1.0, 0
    while more > 1e-12 and k < 4 * MANY_ROWS:
        more -= q
        total += p * max(more, 0.0)
        k += 1
        p, q = p * a / k, q * b / k
    return total


def _overlap(kinds: float, s: Estimate, t: Estimate) -> Overlap:
    mine, other = _each(s.valid, kinds), _each(t.valid, kinds)
    both = times(kinds, in_common(mine, other)) if math.isfinite(kinds) else 0.0
    return Overlap(s, t, mine, other, both)


def _each(valid: float, kinds: float) -> float:
    return valid / kinds if kinds else 0.0
