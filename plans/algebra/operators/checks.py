"""What operators that follow their input through time ask of their parameters, and how they show them."""

from __future__ import annotations

from midstream.plans.values.errors import PlanError

Bounds = tuple[int, int]
"""The least and the greatest value that a setting may be given at run time (thesis, 21.2)."""


def multiple(size: int, of: int) -> str:
    near = size // of * of
    return f"a multiple of {of}, such as {f'{near} or ' if near else ''}{near + of}"


def check_rows(rows: int | None, slide: int, ties: str) -> None:
    if rows is not None:
        check_positive("window", "rows, or None", rows)
    check_positive("slide", "rows", slide)
    if ties not in ("error", "arrival"):
        raise PlanError(f"found ties={ties!r}, expected 'error' or 'arrival'")


def check_bounds(what: str, value: int | None, bounds: Bounds | None) -> None:
    if bounds is not None and (value is None or not bounds[0] <= value <= bounds[1]):
        raise PlanError(f"found a {what} of {value}, expected one from {bounds[0]} to {bounds[1]}")


def check_positive(what: str, unit: str, value: int) -> None:
    if type(value) is not int or value <= 0:
        raise PlanError(f"found a {what} of {value!r}, expected a positive number of {unit}")


def rows_text(rows: int | None, slide: int, ties: str) -> str:
    shown = "unbounded" if rows is None else str(rows)
    return f"{shown}{slide_text(slide)}{' ties by arrival' if ties == 'arrival' else ''}"


def bounds_text(bounds: Bounds | None) -> str:
    return "" if bounds is None else f" (from {bounds[0]} to {bounds[1]})"


def slide_text(slide: int) -> str:
    return "" if slide == 1 else f" slide {slide}"
