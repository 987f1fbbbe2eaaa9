"""Whether two samples may come from one distribution; a wrong no comes once in ten thousand times."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

LEVEL = 1e-4


def kolmogorov_smirnov(one: Sequence[Any], two: Sequence[Any]) -> float:
    """The greatest distance of the two distributions, of what is allowed: not above 1. Ties make it stricter.

    >>> kolmogorov_smirnov(range(100), range(100)), kolmogorov_smirnov(range(100), range(50, 150)) > 1
    (0.0, True)
    """
    a, b = np.sort(np.asarray(one, float)), np.sort(np.asarray(two, float))
    points = np.concatenate([a, b])
    distance = np.abs(
        np.searchsorted(a, points, "right") / len(a) - np.searchsorted(b, points, "right") / len(b)
    ).max()
    allowed = math.sqrt(-math.log(LEVEL / 2) / 2) * math.sqrt((len(a) + len(b)) / (len(a) * len(b)))
    return float(distance / allowed)


def chi_square(one: Sequence[Hashable], two: Sequence[Hashable]) -> float:
    """The chi-square of two samples over their values, of what is allowed: not above 1.

    Values that are rare in both count as one; the bound is that of Wilson and Hilferty.

    >>> chi_square("ab" * 50, "ab" * 50), chi_square("ab" * 50, "aaab" * 25) > 1
    (0.0, True)
    """
    counts: dict[Hashable, list[int]] = {}
    for side, sample in enumerate((one, two)):
        for value in sample:
            counts.setdefault(value, [0, 0])[side] += 1
    common = [pair for pair in counts.values() if sum(pair) >= 20]
    rare = [sum(side) for side in zip(*(pair for pair in counts.values() if sum(pair) < 20), strict=True)]
    table = np.array([*common, *([rare] if sum(rare) else [])], float)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    free = len(table) - 1
    if not free:
        return 0.0
    found = ((table - expected) ** 2 / expected).sum()
    normal = 3.719  # what a standard normal variable exceeds once in ten thousand times
    allowed = free * (1 - 2 / (9 * free) + normal * math.sqrt(2 / (9 * free))) ** 3
    return float(found / allowed)
