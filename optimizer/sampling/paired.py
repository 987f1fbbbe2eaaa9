"""The partners and matches of each row, from sampled streams and the pairs that a join made of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence

from midstream.optimizer.sampling.intervals import Member
from midstream.plans.values.streams import BEGINNING, Element, Payload, Time


def members(
    left: Sequence[Element], right: Sequence[Element], results: Sequence[Element], since: Time | None = None
) -> tuple[list[Member], list[Member]]:
    """The members of both sides, one per distinct row, as equal rows are drawn together.

    Pairs count that become valid in `[since, until)`; everything that starts before `until` has arrived on
    both sides, and so have all results that start before it. Streams are in order.

    Cost     O(n log n)

    >>> left, right = [(0, 9, ("a",)), (5, 9, ("b",)), (8, 9, ("c",))], [(1, 6, (1,)), (7, 9, (2,))]
    >>> members(left, right, [(1, 6, ("a", 1)), (5, 6, ("b", 1)), (7, 9, ("b", 2))])
    ([Member(matches=1, partners=1), Member(matches=1, partners=1)], [Member(matches=2, partners=2)])
    """
    if not (left and right):
        return [], []
    since = BEGINNING if since is None else since
    until = min(left[-1][0], right[-1][0])
    width = len(left[0][2])
    matches: tuple[Counter[Payload], Counter[Payload]] = Counter(), Counter()
    for start, _, row in results:
        if since <= start < until:
            matches[0][row[:width]] += 1
            matches[1][row[width:]] += 1
    partners = _partners(left, right, since, until), _partners(right, left, since, until)
    ours, theirs = (
        [Member(matched[row], n) for row, n in of.items() if n]
        for matched, of in zip(matches, partners, strict=True)
    )
    return ours, theirs


def _partners(
    mine: Sequence[Element], others: Sequence[Element], since: Time, until: Time
) -> Counter[Payload]:
    """By row, the number of other elements valid together with it, from an instant in [since, until) on."""
    starts = [start for start, _, _ in others if start < until]
    ends = sorted(end for start, end, _ in others if start < until)
    before = [(start, end) for start, end, _ in others if start < since]
    ends_before = sorted(end for _, end in before)
    found: Counter[Payload] = Counter()
    for start, end, row in mine:
        if start >= until:
            break
        # Those that start before its end, less those that have ended by its start.
        n = bisect_left(starts, end) - bisect_right(ends, start)
        if start < since:  # less those that began to be valid with it before
            n -= bisect_left(starts, min(end, since)) - bisect_right(ends_before, start)
        found[row] += n
    return found
