"""Functions of numbers, as in DuckDB; a result that is not finite is unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from operator import neg, truediv
from typing import Any

from midstream.plans.functions.function import INTEGER, NUMBER, Argument, Function, Names
from midstream.plans.values.finite import defined, finite
from midstream.plans.values.schema import Type

MOST_DIGITS = 324
"""Most digits of a float that are significant, before or behind the decimal point."""


def rounded_away(value: float) -> float:
    """The nearest integer; halves are rounded away from zero.

    >>> rounded_away(2.5), rounded_away(-2.5), rounded_away(0.49999999999999994)
    (3.0, -3.0, 0.0)
    """
    size = abs(value)
    below = math.floor(size)
    return math.copysign(below + 1 if size - below >= 0.5 else below, value)


EXACT = Context(prec=1100, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_HALF_UP)
"""A decimal context with all digits that a float has."""


def round_to(value: int | float | Decimal, digits: int = 0) -> int | float | None:
    """The number rounded to so many decimal places; halves are rounded away from zero.

    A negative number of places rounds to a multiple of a power of ten. A float is rounded by its exact value:
    2.675 is 2.67499999999999982…, and is rounded down. A decimal is rounded as it is written. A result beyond
    the largest float is unknown.

    >>> round_to(2.675, 2), round_to(Decimal("2.675"), 2), round_to(0.125, 2)
    (2.67, 2.68, 0.13)
    >>> round_to(1250, -2), round_to(-15, -1), round_to(7, -30)
    (1300, -20, 0)
    """
    if isinstance(value, int):
        return _round_integer(value, digits)
    if digits == 0 and isinstance(value, float):
        return rounded_away(value)
    if digits > MOST_DIGITS:
        return float(value)
    # Only multiples of this power of two lie halfway between two results; Python rounds these to even.
    if isinstance(value, float) and digits > 0 and not (value * 2.0 ** (digits + 1)).is_integer():
        return round(value, digits)
    unit = Decimal(1).scaleb(-max(digits, -MOST_DIGITS), EXACT)
    nearest: float | None = finite(float(Decimal(value).quantize(unit, context=EXACT)))
    return nearest


def _round_integer(value: int, digits: int) -> int:
    if digits >= 0:
        return value
    if -digits > value.bit_length():
        return 0
    unit: int = 10**-digits
    size = (abs(value) + unit // 2) // unit * unit
    return size if value >= 0 else -size


def truncated(value: int | float) -> int | float:
    """The number without its decimal places."""
    if isinstance(value, int):
        return value
    return math.copysign(math.floor(abs(value)), value)


def modulo(value: int | float, divisor: int | float) -> int | float | None:
    """The remainder of a division that rounds towards zero; it has the sign of the dividend.

    >>> modulo(-7, 2), modulo(7, -2), modulo(7.5, 2), modulo(7, 0)
    (-1, 1, 1.5, None)
    """
    if isinstance(value, int) and isinstance(divisor, int):
        if divisor == 0:
            return None
        remainder = abs(value) % abs(divisor)
        return remainder if value >= 0 else -remainder
    return _remainder(value, divisor)


_remainder: Callable[..., float | None] = defined(math.fmod)
_quotient: Callable[..., float | None] = defined(truediv)


@dataclass(frozen=True, slots=True)
class Round(Function):
    """`round`, to an integer or to decimal places."""

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        """True if an argument may be unknown, or rounding may exceed the largest float."""
        is_behind_point = len(arguments) == 1 or (type(digits := arguments[1].value) is int and digits >= 0)
        is_integer = arguments[0].type is Type.INTEGER
        return not (is_behind_point or is_integer) or Function.gives_unknown(self, arguments)


@dataclass(frozen=True, slots=True)
class Modulo(Function):
    """`mod`, compiled inline if an integer is divided by a constant that is not zero."""

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        """True if an argument may be unknown, or the remainder may be undefined."""
        if self._divisor(arguments):
            return arguments[0].nullable
        return Function.gives_unknown(self, arguments)

    def body(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """Python's remainder of the absolute value, with the sign of the dividend; or a call."""
        divisor = self._divisor(arguments)
        if not divisor:
            return Function.body(self, arguments, texts, scope)
        name = scope.fresh()
        return f"({name} % {divisor} if ({name} := {texts[0]}) >= 0 else -(-{name} % {divisor}))"

    @staticmethod
    def _divisor(arguments: Sequence[Argument]) -> int:
        """The absolute value of a constant divisor of integers; 0 if there is none."""
        value = arguments[1].value
        is_small = type(value) is int and 0 < abs(value) < 2**64
        return abs(value) if is_small and arguments[0].type is Type.INTEGER else 0


