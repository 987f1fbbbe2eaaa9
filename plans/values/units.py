"""Units of application time, and the durations and instants that people write."""

from __future__ import annotations

import re
from dataclasses import dataclass

from midstream.plans.values.arguments import require_name
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.instants import nanoseconds

NANOSECONDS = {
    "nanosecond": 1,
    "microsecond": 10**3,
    "millisecond": 10**6,
    "second": 10**9,
    "minute": 60 * 10**9,
    "hour": 3600 * 10**9,
    "day": 86_400 * 10**9,
    "week": 7 * 86_400 * 10**9,
}
"""The length of each unit; months and years have no fixed length, and are no units."""

SHORT = {
    "ns": "nanosecond",
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "sec": "second",
    "m": "minute",
    "min": "minute",
    "h": "hour",
    "d": "day",
}


def unit_name(word: str) -> str | None:
    """The unit that a word names, in the singular; None if it names no unit.

    >>> unit_name("HOURS"), unit_name("ms"), unit_name("fortnight")
    ('hour', 'millisecond', None)
    """
    lower = word.lower()
    name = SHORT.get(lower, lower.removesuffix("s"))
    return name if name in NANOSECONDS else None


DURATION = "a whole number with a unit, such as 90s or 2 minutes"
"""The form of durations, for messages."""

INSTANT = "a date or a date with a time in ISO 8601"
"""The form of instants, for messages."""

_PART = re.compile(r"([+-]?[0-9]{1,30})\s*([A-Za-z]+)\s*")
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,30}\s*")


def is_number(text: str) -> bool:
    """True if a text is a whole number alone, without a unit or a date."""
    return _NUMBER.fullmatch(text) is not None


