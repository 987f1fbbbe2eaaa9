"""What callers give, checked once per call: who was called, what was found, what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any

from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.finite import is_finite

_LONGEST = 60


def shown(value: object) -> str:
    """A value in a message, with its type, as far as there is room.

    >>> shown(5), shown(None)
    ('5 (int)', 'None')
    """
    text = repr(value)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return text if value is None else f"{text} ({type(value).__name__})"


def wrong(who: str, found: object, expected: str) -> ArgumentError:
    """The error that an argument is not what is expected.

    >>> print(wrong("window", "5", "a number of chronons"))
    window: found '5' (str), expected a number of chronons
    """
    return ArgumentError(f"{who}: found {shown(found)}, expected {expected}")


def require(who: str, found: object, types: type | tuple[type, ...], expected: str) -> None:
    """Raise ArgumentError unless a value is of a type. True is no number here."""
    if not isinstance(found, types) or (isinstance(found, bool) and types is int):
        raise wrong(who, found, expected)


def require_name(who: str, found: object, expected: str = "a name") -> None:
    """Raise ArgumentError unless it is a string that says something."""
    if not isinstance(found, str) or not found:
        raise wrong(who, found, expected)


def require_callable(who: str, found: object, expected: str) -> None:
    """Raise ArgumentError unless it can be called."""
    if not callable(found):
        raise wrong(who, found, expected)


def listed(who: str, found: Any, expected: str) -> list[Any]:
    """What can be iterated over, but is no text and no mapping."""
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise wrong(who, found, expected)
    return list(found)


def listed_by_name(who: str, found: Any) -> dict[str, list[Any]]:
    """The elements of several streams or relations, by name."""
    require_mapping(who, found, "elements (start, end, payload) by the name of what brings them")
    return {
        name: listed(f"{who}: {name}", one, "elements (start, end, payload)") for name, one in found.items()
    }


@contextmanager
def reading(who: str, expected: str) -> Iterator[None]:
    """Where something is read whose parts are not looked at one by one: what does not fit raises
    ArgumentError."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{who}: {error}; expected {expected}") from error


def require_mapping(who: str, found: object, expected: str) -> None:
    """Raise ArgumentError unless it is a mapping from names."""
    if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
        raise wrong(who, found, expected)


def require_number(
    who: str,
    found: object,
    expected: str = "a number",
    *,
    least: float | None = None,
    above: float | None = None,
) -> float:
    """A finite number, of at least as much, or above that. Raises ArgumentError for anything else."""
    if not isinstance(found, bool) and isinstance(found, int | float | Real) and is_finite(found):
        number = float(found)
        if (least is None or number >= least) and (above is None or number > above):
            return number
    bound = (
        f" of at least {least:g}" if least is not None else f" above {above:g}" if above is not None else ""
    )
    raise wrong(who, found, expected + bound)
