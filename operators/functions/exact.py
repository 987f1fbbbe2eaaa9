"""The exact sum of numbers of any kind, which come and go."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from midstream.plans.values.exact import rounded, rounded_quotient

_LARGEST_SHIFT = 1023
"""The exponent of the largest power of two that is a float, 2.0**1023."""


class ExactSum:
    """The exact sum of numbers; a number that is taken out again leaves no trace.

    Equal numbers may stand for each other: 1.0 may leave where 1 entered elsewhere. So the value of the sum,
    and not the count of numbers, tells when it is empty.

    Floats, which are integers over powers of two, are kept in one integer over the largest of these powers so
    far; all other numbers are kept in one fraction.

    Cost     O(1) for integers and floats.

    >>> total = ExactSum()
    >>> for number in (1e16, 1.0): total.change(number, 1)
    >>> total.change(1e16, -1)
    >>> total.over(1)
    1.0
    """

    __slots__ = ("_factor", "_rest", "_scaled", "_shift", "count")

    def __init__(self) -> None:
        self.count = 0
        """The count of present numbers: those that entered, less those that left."""
        self._clear()

    @property
    def is_integer(self) -> bool:
        """True if the sum is an integer."""
        return not self._rest and not self._scaled & ((1 << self._shift) - 1)

    @property
    def is_zero(self) -> bool:
        """True if the sum is 0."""
        return not self._scaled and not self._rest

    def _clear(self) -> None:
        self._scaled = 0
        self._shift = 0
        self._factor = 1.0
        self._rest: Fraction | int = 0

    def change(self, value: Any, sign: int) -> None:
        """Add a number once (1) or take it out (-1)."""
        self.count += sign
        # Multiplying by a power of two is exact unless it overflows, and then gives no integer.
        if type(value) is float and (scaled := value * self._factor).is_integer():
            self._scaled += int(scaled) if sign > 0 else -int(scaled)
        else:
            numerator, denominator = value.as_integer_ratio()
            self._change_quotient(sign * numerator, denominator)
        if not self.count and self.is_zero:
            self._clear()

    def change_square(self, value: Any, sign: int) -> None:
        """Add (1) or take out (-1) the square of a number."""
        if isinstance(value, int):
            self.change(value * value, sign)
            return
        numerator, denominator = value.as_integer_ratio()
        self.count += sign
        self._change_quotient(sign * numerator * numerator, denominator * denominator)
        if not self.count and self.is_zero:
            self._clear()

    def take_out(self, other: ExactSum) -> None:
        """Take out all numbers of another sum."""
        self.count -= other.count
        self._change_quotient(-other._scaled, 1 << other._shift)
        self._rest -= other._rest
        if not self.count and self.is_zero:
            self._clear()

    def _change_quotient(self, numerator: int, denominator: int) -> None:
        if denominator & (denominator - 1):
            self._rest += Fraction(numerator, denominator)
            return
        shift = denominator.bit_length() - 1
        if shift > self._shift:
            self._scaled <<= shift - self._shift
            self._shift = shift
            # Beyond the largest factor, NaN: its products are no integers either.
            self._factor = 2.0**shift if shift <= _LARGEST_SHIFT else math.nan
        self._scaled += numerator << (self._shift - shift)

    def ratio(self) -> tuple[int, int]:
        """The sum as a quotient."""
        if self._rest:
            return (Fraction(self._scaled, 1 << self._shift) + self._rest).as_integer_ratio()
        return self._scaled, 1 << self._shift

    def over(self, divisor: int, plus: int = 0) -> float | None:
        """The sum plus an integer, divided and rounded once; None beyond the largest float."""
        if self._rest:
            return rounded((Fraction(self._scaled, 1 << self._shift) + self._rest + plus) / divisor)
        shift = self._shift
        return rounded_quotient(self._scaled + (plus << shift), divisor << shift)
