"""Outputs of operators that compare two streams: difference and similar ones, semi-join and anti-join.

The thesis has no formulas for them. These presume that equal rows, or matching rows, are valid independently
of each other: their number at an instant then has a Poisson distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from midstream.optimizer.cost.estimate import Content, Cut, Estimate, times
from midstream.optimizer.cost.selectivity import Shares

MANY_ROWS = 200.0
"""Above this many equal rows, the smaller of two averages replaces the average minimum."""


class Overlap(NamedTuple):
    """Two inputs, and the average number of valid rows of one kind (rows that are equal) on each side.

    s, t     left and right input
    left     valid rows of one kind on the left
    right    valid rows of one kind on the right
    both     rows that both sides have in common, of all kinds
    """

    s: Estimate
    t: Estimate
    left: float
    right: float
    both: float

    @property
    def fewer(self) -> float:
        """The probability that the left has fewer rows of a kind than the right."""
        return less(self.left, self.right)

    @property
    def more(self) -> float:
        """The probability that the left has more rows of a kind than the right."""
        return less(self.right, self.left)


class ResultCounts(NamedTuple):
    """Average numbers of results.

    valid       valid at an instant
    begun       begin in a chronon
    replaced    begin in a chronon as a replacement: a row of the carrying side ends and closes the oldest
                result of its kind
    """

    valid: float
    begun: float
    replaced: float = 0.0


OverlapFormula = Callable[[Overlap], ResultCounts]


def difference(of: Overlap) -> ResultCounts:
    """n - m: a left row adds a result unless the right has more, a right row's end if the left has more."""
    valid = of.s.valid - of.both if of.both < of.s.valid else 0.0
    return ResultCounts(valid, times(of.s.rate, 1 - of.fewer) + times(of.t.rate, of.more))


def strict_difference(of: Overlap) -> ResultCounts:
    """n where m is 0: results begin with a left row without a partner, and when the last partner ends."""
    alone = math.exp(-of.right)
    return ResultCounts(times(of.s.valid, alone), times(of.s.rate + times(of.t.rate, of.left), alone))


def intersection(of: Overlap) -> ResultCounts:
    """min(n, m): a row adds a result if its side has fewer.

    If a left row ends and the left still has at least as many rows as the right, another row replaces it.
    """
    begun = times(of.s.rate, of.fewer) + times(of.t.rate, of.more)
    replaced = times(of.s.rate, max(0.0, -math.expm1(-of.right) - of.fewer))
    return ResultCounts(of.both, begun + replaced, replaced)


def max_union(of: Overlap) -> ResultCounts:
    """max(n, m): the left rows, and the right rows in excess of them."""
    more, less = max(of.s.valid, of.t.valid), min(of.s.valid, of.t.valid)
    valid = more + (less - of.both if math.isfinite(of.both) else 0.0)
    begun = of.s.rate + times(of.t.rate, 1 - of.more) + times(of.s.rate, of.fewer)
    return ResultCounts(valid, begun, 2 * times(of.s.rate, of.fewer))


def compared(formula: OverlapFormula, kinds: float, s: Estimate, t: Estimate) -> Content:
    """Content of the output of difference and similar operators, over `kinds` distinct rows."""
    return Content(formula(_overlap(kinds, s, t)).valid, s.facts, math.gcd(s.g, t.g))


def compared_cut(
    formula: OverlapFormula, kinds: float, s: Estimate, t: Estimate, content: Content, *, is_net: bool = False
) -> Cut:
    """Cut of the output of difference and similar operators; `is_net` omits replacements by equal rows."""
    rows = formula(_overlap(kinds, s, t))
    begun = rows.begun - rows.replaced if is_net else rows.begun
    # A result is valid for a chronon at least.
    return Cut.of(min(begun, rows.valid) if rows.valid < begun else begun, content, s.l)


def matched(share: float, s: Estimate, t: Estimate) -> Content:
    """Content of the output of a semi-join or anti-join: a share of the left rows."""
    return Content(times(share, s.valid), s.facts, math.gcd(s.g, t.g))


class Matches(NamedTuple):
    """Begin and end of the matches of one left row.

    absent    share of time without a valid match
    begun     times a chronon that the first match becomes valid
    parts     `begun`, and times a chronon that a semi-join reaches the end it knows while a match is valid
    """

    absent: float
    begun: float
    parts: float


