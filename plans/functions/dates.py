"""Functions of instants: integers, counted in chronons from the beginning of 1970 in UTC.

Each function takes the length of a chronon in nanoseconds. Parts of a day and days of a week are computed for
every instant; calendar functions are unknown outside of the years 1 to 9999.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from midstream.plans.functions.function import (
    CONSTANT_INTEGER,
    CONSTANT_STRING,
    INTEGER,
    STRING,
    Argument,
    Body,
    Prepared,
    prepared,
)
from midstream.plans.values.instants import DAY, EPOCH, SECOND
from midstream.plans.values.schema import Type, suggest

LENGTHS: Mapping[str, int] = {
    "microsecond": SECOND // 10**6,
    "millisecond": SECOND // 1000,
    "second": SECOND,
    "minute": 60 * SECOND,
    "hour": 3600 * SECOND,
    "day": DAY,
    "week": 7 * DAY,
}
"""The lengths, in nanoseconds, of parts of time with a fixed length."""

CYCLES: Mapping[str, tuple[int, int, int, int]] = {
    "microsecond": (LENGTHS["microsecond"], 0, 60 * 10**6, 0),
    "millisecond": (LENGTHS["millisecond"], 0, 60 * 1000, 0),
    "second": (SECOND, 0, 60, 0),
    "minute": (LENGTHS["minute"], 0, 60, 0),
    "hour": (LENGTHS["hour"], 0, 24, 0),
    "dow": (DAY, 4, 7, 0),
    "isodow": (DAY, 3, 7, 1),
}
"""Cyclic parts of time: length in nanoseconds, value at the start of 1970, number of values, first value.

