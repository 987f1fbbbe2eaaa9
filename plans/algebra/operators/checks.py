"""What operators over time ask of their parameters, how they show them, and their form in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import FOREVER, Time

Bounds = tuple[int, int]
"""The least and the greatest value that a setting may be given at run time (thesis, 21.2)."""


def multiple(size: int, of: int) -> str:
    """What a size might be instead."""
    near = size // of * of
    return f"a multiple of {of}, such as {f'{near} or ' if near else ''}{near + of}"


def check_bounds(what: str, value: int | None, bounds: Bounds | None) -> None:
    """Raise PlanError where a value is not within its bounds."""
    if bounds is None:
        return
    if not all(type(bound) is int and bound > 0 for bound in bounds) or bounds[0] > bounds[1]:
        raise PlanError(
            f"{what}: found bounds of {bounds!r}, expected the least and the greatest, as in (1, 60)"
        )
    if value is None or not bounds[0] <= value <= bounds[1]:
        raise PlanError(f"found a {what} of {value}, expected one from {bounds[0]} to {bounds[1]}")


def least(value: int | None, bounds: Bounds | None) -> Time:
    """The least value that a setting has at run time; without bounds it is fixed. None is without limit."""
    return bounds[0] if bounds is not None else most(value, bounds)


def most(value: int | None, bounds: Bounds | None) -> Time:
    """The greatest value that a setting has at run time: what is derived of an operator holds up to it.

    >>> most(1, None), most(1, (1, 4)), most(None, None)
    (1, 4, inf)
    """
    if bounds is not None:
        return bounds[1]
    return FOREVER if value is None else value


def check_positive(what: str, unit: str, value: int) -> None:
    """Raise PlanError where this is no positive integer."""
    if type(value) is not int or value <= 0:
        raise PlanError(f"found a {what} of {value!r}, expected a positive number of {unit}")


def bounds_text(bounds: Bounds | None) -> str:
    """As it stands behind an operator."""
    return "" if bounds is None else f" (from {bounds[0]} to {bounds[1]})"


def slide_text(slide: int) -> str:
    """The same, where it is not 1."""
    return "" if slide == 1 else f" slide {slide}"


def unusual(**parameters: Any) -> dict[str, Any]:
    """The parameters that are not as they are by default."""
    usual = {"slide": 1, "ties": "error", "delay": None, "bounds": None}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in parameters.items()
        if value != usual[name]
    }


def bounds_from_json(data: Mapping[str, Any]) -> Bounds | None:
    """The bounds, if there are any."""
    if data.get("bounds") is None:
        return None
    least, most = data["bounds"]
    return int(least), int(most)