def duration(text: str) -> int:
    """Read a duration in nanoseconds: a whole number with a unit, or several that are added.

    Every text in which people write a duration is read here: options, keys of files, SQL intervals.

    Raises   ValueError, whose text tells what was expected.

    >>> duration("90s") == duration("90 Seconds") == duration("1 minute 30 seconds") == 90 * 10**9
    True
    >>> duration("5 fortnights")
    Traceback (most recent call last):
    ValueError: a whole number with a unit, such as 90s or 2 minutes; units are nanoseconds, microseconds, \
milliseconds, seconds, minutes, hours, days, weeks
    """
    lengths: dict[str, int] = {}
    at = len(text) - len(text.lstrip())
    while at < len(text) or not lengths:
        part = _PART.match(text, at)
        if part is None:
            raise ValueError(DURATION)
        name = unit_name(part[2])
        if name is None:
            raise ValueError(f"{DURATION}; units are {', '.join(f'{unit}s' for unit in NANOSECONDS)}")
        if name in lengths:
            raise ValueError(f"{DURATION}, and each unit once")
        lengths[name] = int(part[1]) * NANOSECONDS[name]
        at = part.end()
    return sum(lengths.values())


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """The unit of a chronon: its name, in the plural, and its length.

    >>> TimeUnit.of("seconds").chronons(5, "hour")
    18000
    >>> TimeUnit.of("minutes").chronons(90, "second") is None
    True
    """

    name: str
    nanoseconds: int

    @classmethod
    def of(cls, word: str) -> TimeUnit:
        """The unit with that name; raises ValueError if there is none."""
        name = unit_name(word)
        if name is None:
            raise ValueError(
                f"found the time unit {word!r}, expected one of {', '.join(f'{n}s' for n in NANOSECONDS)}"
            )
        return cls(f"{name}s", NANOSECONDS[name])

    def instant(
        self, text: str, *, epoch: int = 0, number_unit: TimeUnit | None = None, is_exact: bool = True
    ) -> int:
        """Read an instant as a chronon: a date, or a date and time, in ISO 8601; in UTC, if it names no zone.

        epoch          the instant of chronon 0, in nanoseconds since the beginning of 1970
        number_unit    the unit of a number, which is counted from chronon 0; None refuses numbers
        is_exact       False takes the chronon in which the instant lies

        Raises   ValueError, whose text tells what was expected.

        >>> MILLISECONDS.instant("1970-01-01 00:01"), MILLISECONDS.instant("-40", number_unit=MILLISECONDS)
        (60000, -40)
        >>> TimeUnit.of("days").instant("1970-01-01T12")
        Traceback (most recent call last):
        ValueError: a whole number of days, the unit of time
        """
        if number_unit is not None and is_number(text):
            passed = int(text) * number_unit.nanoseconds
        else:
            try:
                passed = nanoseconds(text) - epoch
            except (ValueError, OverflowError):
                raise ValueError(INSTANT if number_unit is None else f"an integer, or {INSTANT}") from None
        chronon, remainder = divmod(passed, self.nanoseconds)
        if remainder and is_exact:
            raise ValueError(f"a whole number of {self.name}, the unit of time")
        return chronon

    def duration(self, text: str, *, least: int | None = None, number_unit: TimeUnit | None = None) -> int:
        """Read a duration in chronons, for example "90s" or "2 minutes".

        least          the least number of chronons that is allowed; None for no limit
        number_unit    the unit of a number alone; without it only 0 may stand alone

        Raises   ValueError, whose text tells what was expected.

        >>> SECONDS = TimeUnit.of("seconds")
        >>> SECONDS.duration("3h"), SECONDS.duration("7", number_unit=TimeUnit.of("minutes"))
        (10800, 420)
        >>> SECONDS.duration("7")
        Traceback (most recent call last):
        ValueError: a whole number with a unit, such as 90s or 2 minutes; nothing says what a \
number alone counts
        """
        if is_number(text):
            if number_unit is None and int(text):
                raise ValueError(f"{DURATION}; nothing says what a number alone counts")
            length = int(text) * (0 if number_unit is None else number_unit.nanoseconds)
        else:
            length = duration(text)
        chronons, remainder = divmod(length, self.nanoseconds)
        if remainder:
            raise ValueError(f"a whole number of {self.name}, the unit of time")
        if least is not None and chronons < least:
            raise ValueError(f"at least {least} {self.name.removesuffix('s') if least == 1 else self.name}")
        return chronons

    def chronons(self, count: int, unit: str) -> int | None:
        """A duration in chronons; None if it is no whole number of chronons."""
        chronons, remainder = divmod(count * NANOSECONDS[unit], self.nanoseconds)
        return None if remainder else chronons


MILLISECONDS = TimeUnit.of("milliseconds")
"""The default unit of programs."""

MICROSECONDS = TimeUnit.of("microseconds")
"""The default unit of scripts, as fine as most programs write dates and times."""


def unit_of(who: str, unit: TimeUnit | str) -> TimeUnit:
    """A unit, or the unit of a name; raises ArgumentError for others.

    >>> unit_of("rows", "seconds") == unit_of("rows", TimeUnit.of("s"))
    True
    """
    if isinstance(unit, TimeUnit):
        return unit
    require_name(who, unit, "a unit of time such as 'seconds'")
    try:
        return TimeUnit.of(unit)
    except ValueError as error:
        raise ArgumentError(f"{who}: {error}") from error


class WatchedUnit(TimeUnit):
    """A unit that records if its length was ever read, that is, if time was counted in it.

    >>> watched = WatchedUnit(MILLISECONDS)
    >>> watched.is_used, watched.chronons(5, "second"), watched.is_used
    (False, 5000, True)
    """

    is_used: bool

    def __init__(self, unit: TimeUnit) -> None:
        object.__setattr__(self, "name", unit.name)
        object.__setattr__(self, "_unit", unit)
        object.__setattr__(self, "is_used", False)

    @property
    def nanoseconds(self) -> int:
        object.__setattr__(self, "is_used", True)
        return self._unit.nanoseconds  # type: ignore[attr-defined,no-any-return]
