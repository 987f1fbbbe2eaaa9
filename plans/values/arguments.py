"""Checks of callers' arguments, with messages that name the caller, the value and the expected form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from numbers import Real
from typing import Any

from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.finite import is_finite

_LONGEST = 60


def shown(value: object) -> str:
    """A value with its type, for a message; long values are cut.

    >>> shown(5), shown(None)
    ('5 (int)', 'None')
    """
    text = repr(value)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return text if value is None else f"{text} ({type(value).__name__})"


def wrong(who: str, value: object, expected: str) -> ArgumentError:
    """The error for an argument that is not as expected.

    >>> print(wrong("window", "5", "a number of chronons"))
    window: found '5' (str), expected a number of chronons
    """
    return ArgumentError(f"{who}: found {shown(value)}, expected {expected}")


def require(who: str, value: object, types: type | tuple[type, ...], expected: str) -> None:
    """Raise ArgumentError unless a value has a type; a boolean is no `int` here."""
    if not isinstance(value, types) or (isinstance(value, bool) and types is int):
        raise wrong(who, value, expected)


def require_name(who: str, value: object, expected: str = "a name") -> None:
    """Raise ArgumentError unless a value is a non-empty string."""
    if not isinstance(value, str) or not value:
        raise wrong(who, value, expected)


def require_callable(who: str, value: object, expected: str) -> None:
    """Raise ArgumentError unless a value can be called."""
    if not callable(value):
        raise wrong(who, value, expected)


def listed(who: str, value: Any, expected: str) -> list[Any]:
    """The values of an iterable that is no text and no mapping; raises ArgumentError for others."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise wrong(who, value, expected)
    return list(value)


TABULAR = ("__arrow_c_stream__", "__dataframe__", "__array__")
"""The protocols of DataFrames, Arrow tables, columns, arrays and their scalars."""

ROWS = "engine.push_rows takes rows, Arrow tables and DataFrames"
"""The method that takes rows, as part of a message."""


def require_elements(who: str, value: object, expected: str = "elements (start, end, payload)") -> None:
    """Raise ArgumentError unless a value is an iterable; tables and arrays give no elements."""
    if any(hasattr(value, protocol) for protocol in TABULAR):
        library, kind = type(value).__module__.split(".")[0], type(value).__name__
        raise ArgumentError(f"{who}: found {library}.{kind}, expected {expected}; {ROWS}")
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise wrong(who, value, expected)


def listed_by_name(who: str, value: Any) -> dict[str, list[Any]]:
    """The elements of several streams or relations, by name."""
    require_mapping(who, value, "elements (start, end, payload) by the name of their stream or relation")
    for name, one in value.items():
        require_elements(f"{who}: {name}", one)
    return {name: list(one) for name, one in value.items()}


def speaks_arrow(value: object) -> bool:
    """True for Arrow tables and record batches, and for DataFrames and others that give Arrow."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def is_data(value: object) -> bool:
    """True for a dict or a dataclass, which is a row and no element, and for what speaks Arrow."""
    return (
        isinstance(value, Mapping)
        or speaks_arrow(value)
        or (is_dataclass(value) and not isinstance(value, type))
    )


@contextmanager
def reading(who: str, expected: str) -> Iterator[None]:
    """A context for reading input without checking each part: errors in it become ArgumentErrors."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{who}: {error}; expected {expected}") from error


def require_mapping(who: str, value: object, expected: str) -> None:
    """Raise ArgumentError unless a value is a mapping from names."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise wrong(who, value, expected)


def require_number(
    who: str,
    value: object,
    expected: str = "a number",
    *,
    least: float | None = None,
    above: float | None = None,
) -> float:
    """A finite number, at least `least`, or greater than `above`; raises ArgumentError for others."""
    if not isinstance(value, bool) and isinstance(value, int | float | Real) and is_finite(value):
        number = float(value)
        if (least is None or number >= least) and (above is None or number > above):
            return number
    bound = (
        f" of at least {least:g}" if least is not None else f" above {above:g}" if above is not None else ""
    )
    raise wrong(who, value, expected + bound)
