"""Conversion of instants in files and databases to chronons: integers, dates, dates with times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from midstream.io.readers import PARSERS
from midstream.io.time_units import NANOSECONDS, Clock, largest_unit
from midstream.plans.values import instants
from midstream.plans.values.errors import SchemaError
from midstream.plans.values.schema import Type, suggest

UNIX_EPOCH = instants.EPOCH


class Nanoseconds(int):
    """An instant in nanoseconds since the beginning of 1970 in UTC; finer than datetime."""


@dataclass(frozen=True, slots=True)
class DatesOnly(Clock):
    """A clock for values whose integers have no declared unit."""


def as_clock(clock: Clock | str | None) -> Clock | None:
    """A clock as users declare it: a unit alone counts from the beginning of 1970 in UTC.

    Raises   SchemaError for an unknown unit.
    """
    declared = Clock(clock, UNIX_EPOCH) if isinstance(clock, str) else clock
    if declared is not None and declared.unit not in NANOSECONDS:
        known = ", ".join(NANOSECONDS)
        near = suggest(declared.unit, NANOSECONDS)
        raise SchemaError(f"clock: found unit {declared.unit!r}, expected one of {known}{near}")
    return declared


def chronon(value: Any, clock: Clock | None) -> int:
    """The chronon of a value.

    Integers, and texts of integers, are chronons. Dates, which mean their midnight, dates with times, and
    texts of these in ISO 8601 are counted from the clock's epoch; without a time zone they are in UTC.

    Raises   ValueError, whose text tells what was expected.

    >>> seconds = as_clock("s")
    >>> chronon("1970-01-02", seconds), chronon(datetime(1970, 1, 1, 0, 1), seconds), chronon("7", None)
    (86400, 60, 7)
    >>> chronon("1970-01-01 00:00:00.5", seconds)
    Traceback (most recent call last):
    ValueError: an instant that is a whole number of chronons, of 1 s each, from 1970-01-01 00:00:00+00:00; \
TIME_UNIT 'ms' behind a declaration makes them short enough
    """
    count = value if type(value) is int else None
    if isinstance(value, str | Decimal):
        count = _integer(value)
    if count is not None:
        if isinstance(clock, DatesOnly):
            raise ValueError("a date or a date with a time, as nothing says what an integer counts")
        return count
    if clock is None or clock.epoch is None:
        raise ValueError("an integer; dates and times need a clock that says when chronon 0 was")
    passed = nanoseconds(value) - nanoseconds(clock.epoch)
    count, rest = divmod(passed, NANOSECONDS[clock.unit])
    if rest:
        raise ValueError(
            f"an instant that is a whole number of chronons, of 1 {clock.unit} each, from {clock.epoch}; "
            f"TIME_UNIT '{largest_unit(passed)}' behind a declaration makes them short enough"
        )
    return count


def _integer(value: str | Decimal) -> int | None:
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == int(value) else None
    try:
        return int(PARSERS[Type.INTEGER](value))
    except ValueError:
        return None


def nanoseconds(value: Any) -> int:
    """The nanoseconds from the beginning of 1970 to an instant."""
    match value:
        case Nanoseconds():
            return int(value)
        case str():
            try:
                return instants.nanoseconds(value)
            except ValueError:
                raise ValueError("an integer, or a date or a date with a time in ISO 8601") from None
        case datetime():
            # A Timestamp of pandas is a datetime with nanoseconds.
            return instants.of_datetime(value) + int(getattr(value, "nanosecond", 0))
        case date():
            return nanoseconds(datetime(value.year, value.month, value.day))
        case _:
            raise ValueError("an integer, or a date or a date with a time")
