"""Checks of callers' arguments, with messages that name the caller, the value and the expected form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from inspect import GEN_CREATED, getgeneratorstate
from itertools import chain, islice
from numbers import Real
from types import GeneratorType
from typing import Any, TypeVar

from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.finite import is_finite

_LONGEST = 60

T = TypeVar("T")


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


def read_once(who: str, values: Iterable[T], again: str = "a list made of it before") -> Iterator[T]:
    """The values of an iterable; an iterator must not be at its end, as one that was read before is.

    A generator that never had a value can be told from one that has ended, another iterator cannot.

    Raises   ArgumentError for an iterator at its end; `again` says what can be read several times.

    >>> numbers = iter([1, 2])
    >>> list(read_once("sum", numbers)), list(read_once("sum", (n for n in [])))
    ([1, 2], [])
    >>> try:
    ...     read_once("sum", numbers)
    ... except ArgumentError as error:
    ...     print(error)
    sum: found a list_iterator at its end, which was read before or never held anything, expected a list \
made of it before; [] if it holds nothing
    """
    if not isinstance(values, Iterator):
        return iter(values)
    is_unread = isinstance(values, GeneratorType) and getgeneratorstate(values) == GEN_CREATED
    first = list(islice(values, 1))
    if not first and not is_unread:
        raise ArgumentError(
            f"{who}: found a {type(values).__name__} at its end, which was read before or never held "
            f"anything, expected {again}; [] if it holds nothing"
        )
    return chain(first, values)


def listed_by_name(who: str, value: Any) -> dict[str, list[Any]]:
    """The elements of several streams or relations, by name."""
    require_mapping(who, value, "elements (start, end, payload) by the name of their stream or relation")
    for name, one in value.items():
        require_elements(f"{who}: {name}", one)
    require_distinct_iterators(who, value)
    return {name: list(read_once(f"{who}: {name}", one)) for name, one in value.items()}


def require_distinct_iterators(who: str, streams: Mapping[str, Any]) -> None:
    """Raise ArgumentError for an iterator under two names: each would get a part of its values."""
    names: dict[int, str] = {}
    for name, values in streams.items():
        if isinstance(values, Iterator) and (other := names.setdefault(id(values), name)) != name:
            raise ArgumentError(
                f"{who}: found one {type(values).__name__} for {other} and {name}, which would share its "
                "values, expected a list made of it"
            )


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
