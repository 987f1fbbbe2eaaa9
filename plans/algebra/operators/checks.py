"""Checks of the parameters of operators over time, with their text and JSON forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import FOREVER, Time

Bounds = tuple[int, int]
"""The smallest and the largest value that can be set at run time (thesis, 21.2)."""


def multiple(size: int, of: int) -> str:
    """A hint for a message: the multiples of `of` nearest to a size."""
    near = size // of * of
    return f"a multiple of {of}, such as {f'{near} or ' if near else ''}{near + of}"


def check_bounds(what: str, value: int | None, bounds: Bounds | None) -> None:
    """Raise PlanError if a value is not within its bounds."""
    if bounds is None:
        return
    if not all(type(bound) is int and bound > 0 for bound in bounds) or bounds[0] > bounds[1]:
        raise PlanError(
            f"{what}: found bounds of {bounds!r}, expected the least and the greatest, as in (1, 60)"
        )
    if value is None or not bounds[0] <= value <= bounds[1]:
        raise PlanError(f"found a {what} of {value}, expected one from {bounds[0]} to {bounds[1]}")


def least(value: int | None, bounds: Bounds | None) -> Time:
    """The smallest value that can be set; without bounds, the value itself, or FOREVER for None."""
    return bounds[0] if bounds is not None else most(value, bounds)


def most(value: int | None, bounds: Bounds | None) -> Time:
    """The largest value that can be set at run time: properties of an operator are derived for it.

    Without bounds it is the value itself, or FOREVER for None.

    >>> most(1, None), most(1, (1, 4)), most(None, None)
    (1, 4, inf)
    """
    if bounds is not None:
        return bounds[1]
    return FOREVER if value is None else value


def check_positive(what: str, unit: str, value: int) -> None:
    """Raise PlanError unless the value is a positive integer."""
    if type(value) is not int or value <= 0:
        raise PlanError(f"found a {what} of {value!r}, expected a positive number of {unit}")


def bounds_text(bounds: Bounds | None) -> str:
    """Bounds as text behind an operator."""
    return "" if bounds is None else f" (from {bounds[0]} to {bounds[1]})"


def slide_text(slide: int) -> str:
    """A slide as text behind an operator, if it is not 1."""
    return "" if slide == 1 else f" slide {slide}"


def unusual(**parameters: Any) -> dict[str, Any]:
    """The parameters that differ from their defaults."""
    usual = {"slide": 1, "ties": "error", "delay": None, "bounds": None}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in parameters.items()
        if value != usual[name]
    }


def bounds_from_json(data: Mapping[str, Any]) -> Bounds | None:
    """The bounds in an operator's JSON form, if there are any."""
    if data.get("bounds") is None:
        return None
    least, most = data["bounds"]
    return int(least), int(most)
