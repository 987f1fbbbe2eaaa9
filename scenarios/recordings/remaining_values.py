"""Estimated frequencies of the values that are not kept, shown by some of the kept values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

KEPT_PER_STAND_IN = 4
"""Of so many kept values, one stands in for values that are not kept."""


@dataclass(frozen=True)
class GroupTotal:
    """The totals of all values of columns that are compared with each other, the members of a group.

    elements   by member, how many elements have a known value
    distinct   by member, how many different values there are
    agreeing   by two members, how many pairs of an element of each agree
    """

    elements: Sequence[int]
    distinct: Sequence[int]
    agreeing: Mapping[tuple[int, int], int]


def spread_remaining(counts: Sequence[Sequence[int]], total: GroupTotal) -> list[list[float]]:
    """Counts of the kept values, by member, that account for all values.

    `counts` are those of the kept values, heaviest first. Three of four stay as they are. The others stand
    in for what remains: for a member's R elements that are left, and for the A pairs of two members that
    agree. Some of them, L, are common to all members, and count

        R / √(N L)    for each,  with  N = Σ R R' / Σ A  over pairs of members,  L ≤ N

    so that L values give R R' / N = A pairs. What is left of R has values that no other member has. So
    elements are exact, and so are the pairs of a group of two; of more members, the sum over all pairs is.

    >>> one, other = [8, *[2] * 8, 1, 1, 1, 1, 1], [8, *[2] * 8, 1, 0, 1, 1, 1]
    >>> pairs = sum(map(int.__mul__, one, other))
    >>> found = spread_remaining(list(zip(one, other))[:12], GroupTotal((29, 28), (14, 13), {(0, 1): pairs}))
    >>> found[:3], [round(sum(each), 9) for each in zip(*found)]
    ([[8, 8], [2, 2], [2, 2]], [29.0, 28.0])
    >>> round(sum(a * b for a, b in found), 9), pairs
    (100.0, 100)
    """
    members = len(total.elements)
    spare = len(counts) // KEPT_PER_STAND_IN
    exact = counts[: len(counts) - spare]
    left = [n - sum(each[i] for each in exact) for i, n in enumerate(total.elements)]
    common = _common(exact, left, total, spare // 2 if members > 1 else 0)
    own = (spare - len(common)) // members
    alone: list[list[float]] = []
    for i in range(members):
        amount = (left[i] - math.fsum(each[i] for each in common)) / own if own else 0.0
        alone += [[amount if j == i else 0.0 for j in range(members)]] * own
    unused = [[0.0] * members] * (spare - len(common) - len(alone))
    kept: list[list[float]] = [[*each] for each in exact]
    return [*kept, *common, *alone, *unused]


def _common(
    exact: Sequence[Sequence[int]], left: Sequence[int], total: GroupTotal, most: int
) -> list[list[float]]:
    """The counts of the values that all members have."""
    agreeing = sum(n - sum(each[i] * each[j] for each in exact) for (i, j), n in total.agreeing.items())
    if not agreeing or not most:
        return []
    kinds = sum(left[i] * left[j] for i, j in total.agreeing) / agreeing
    number = min(most, max(1, math.floor(kinds)))
    return [[n / math.sqrt(kinds * number) for n in left]] * number
