"""Numbers are finite: NaN, infinity, and floats out of range are unknown, as a division by zero is.

So every value equals itself, results can be written as JSON, and no row ends a query. Integers are unbounded
as long as no float is computed from them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import index
from typing import Any

from midstream.plans.values.errors import ExpressionError

LARGEST = sys.float_info.max
"""The largest float."""

NEVER_REACHES = 2.0**970
"""Half of the distance between the two largest floats: a float plus a smaller number is finite."""


def is_finite(number: Any) -> bool:
    """True if a number is within the range of floats; `math.isfinite` raises for larger integers.

    >>> is_finite(7), is_finite(10**400), is_finite(float("inf")), is_finite(float("nan"))
    (True, False, False, False)
    """
    return bool(-LARGEST <= number <= LARGEST)


def finite(value: Any) -> Any:
    """The value; unknown if it is NaN or infinite.

    >>> finite(2.5), finite(float("inf")), finite(float("nan")), finite("inf"), finite(10**400) == 10**400
    (2.5, None, None, 'inf', True)
    """
    if isinstance(value, float):
        return value if -LARGEST <= value <= LARGEST else None
    is_finite = getattr(value, "is_finite", None)  # a method of Decimal
    return value if is_finite is None or is_finite() else None


def within_floats(value: Any) -> Any:
    """A value of a float column: an integer becomes the nearest float; infinite numbers are unknown.

    >>> within_floats(7), within_floats(10**400), within_floats(None)
    (7.0, None, None)
    """
    if not isinstance(value, int):
        return finite(value)
    return float(value) if -LARGEST <= value <= LARGEST else None


def integral(value: Any) -> Any:
    """A value of an integer column; another library's integer becomes Python's.

    >>> integral(7), integral(10**400) == 10**400, integral(None)
    (7, True, None)
    >>> integral(0.5)
    Traceback (most recent call last):
    midstream.plans.values.errors.ExpressionError: found 0.5 (float), expected an integer, as is declared
    """
    if value.__class__ is int or value is None:
        return value
    try:
        return index(value)
    except TypeError:
        raise ExpressionError(
            f"found {value!r} ({type(value).__name__}), expected an integer, as is declared"
        ) from None


def python_value(value: Any) -> Any:
    """The value of a number, truth value or text of NumPy as Python's; any other value itself.

    >>> import numpy
    >>> python_value(numpy.int64(7)), python_value(numpy.bool_(True)), python_value("a")
    (7, True, 'a')
    """
    numpy = sys.modules.get("numpy")  # no value is of a library that is not loaded
    if numpy is None or not isinstance(value, (numpy.number, numpy.bool_, numpy.str_)):
        return value
    return value if isinstance(value, numpy.timedelta64) else value.item()


def defined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers that returns unknown if it is undefined, or if its value is not finite."""

    def run(*arguments: Any) -> Any:
        try:
            return finite(function(*arguments))
        except (ArithmeticError, ValueError):
            return None

    return run
