"""Running estimates from samples: scaled sums, and their standard errors."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from midstream.operators.functions.accumulator import Additive
from midstream.operators.functions.exact import ExactSum
from midstream.plans.values.exact import rounded_quotient, rounded_root
from midstream.plans.values.streams import Time


class ScaledSum(Additive):
    """The sum of numbers, each divided by the share of its sample, rounded once.

    Values   Tuples of a number and a share.
    State    A sum for each share.
    Cost     O(1), and O(shares) for the value; a share is added where the sample is adjusted.

    >>> scaled = ScaledSum()
    >>> for value in ((3, 0.5), (1, 0.25)): scaled.add(value, 9)
    >>> scaled.remove((1, 0.25))
    >>> scaled.value(0)
    6.0
    """

    __slots__ = ("_totals",)

    def __init__(self) -> None:
        self._totals: dict[float, ExactSum] = {}

    def change(self, value: Any, sign: int) -> None:
        """Add or subtract a number, and count it."""
        number, share = value
        total = self._totals.get(share)
        if total is None:
            total = self._totals[share] = ExactSum()
        total.change(number, sign)
        if not total.count:
            del self._totals[share]

    def value(self, at: Time) -> float | None:
        """The sum; None without values."""
        if not self._totals:
            return None
        return rounded_quotient(*_sum(_scaled(share, total) for share, total in self._totals.items()))


class StandardError(Additive):
    """The estimated standard error of a scaled sum: rows that are drawn together count as one.

        √ Σ (1 - p) / p² (Σ x)²         the inner sum over the rows of one draw, p their share

    Values   Tuples of a number, a share and a draw.
    State    A sum for each draw, and a sum of their squares for each share.
    Cost     O(1), and O(shares) for the value; a share is added where the sample is adjusted.

    >>> error = StandardError()
    >>> for value in ((1, 0.5, 70), (2, 0.5, 70), (4, 0.5, 80)): error.add(value, 9)
    >>> error.remove((4, 0.5, 80))
    >>> error.value(0) == (0.5 / 0.25 * 3**2) ** 0.5
    True
    """

    __slots__ = ("_by_share",)

    def __init__(self) -> None:
        self._by_share: dict[float, Clusters] = {}

    def change(self, value: Any, sign: int) -> None:
        """Add or subtract a number in the sum of its draw."""
        number, share, draw = value
        clusters = self._by_share.get(share)
        if clusters is None:
            clusters = self._by_share[share] = Clusters()
        clusters.change(number, draw, sign)
        if not clusters.totals:
            del self._by_share[share]

    def value(self, at: Time) -> float | None:
        """The error; None without values."""
        if not self._by_share:
            return None
        return rounded_root(*_sum(_spread(share, of.squares) for share, of in self._by_share.items()))


class Clusters:
    """The sums of the numbers of each draw, and the sum of the squares of these sums."""

    __slots__ = ("squares", "totals")

    def __init__(self) -> None:
        self.totals: dict[int, tuple[int, Any]] = {}
        """By draw, the number of its rows, and their exact sum."""
        self.squares = ExactSum()

    def change(self, number: Any, draw: int, sign: int) -> None:
        """Add or subtract a number in the sum of its draw."""
        rows, total = self.totals.get(draw, (0, 0))
        if rows:
            self.squares.change_square(total, -1)
        if rows + sign == 0:
            del self.totals[draw]
            return
        if rows:
            number = _exact(total) + sign * _exact(number)
        self.totals[draw] = rows + sign, number
        self.squares.change_square(number, 1)


Quotient = tuple[int, int]
"""A numerator and a positive denominator."""


def _exact(number: Any) -> Any:
    return number if isinstance(number, int) else Fraction(number)


def _scaled(share: float, total: ExactSum) -> Quotient:
    """A sum divided by a share."""
    (numerator, denominator), (n, d) = total.ratio(), share.as_integer_ratio()
    return numerator * d, denominator * n


def _spread(share: float, squares: ExactSum) -> Quotient:
    """A sum of squares, times (1 - p) / p²."""
    (numerator, denominator), (n, d) = squares.ratio(), share.as_integer_ratio()
    return numerator * (d - n) * d, denominator * n * n


def _sum(quotients: Iterable[Quotient]) -> Quotient:
    first, *rest = quotients
    return sum((Fraction(*each) for each in rest), Fraction(*first)).as_integer_ratio() if rest else first
