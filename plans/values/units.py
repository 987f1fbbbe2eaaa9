"""Units of application time."""

from __future__ import annotations

from dataclasses import dataclass

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

    def instant(self, text: str) -> int | None:
        """The chronon of a date, or a date and time, in ISO 8601; in UTC, if it names no zone.

        None if it lies between two chronons. Raises ValueError if the text is no instant.

        >>> MILLISECONDS.instant("1970-01-01 00:01"), TimeUnit.of("days").instant("1970-01-01T12")
        (60000, None)
        """
        chronons, remainder = divmod(nanoseconds(text), self.nanoseconds)
        return None if remainder else chronons

    def chronons(self, count: int, unit: str) -> int | None:
        """A duration in chronons; None if it is no whole number of chronons."""
        chronons, remainder = divmod(count * NANOSECONDS[unit], self.nanoseconds)
        return None if remainder else chronons


MILLISECONDS = TimeUnit.of("milliseconds")
"""The default unit of programs."""

MICROSECONDS = TimeUnit.of("microseconds")
"""The default unit of scripts, as fine as most programs write dates and times."""


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
