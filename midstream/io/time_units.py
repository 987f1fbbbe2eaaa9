"""Durations and instants of application time, as people write and read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from midstream.plans.values.instants import of_datetime
from midstream.plans.values.units import NANOSECONDS as BY_NAME
from midstream.plans.values.units import SHORT, TimeUnit, is_number

NANOSECONDS: Mapping[str, int] = {
    short: BY_NAME[SHORT[short]] for short in ("ns", "us", "ms", "s", "m", "h", "d")
}
"""The length of each unit in nanoseconds, by its short name."""

UNITS: Mapping[int, str] = {size: short for short, size in NANOSECONDS.items()}
"""The short name of each unit, by its length in nanoseconds."""


def largest_unit(nanoseconds: int) -> str:
    """The short name of the largest unit of which a duration is a multiple."""
    return max((u for u, size in NANOSECONDS.items() if nanoseconds % size == 0), key=NANOSECONDS.__getitem__)


BITS = 63
"""The largest length of a chronon of a study in bits, besides its sign: Spark has no longer integers."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The length of a chronon, and the date and time of chronon 0, if they are known.

    >>> from datetime import UTC
    >>> clock = Clock("s", datetime(1970, 1, 1, tzinfo=UTC))
    >>> clock.chronons("3h"), clock.show(1359712560), Clock("ms").show(40)
    (10800, '2013-02-01 09:56', '40 ms')
    """

    unit: str
    epoch: datetime | None = None

    def chronons(self, text: str) -> int:
        """Convert a duration such as "90s", "15m", "3h" or "1d" to chronons.

        Raises   ValueError for other texts, and for durations that are no positive whole number of chronons.
        """
        try:
            return TimeUnit.of(self.unit).duration(text, least=1)
        except ValueError as error:
            raise ValueError(f"found {text!r}, expected {error}") from None

    def chronon(self, text: str) -> int:
        """Convert an instant to a chronon: "2013-07-01", "2013-07-01T12:00Z", or a number of chronons.

        Raises ValueError for other texts, for dates where chronon 0 has no date, and for instants inside a
        chronon.

        >>> from datetime import UTC
        >>> clock = Clock("s", datetime(1970, 1, 1, tzinfo=UTC))
        >>> clock.chronon("1970-01-01 00:02"), clock.chronon("-40")
        (120, -40)
        """
        if self.epoch is None and not is_number(text):
            raise ValueError(f"found {text!r}, expected a number of chronons: the study has no epoch")
        unit = TimeUnit.of(self.unit)
        epoch = 0 if self.epoch is None else of_datetime(self.epoch)
        try:
            chronon = unit.instant(text, epoch=epoch, number_unit=unit)
        except ValueError as error:
            raise ValueError(f"found {text!r}, expected {error}") from None
        if chronon.bit_length() > BITS:
            raise ValueError(f"found {text!r}, expected a number of chronons of {BITS + 1} bits at most")
        return chronon

    def show_duration(self, chronons: int) -> str:
        """Show a duration in the largest unit of which it is a multiple.

        >>> Clock("s").show_duration(10800), Clock("ms").show_duration(1500)
        ('3 h', '1500 ms')
        """
        length = chronons * NANOSECONDS[self.unit]
        unit = largest_unit(length)
        return f"{length // NANOSECONDS[unit]} {unit}"

    def instant(self, chronon: int) -> datetime | None:
        """The date and time of a chronon; None where chronon 0 has none, or the calendar ends before it."""
        if self.epoch is None:
            return None
        try:
            return self.epoch + timedelta(microseconds=chronon * NANOSECONDS[self.unit] // 1000)
        except OverflowError:
            return None

    def show(self, chronon: int) -> str:
        """A chronon as text: date and time where they are known, else the number and its unit."""
        instant = self.instant(chronon)
        if instant is None:
            return f"{chronon} {self.unit}"
        finest = "minutes" if instant.second == instant.microsecond == 0 else "auto"
        return instant.replace(tzinfo=None).isoformat(sep=" ", timespec=finest)