def matches(shares: Shares, t: Estimate) -> Matches:
    """Matches of a left row, averaged over rows that match different shares of right rows."""
    each = [(weight, _matches(share, t)) for weight, share in shares]
    return Matches(*(math.fsum(times(weight, of[i]) for weight, of in each) for i in range(3)))


def _matches(share: float, t: Estimate) -> Matches:
    """Matches of a left row, of which a share of the right rows match.

    Matches come at the rate λ, each valid for l. None is valid for the share e^(-λ l) of time, and the first
    of several comes at the rate λ e^(-λ l). A semi-join emits what it knows: until the end of the first
    match, then until the end of the latest match that has come by then, and so on. The age of that latest
    match at the previous end is distributed exponentially, up to l; so further parts have the length
    l - 1/λ + l e^(-λ l) / (1 - e^(-λ l)) on average.
    """
    rate, mean = times(share, t.rate), times(share, t.valid)
    absent = math.exp(-mean)
    begun = times(rate, absent)
    further = _further(mean, t.l)
    parts = begun
    if 0 < further < math.inf:
        parts += max(0.0, 1 - absent - times(begun, t.l)) / further
    return Matches(absent, begun, parts)


def outliving(shares: Shares, s: Estimate, t: Estimate, *, by_key: bool) -> float:
    """Share of left rows of a semi-join that outlive the end that is known when they start.

    Others have been given out to their end, and are not kept. `by_key` if all left rows of a key have one end
    that is known, else each has its own.
    """
    longevity = _outliving_key if by_key else _outliving_own
    return math.fsum(times(weight, longevity(share, s.l, t)) for weight, share in shares)


def _outliving_own(share: float, length: float, t: Estimate) -> float:
    """That of rows with an end of their own: no match is so recent that it ends later.

    Matches of length l come at the rate λ, so that a row of length m outlives them with e^(-λ (l - m)).
    """
    return math.exp(-times(share, t.rate, max(0.0, t.l - length))) if length < math.inf else 1.0


def _outliving_key(share: float, length: float, t: Estimate) -> float:
    """That of rows under the end of their key, which was known when the last part of the key began.

    A row of length m comes at any time of a part of length X, and outlives the rest with E min(X, m) / E X.
    The first part has the length l of a match, and takes λ l e^(-λ l) of the time. For the others, see
    `_matches`: P(X > x) = (1 - e^(-λ (l - x))) / (1 - e^(-λ l)).
    """
    if length >= t.l:
        return 1.0
    of = _matches(share, t)
    rate, mean = times(share, t.rate), times(share, t.valid)
    if not mean or math.isinf(t.l):
        return of.absent
    first = times(of.begun, t.l)
    later = max(0.0, 1 - of.absent - first)
    further = _further(mean, t.l)
    if mean < 1e-4 or not further:
        return of.absent + (first + later) * length / t.l
    ended = (math.exp(-rate * (t.l - length)) - of.absent) / rate if rate < math.inf else 0.0
    shorter = (length - ended) / (1 - of.absent)
    return of.absent + first * length / t.l + later * min(1.0, shorter / further)


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
    """Cut of a semi-join: a left row comes out while it has matches, in parts, as these become known.

    One part begins with each left row that has a match, and one for each later part while it is valid.
    """
    return Cut.of(times(s.rate, 1 - of.absent) + times(s.valid, of.parts), content, s.l)


def semi_join_net_cut(of: Matches, s: Estimate, content: Content) -> Cut:
    """Cut of a semi-join over signs: one part from the first match to the end of the last."""
    return Cut.of(times(s.rate, 1 - of.absent) + times(s.valid, of.begun), content, s.l)


def anti_join_cut(of: Matches, s: Estimate, content: Content) -> Cut:
    """Cut of an anti-join: a left row comes out while it has no match.

    One part begins with each left row without a match, and one whenever the last match ends, which is as
    often as a first match begins.
    """
    return Cut.of(times(s.rate, of.absent) + times(s.valid, of.begun), content, s.l)


def in_common(a: float, b: float) -> float:
    """The average minimum of two independent numbers with Poisson distributions of these averages.

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
    """The probability that a number is below another, for Poisson distributions with averages `a` and `b`.

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
    left, right = _each(s.valid, kinds), _each(t.valid, kinds)
    both = times(kinds, in_common(left, right)) if math.isfinite(kinds) else 0.0
    return Overlap(s, t, left, right, both)


def _each(valid: float, kinds: float) -> float:
    return valid / kinds if kinds else 0.0
