"""Decayed counts of the values of a column, for columns with many values."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from random import Random

MOST_KEYS = 4096
"""Number of values whose counts are kept; up to twice as many between reductions."""


class DecayedKeys:
    """Counts of a column's values; the caller sets the weight of an element.

    If there are more than twice `most` values, about `most` are kept (see `fewer_keys`). Sums of counts, and
    of products with counts of other columns, stay unbiased. Of n equally frequent values that two columns
    share, m n stay in common if each column keeps the share m of its values: the sum of products then has a
    relative error of 1 / √(m² n).

    State    At most 2 `most` counts.
    Cost     O(values) to add, for each pair of columns; amortised O(log most) for each if there are too many.

    >>> keys = DecayedKeys(seed="s.x")
    >>> keys.add({7: 2, 8: 1}, weight=0.5)
    >>> keys.counts
    {7: 1.0, 8: 0.5}
    """

    def __init__(self, seed: str, most: int = MOST_KEYS) -> None:
        self.counts: dict[Hashable, float] = {}
        self.pairs: list[tuple[EqualPairs, DecayedKeys]] = []
        """Pairs of columns that include this one, each with the other column."""
        self._most, self._random = most, Random(seed)

    def add(self, new: Mapping[Hashable, int], weight: float) -> None:
        """Add values with their numbers of occurrences, each of this weight."""
        counts = self.counts
        for value, times in new.items():
            counts[value] = counts.get(value, 0.0) + times * weight
        for pairs, other in self.pairs:
            theirs = other.counts
            pairs.number += weight * sum(
                times * theirs[value] for value, times in new.items() if value in theirs
            )
        if len(counts) > 2 * self._most:
            self.counts = fewer_keys(counts, self._most, self._random)
            for pairs, _ in self.pairs:
                pairs.count()

    def scale(self, factor: float, least: float) -> None:
        """Multiply all counts, and drop those that fall below `least`.

        The caller must then recount the pairs of these columns.
        """
        scaled = ((value, count * factor) for value, count in self.counts.items())
        self.counts = {value: count for value, count in scaled if count >= least}


class EqualPairs:
    """Number of pairs of equal values in two columns: Σ n(k) m(k), updated as values come.

    >>> one, other = DecayedKeys("s.x"), DecayedKeys("t.y")
    >>> pairs = EqualPairs(one, other)
    >>> one.add({7: 2, 8: 1}, weight=1.0)
    >>> other.add({7: 3}, weight=0.5)
    >>> pairs.number
    3.0
    """

    def __init__(self, left: DecayedKeys, right: DecayedKeys) -> None:
        self._columns = left, right
        left.pairs.append((self, right))
        right.pairs.append((self, left))
        self.number = 0.0

    def count(self) -> None:
        """Count anew, in O(values)."""
        one, other = (column.counts for column in self._columns)
        self.number = math.fsum(count * other[value] for value, count in one.items() if value in other)


def fewer_keys(counts: Mapping[Hashable, float], most: int, random: Random) -> dict[Hashable, float]:
    """About `most` of many values, with unbiased counts.

    Values whose count is above some τ keep it. Each other value stays with the probability count / τ, and
    then counts τ; τ is such that `most` stay on average.

    Source   N. Duffield, C. Lund, M. Thorup, Learn more, sample less: control of volume and variance in
             network measurement, 2005

    >>> fewer_keys({"a": 5.0, "b": 1.0}, 2, Random(0))
    {'a': 5.0, 'b': 1.0}
    """
    least = _threshold(counts.values(), most)
    kept: dict[Hashable, float] = {}
    for value, count in counts.items():
        if count >= least:
            kept[value] = count
        elif random.random() * least < count:
            kept[value] = least
    return kept


def _threshold(counts: Iterable[float], most: int) -> float:
    """The τ for which Σ min(1, count / τ) = most; 0 if there are no more values than that."""
    ordered = sorted(counts)
    if len(ordered) <= most:
        return 0.0
    light = math.fsum(ordered)
    for heavy in range(most):
        # This many keep their counts, and the others share the remaining places.
        heaviest = ordered[-1 - heavy]
        if heaviest * (most - heavy) <= light:
            return light / (most - heavy)
        light -= heaviest
    return ordered[-most]
