"""An exact sum of numbers of any kind, which come and go."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from midstream.plans.values.exact import rounded, rounded_quotient

_LARGEST_SHIFT = 1023
"""2.0**1023 is the largest power of two that is a float."""


class ExactSum:
    """The exact sum of numbers, of which none leaves a trace when it is taken out again.

    Floats, which are integers over powers of two, are kept in one integer over the largest of these powers
    that was met; what is no such number in one fraction.

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
        """How many numbers are in."""
        self._clear()

    def _clear(self) -> None:
        self._scaled = 0
        self._shift = 0
        self._factor = 1.0
        self._rest: Fraction | int = 0

    def change(self, value: Any, sign: int) -> None:
        """Add a number once (1) or take it out (-1)."""
        self.count += sign
        if not self.count:
            self._clear()
            return
        if type(value) is float:
            # Multiplying by a power of two is exact unless it overflows, and then gives no integer.
            scaled = value * self._factor
            if scaled.is_integer():
                self._scaled += int(scaled) if sign > 0 else -int(scaled)
                return
        numerator, denominator = value.as_integer_ratio()
        self._change_quotient(sign * numerator, denominator)

    def change_square(self, value: Any, sign: int) -> None:
        """The same with the number's square."""
        if isinstance(value, int):
            self.change(value * value, sign)
            return
        numerator, denominator = value.as_integer_ratio()
        self.count += sign
        if not self.count:
            self._clear()
            return
        self._change_quotient(sign * numerator * numerator, denominator * denominator)

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
        """The sum, and an integer besides, divided and rounded once; unknown beyond the largest float."""
        if self._rest:
            return rounded((Fraction(self._scaled, 1 << self._shift) + self._rest + plus) / divisor)
        shift = self._shift
        return rounded_quotient(self._scaled + (plus << shift), divisor << shift)
