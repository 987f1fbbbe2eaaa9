"""How often each value of a column came lately, where values may be many."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from random import Random

MOST_KEYS = 1024
"""Of so many values at most the counts of a group are kept."""
NOTHING = 1 / 256
"""What has decayed to less than this part of an element is forgotten."""

Counts = Mapping[Hashable, float]


class DecayedKeys:
    """Counts of values in several groups; the caller says what an element weighs.

    Where a group has more than twice `most` values, about `most` are kept (see `fewer_keys`). Sums of counts,
    and of products with counts of other columns, are right on average; how far they may be off follows from
    the groups.

    State    2 `most` counts per group at most.
    Cost     O(values) to add; amortised O(log most) for each where there are too many.

    >>> keys = DecayedKeys(groups=2, seed="s.x")
    >>> keys.add([{7: 2}, {7: 1, 8: 1}], weight=0.5)
    >>> keys.snapshot()
    ({7: 1.0}, {7: 0.5, 8: 0.5})
    """

    def __init__(self, groups: int, seed: str, most: int = MOST_KEYS) -> None:
        self._groups: list[dict[Hashable, float]] = [{} for _ in range(groups)]
        self._most, self._random = most, Random(seed)

    def add(self, groups: Sequence[Mapping[Hashable, int]], weight: float) -> None:
        """Values came so often in each group, each of this weight."""
        for number, (mine, new) in enumerate(zip(self._groups, groups, strict=True)):
            for value, times in new.items():
                mine[value] = mine.get(value, 0.0) + times * weight
            if len(mine) > 2 * self._most:
                self._groups[number] = fewer_keys(mine, self._most, self._random)

    def scale(self, factor: float, least: float) -> None:
        """Multiply all counts; those that come to less than `least` are forgotten."""
        self._groups = [
            {value: scaled for value, count in mine.items() if (scaled := count * factor) >= least}
            for mine in self._groups
        ]

    def snapshot(self) -> tuple[Counts, ...]:
        """The counts of each group as they are now. Cost: O(values), in C."""
        return tuple(mine.copy() for mine in self._groups)


def fewer_keys(counts: Mapping[Hashable, float], most: int, random: Random) -> dict[Hashable, float]:
    """About `most` of many values, with counts that are right on average.

    Values that are heavier than some τ keep their count. Each of the others stays with the probability
    count / τ, and then counts τ; τ is such that `most` stay on average.

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
    """The τ for which Σ min(1, count / τ) = most."""
    ordered = sorted(counts)
    if len(ordered) <= most:
        return 0.0
    light = sum(ordered)
    for heavy in range(most):
        # So many are kept as they are, and the others share what is left of the places.
        light_ones = len(ordered) - heavy
        threshold = light / (most - heavy)
        if ordered[light_ones - 1] <= threshold:
            return threshold
        light -= ordered[light_ones - 1]
    return ordered[-most]


def together(counts: Sequence[Counts], groups: Iterable[int]) -> dict[Hashable, float]:
    """The counts of some groups, added up."""
    first, *others = groups
    found = dict(counts[first])
    for group in others:
        for value, count in counts[group].items():
            found[value] = found.get(value, 0.0) + count
    return found
