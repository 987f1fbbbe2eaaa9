"""Conversions between the types of values; a value that cannot be converted gives unknown.

The rules are those of DuckDB's TRY_CAST, with three exceptions. Numbers in strings are decimal only, results
are finite, and equal floats give one string: -0.0 gives that of 0.0. An integer that is made from a float or
a string has 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from midstream.plans.values.finite import finite
from midstream.plans.values.schema import Type

TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "0"})

_SPACE = " \t\n\v\f\r"
_DIGITS = "[0-9]+(?:_[0-9]+)*"
_NUMBER = re.compile(rf"[+-]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_LARGEST = 2**63 - 1


def to_text(value: Any) -> str | None:
    """A value as a string; equal floats have equal strings, so that -0.0 gives '0.0'.

    >>> to_text(1.0), to_text(1e16), to_text(True), to_text(-7), to_text(-0.0)
    ('1.0', '1e+16', 'true', '-7', '0.0')
    """
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            try:
                return str(value)
            except ValueError:
                # Python limits the digits of an integer as text; a Decimal has no such limit.
                return str(Decimal(value))
        case float():
            return repr(value + 0.0)
    return None


def to_float_text(value: Any) -> str | None:
    """A value of a float column as a string, even if it is stored as an integer."""
    try:
        return None if value is None else to_text(float(value))
    except OverflowError:
        return to_text(value)


def to_integer(value: Any) -> int | None:
    """A value as an integer.

    >>> to_integer(2.5), to_integer("2.5"), to_integer(" 1e3 "), to_integer("12 apples"), to_integer(True)
    (2, 3, 1000, None, 1)
    """
    match value:
        case bool() | int():
            return int(value)
        case float():
            return _in_range(round(value))
        case str():
            return _parsed_integer(value)
    return None


def to_float(value: Any) -> float | None:
    """A value as a float.

    >>> to_float("1.5e1"), to_float(3), to_float("1e400")
    (15.0, 3.0, None)
    """
    if isinstance(value, str):
        value = value.strip(_SPACE)
        if not _NUMBER.fullmatch(value):
            return None
    if not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return None if finite(number) is None else number


def to_boolean(value: Any) -> bool | None:
    """A value as a boolean; a number is true unless it is zero.

    >>> to_boolean("Yes"), to_boolean("0"), to_boolean("on"), to_boolean(0.5)
    (True, False, None, True)
    """
    match value:
        case bool() | int() | float():
            return value != 0
        case str():
            word = value.lower()
            return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None
    return None


def _parsed_integer(text: str) -> int | None:
    text = text.strip(_SPACE)
    if not _NUMBER.fullmatch(text):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        # An exponent of more than 18 digits.
        return None
    if not number or number.adjusted() < -1:
        return 0
    if number.adjusted() > 19:
        # Its digits might fill the memory.
        return None
    return _in_range(int(number.to_integral_value(ROUND_HALF_UP)))


def _in_range(value: int) -> int | None:
    return value if -_LARGEST - 1 <= value <= _LARGEST else None


CASTS: Mapping[Type, Callable[[Any], Any]] = {
    Type.INTEGER: to_integer,
    Type.FLOAT: to_float,
    Type.STRING: to_text,
    Type.BOOLEAN: to_boolean,
}
"""The conversions by target type; each keeps unknown values."""

SURE = frozenset(
    (one, other)
    for other, types in {
        Type.INTEGER: (Type.INTEGER, Type.BOOLEAN),
        Type.FLOAT: (Type.FLOAT, Type.BOOLEAN),
        Type.STRING: (Type.INTEGER, Type.FLOAT, Type.STRING, Type.BOOLEAN),
        Type.BOOLEAN: (Type.INTEGER, Type.FLOAT, Type.BOOLEAN),
    }.items()
    for one in types
)
"""The conversions that never fail, as pairs (from, to)."""

SAME = frozenset({(type_, type_) for type_ in (Type.INTEGER, Type.STRING, Type.BOOLEAN)})
"""The conversions that change nothing; a float is none, as it may be stored as an integer."""


def conversion(source: Type, target: Type) -> Callable[[Any], Any]:
    """The conversion from one type to another."""
    return to_float_text if (source, target) == (Type.FLOAT, Type.STRING) else CASTS[target]