def divided(value: int | float, divisor: int | float) -> int | float | None:
    """`//`: the quotient of integers, rounded towards zero; of floats, as in DuckDB, the exact quotient.

    >>> divided(7, 2), divided(-7, 2), divided(7, 0), divided(7.5, 2)
    (3, -3, None, 3.75)
    """
    if not (isinstance(value, int) and isinstance(divisor, int)):
        return _quotient(value, divisor)
    if divisor == 0:
        return None
    quotient = abs(value) // abs(divisor)
    return quotient if (value < 0) == (divisor < 0) else -quotient


def within(value: int | float, low: int | float, high: int | float) -> int | float | None:
    """The value if it is between two others, else unknown.

    >>> within(5, 1, 9), within(10, 1, 9)
    (5, None)
    """
    return value if low <= value <= high else None


@dataclass(frozen=True, slots=True)
class Division(Function):
    """`//`, by the declared types: a float may be stored as an integer."""

    def body(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """A call for integers, or for floats."""
        is_float = self.kind(arguments)[0] is Type.FLOAT
        function = replace(self, run=_quotient) if is_float else self
        return Function.body(function, arguments, texts, scope)


def sign(value: int | float) -> int:
    """The sign: -1, 0 or 1."""
    return int(value > 0) - int(value < 0)


def _to_integer(function: Callable[[float], int]) -> Callable[[Any], float | None]:
    return defined(lambda value: math.copysign(function(value), value))


def _either(arguments: Sequence[Argument]) -> Type:
    """Float if an argument is a float."""
    types = {argument.type for argument in arguments if not argument.is_null}
    return Type.FLOAT if Type.FLOAT in types else Type.ANY if Type.ANY in types else Type.INTEGER


def _of_floats(name: str, function: Callable[..., float], count: int = 1) -> Function:
    return Function(name, (NUMBER,) * count, defined(function), Type.FLOAT, may_fail=True)


NUMBER_FUNCTIONS: Mapping[str, Function] = {
    function.name: function
    for function in (
        Function("abs", (NUMBER,), abs, _either, inline="abs({0})"),
        Function("negate", (NUMBER,), neg, _either, inline="(-{0})", words=("-",)),
        Function("sign", (NUMBER,), sign, Type.INTEGER),
        Function("ceil", (NUMBER,), _to_integer(math.ceil), Type.FLOAT, may_fail=True),
        Function("floor", (NUMBER,), _to_integer(math.floor), Type.FLOAT, may_fail=True),
        Round("round", (NUMBER, INTEGER), round_to, lambda arguments: _either(arguments[:1]), optional=1),
        Function("trunc", (NUMBER,), truncated, _either),
        Function(
            "within",
            (NUMBER, NUMBER, NUMBER),
            within,
            lambda arguments: _either(arguments[:1]),
            may_fail=True,
        ),
        _of_floats("sqrt", math.sqrt),
        _of_floats("exp", math.exp),
        _of_floats("ln", math.log),
        _of_floats("log10", math.log10),
        _of_floats("log2", math.log2),
        _of_floats("power", math.pow, count=2),
        Modulo("mod", (NUMBER, NUMBER), modulo, _either, may_fail=True, words=("%",)),
        Division("//", (NUMBER, NUMBER), divided, _either, may_fail=True, words=("//",)),
    )
}