Milliseconds and microseconds count from the beginning of the minute, as in DuckDB.
"""

CALENDAR: Mapping[str, Callable[[date], int]] = {
    "year": lambda day: day.year,
    "quarter": lambda day: (day.month + 2) // 3,
    "month": lambda day: day.month,
    "week": lambda day: day.isocalendar().week,
    "day": lambda day: day.day,
    "doy": lambda day: day.timetuple().tm_yday,
}

FIRST_DAYS: Mapping[str, Callable[[date], date]] = {
    "year": lambda day: day.replace(month=1, day=1),
    "quarter": lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
    "month": lambda day: day.replace(day=1),
}


def date_part(part: str, length: int) -> Body:
    """A part of an instant as a number.

    >>> date_part("hour", 10**6)
    Body(template='({0} // 3600000 % 24)', objects={}, may_fail=False)
    """
    _check(part, [*CYCLES, *CALENDAR, "epoch"], length)
    if part == "epoch":
        return Body("{seconds}({0})", {"seconds": _seconds(length)}, may_fail=True)
    if part in CYCLES:
        size, offset, count, first = CYCLES[part]
        number = _quotient(size, length)
        number = f"({number} + {offset})" if offset else number
        return Body(f"({number} % {count}{f' + {first}' if first else ''})", {})
    of_day = CALENDAR[part]

    @lru_cache(maxsize=1024)
    def found(days: int) -> int | None:
        day = _on(days)
        return None if day is None else of_day(day)

    return Body(f"{{found}}({_quotient(DAY, length)})", {"found": found}, may_fail=True)


def date_trunc(part: str, length: int) -> Body:
    """The start of the year, hour or other part of time that contains an instant.

    >>> date_trunc("hour", 10**6).template, date_trunc("second", 60 * 10**9).template
    ('({0} // 3600000 * 3600000)', '{0}')
    """
    _check(part, [*LENGTHS, *FIRST_DAYS], length)
    if part in FIRST_DAYS:
        of_day = FIRST_DAYS[part]

        @lru_cache(maxsize=1024)
        def begin(days: int) -> int | None:
            day = _on(days)
            return None if day is None else (of_day(day).toordinal() - EPOCH.toordinal()) * DAY // length

        return Body(f"{{begin}}({_quotient(DAY, length)})", {"begin": begin}, may_fail=True)
    size = LENGTHS[part]
    # A week begins on a Monday, and 1970 on a Thursday.
    offset = 3 * DAY if part == "week" else 0
    if length % size == 0 and not offset:
        return Body("{0}", {})
    if size % length == 0 and offset % length == 0:
        chronons, shift = size // length, offset // length
        if not shift:
            return Body(f"({{0}} // {chronons} * {chronons})", {})
        return Body(f"(({{0}} + {shift}) // {chronons} * {chronons} - {shift})", {})
    return Body(f"((({{0}} * {length} + {offset}) // {size} * {size} - {offset}) // {length})", {})


class Moment(NamedTuple):
    """An instant as a day and a time of day."""

    day: date
    hour: int
    minute: int
    second: int
    nanosecond: int


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

NUMBERS: Mapping[str, tuple[Callable[[Moment], int], int]] = {
    "Y": (lambda m: m.day.year, 4),
    "y": (lambda m: m.day.year % 100, 2),
    "m": (lambda m: m.day.month, 2),
    "d": (lambda m: m.day.day, 2),
    "j": (lambda m: m.day.timetuple().tm_yday, 3),
    "H": (lambda m: m.hour, 2),
    "I": (lambda m: (m.hour - 1) % 12 + 1, 2),
    "M": (lambda m: m.minute, 2),
    "S": (lambda m: m.second, 2),
    "g": (lambda m: m.nanosecond // 10**6, 3),
    "f": (lambda m: m.nanosecond // 1000, 6),
    "n": (lambda m: m.nanosecond, 9),
    "u": (lambda m: m.day.isoweekday(), 1),
    "w": (lambda m: m.day.isoweekday() % 7, 1),
    "G": (lambda m: m.day.isocalendar().year, 4),
    "V": (lambda m: m.day.isocalendar().week, 2),
    "U": (lambda m: (m.day.timetuple().tm_yday + 6 - m.day.isoweekday() % 7) // 7, 2),
    "W": (lambda m: (m.day.timetuple().tm_yday + 6 - m.day.weekday()) // 7, 2),
}
"""Numbers in a format, with their minimum digits; `%-d` and the like leave leading zeros out."""

WITHOUT_ZEROS = frozenset("ymdjHIMS")

TEXTS: Mapping[str, Callable[[Moment], str]] = {
    "a": lambda m: DAYS[m.day.weekday()][:3],
    "A": lambda m: DAYS[m.day.weekday()],
    "b": lambda m: MONTHS[m.day.month - 1][:3],
    "B": lambda m: MONTHS[m.day.month - 1],
    "p": lambda m: "AM" if m.hour < 12 else "PM",
    "Z": lambda m: "",
    "z": lambda m: "+00",
    "%": lambda m: "%",
}

SHORTHANDS: Mapping[str, str] = {"c": "%Y-%m-%d %H:%M:%S", "x": "%Y-%m-%d", "X": "%H:%M:%S"}


def strftime(form: str, length: int) -> Body:
    """An instant as text, in a format.

    >>> strftime("%d.%m.%Y %-H:%M", 10**9).objects["written"](3600)
    '01.01.1970 1:00'
    """
    if length <= 0:
        raise ValueError(f"found {length} nanoseconds a chronon, expected a positive integer")
    pieces = list(_pieces(form))

    def written(instant: int) -> str | None:
        days, rest = divmod(instant * length, DAY)
        day = _on(days)
        if day is None:
            return None
        seconds, nanosecond = divmod(rest, SECOND)
        moment = Moment(day, seconds // 3600, seconds // 60 % 60, seconds % 60, nanosecond)
        return "".join([piece if isinstance(piece, str) else piece(moment) for piece in pieces])

    return Body("{written}({0})", {"written": written}, may_fail=True)


def _pieces(form: str) -> Iterator[str | Callable[[Moment], str]]:
    """The literal texts of a format, and the functions for its parts of an instant."""
    characters = iter(form)
    for character in characters:
        if character != "%":
            yield character
            continue
        letter = next(characters, "")
        if letter in SHORTHANDS:
            yield from _pieces(SHORTHANDS[letter])
        elif letter in NUMBERS:
            yield _number(*NUMBERS[letter])
        elif letter in TEXTS:
            yield TEXTS[letter]
        elif letter == "-" and (short := next(characters, "")) in WITHOUT_ZEROS:
            yield _number(NUMBERS[short][0], 1)
        else:
            known = "".join([*NUMBERS, *TEXTS, *SHORTHANDS])
            raise ValueError(f"found %{letter} in format {form!r}, expected % and one of {known}")


def _number(of: Callable[[Moment], int], digits: int) -> Callable[[Moment], str]:
    return lambda moment: f"{of(moment):0{digits}}"


def _check(part: str, known: list[str], length: int) -> None:
    if part not in known:
        raise ValueError(
            f"found part {part!r}, expected one of {', '.join(dict.fromkeys(known))}{suggest(part, known)}"
        )
    if length <= 0:
        raise ValueError(f"found {length} nanoseconds a chronon, expected a positive integer")


def _quotient(size: int, length: int) -> str:
    """Source of the number of whole parts of `size` nanoseconds from 1970 to an instant."""
    if size % length == 0:
        return f"{{0}} // {size // length}"
    return f"{{0}} * {length} // {size}"


def _seconds(length: int) -> Callable[[int], float | None]:
    def seconds(instant: int) -> float | None:
        try:
            return instant * length / SECOND
        except OverflowError:
            return None

    return seconds


def _on(days: int) -> date | None:
    """The day that is `days` days after the beginning of 1970; None outside of the calendar."""
    try:
        return date.fromordinal(EPOCH.toordinal() + days)
    except (OverflowError, ValueError):
        return None


def _part_type(arguments: Sequence[Argument]) -> Type:
    return Type.FLOAT if arguments[0].value == "epoch" else Type.INTEGER


_OF_PART = (CONSTANT_STRING, INTEGER, CONSTANT_INTEGER)

DATE_FUNCTIONS: Mapping[str, Prepared] = {
    function.name: function
    for function in (
        prepared("date_part", _OF_PART, date_part, _part_type, (0, 2)),
        prepared("date_trunc", _OF_PART, date_trunc, Type.INTEGER, (0, 2)),
        prepared("strftime", (INTEGER, STRING, CONSTANT_INTEGER), strftime, Type.STRING, (1, 2)),
    )
}
