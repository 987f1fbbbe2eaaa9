"""Exact statistics of numbers, rounded once.

Floats are computed with as rational numbers, so that no result depends on the order in which plans deliver
their rows. A result beyond the largest float is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction


def exact_sum(values: Iterable[int | float]) -> int | float | None:
    """The sum of numbers, rounded once; an integer if all are integers.

    >>> exact_sum([1e16, 1.0, -1e16]), exact_sum([1, 2]), exact_sum([1e308, 1e308])
    (1.0, 3, None)
    """
    values = list(values)
    if all(isinstance(value, int) for value in values):
        return sum(values)
    return rounded(sum(map(Fraction, values), Fraction()))


def exact_mean(values: Iterable[int | float]) -> float | None:
    """The mean of numbers, rounded once."""
    values = list(values)
    return rounded(sum(map(Fraction, values), Fraction()) / len(values))


def exact_scaled_sum(values: Iterable[tuple[int | float, float]]) -> float | None:
    """The sum of numbers, each divided by the share of its sample, rounded once.

    >>> exact_scaled_sum([(1, 0.5), (3, 0.25)])
    14.0
    """
    return rounded(sum((Fraction(value) / Fraction(share) for value, share in values), Fraction()))


def exact_sampling_variance(values: Iterable[tuple[int | float, float, int]]) -> Fraction:
    """The estimated variance of a scaled sum, of values with the share of their sample and their draw.

        Σ (1 - p) / p² (Σ x)²         the inner sum over the values of one draw

    >>> exact_sampling_variance([(1, 0.5, 7), (2, 0.5, 7), (3, 0.5, 8), (3, 1.0, 9)])
    Fraction(36, 1)
    """
    clusters: dict[tuple[float, int], Fraction] = {}
    for value, share, draw in values:
        clusters[share, draw] = clusters.get((share, draw), Fraction()) + Fraction(value)
    return sum(
        ((1 - Fraction(p)) * (total / Fraction(p)) ** 2 for (p, _), total in clusters.items()), Fraction()
    )


def exact_variance(values: Iterable[int | float], freedom: int = 0) -> Fraction:
    """The sum of squared distances from the mean, divided by the number of values minus `freedom`.

    >>> exact_variance([1, 2, 4], freedom=1)
    Fraction(7, 3)
    """
    numbers = list(map(Fraction, values))
    mean = sum(numbers, Fraction()) / len(numbers)
    return sum(((number - mean) ** 2 for number in numbers), Fraction()) / (len(numbers) - freedom)


def exact_median(values: Iterable[int | float]) -> float | None:
    """The middle value, or the mean of the two in the middle, rounded once.

    >>> exact_median([5, 1, 2]), exact_median([1, 2])
    (2.0, 1.5)
    """
    ordered = sorted(values)
    size = len(ordered)
    return exact_mean(ordered[(size - 1) // 2 : size // 2 + 1])


def rounded(number: Fraction) -> float | None:
    """The nearest float; unknown beyond the largest float."""
    return rounded_quotient(number.numerator, number.denominator)


def rounded_quotient(numerator: int, denominator: int) -> float | None:
    """The float nearest to a quotient of integers; unknown beyond the largest float.

    The denominator is positive.

    >>> rounded_quotient(1, 10), rounded_quotient(-(10**400), 3)
    (0.1, None)
    """
    try:
        return numerator / denominator
    except OverflowError:
        return None


def rounded_root(numerator: int, denominator: int) -> float | None:
    """The float nearest to the square root of a quotient of integers.

    The root is truncated to an integer with more bits than a float, whose last bit records if anything was
    cut off. The division then rounds as if it saw all bits.

    >>> rounded_root(1, 4), rounded_root(2 * 10**600, 1) == 2**0.5 * 10**300
    (0.5, True)
    """
    shift = (numerator.bit_length() - denominator.bit_length() - 128) // 2
    if shift >= 0:
        denominator <<= 2 * shift
    else:
        numerator <<= -2 * shift
    root = math.isqrt(numerator // denominator)
    root |= root * root * denominator != numerator
    return rounded_quotient(root << max(shift, 0), 1 << max(-shift, 0))
