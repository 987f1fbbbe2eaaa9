"""Timestamps of a source: from integers, dates and dates with times to chronons."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.plans.values.instants import iso_format
from midstream.plans.values.units import TimeUnit

PLAUSIBLE = range(315_532_800, 4_102_444_800)
"""Seconds since 1970, from 1980 to 2100: when most data are from."""

GUESSES = ("seconds", "milliseconds", "microseconds", "nanoseconds")
"""What integers are guessed to count. Of shorter numbers, such as 5000 days, nothing can be told."""


class UndeclaredUnit(ValueError):
    """A timestamp is an integer, and nothing says what it counts: not the row is wrong, but its stream."""

    def __init__(self, value: int, remedy: str) -> None:
        super().__init__(value)
        self.value = value
        self.remedy = remedy
        self.column: str | None = None


IN_SCRIPTS = "SET time_unit = '{0}' at the script's beginning, or TIME_UNIT '{0}' behind the declaration"
"""How a script says what integers count, where the unit is {0}."""


class Timestamps:
    """How the timestamps of a source become chronons, and what was seen of them so far.

    chronon    what application time is counted in
    unit       what integers count, a multiple of the chronon; None where nothing says it
    remedy     how to say it, in words, with {0} for the unit

    Dates, and dates with times, need no unit. What they have that is finer than a chronon is cut off, and
    counted.

    >>> seen = Timestamps(TimeUnit.of("milliseconds"), TimeUnit.of("seconds"))
    >>> seen.integers([7, None]), seen.instants([1_999_999, None]), seen.cut
    ([7000, None], [1, None], 1)
    """

    def __init__(self, chronon: TimeUnit, unit: TimeUnit | None, remedy: str = IN_SCRIPTS) -> None:
        self.chronon = chronon
        self.unit = unit
        self.has_dates = False
        """Whether there was a date, or a date with a time."""
        self.cut = 0
        """Of how many timestamps something was cut off."""
        self.example: str | None = None
        """The first of them."""
        self._remedy = remedy
        self._scale = 0 if unit is None else unit.nanoseconds // chronon.nanoseconds

    @classmethod
    def of(cls, unit: TimeUnit | Timestamps) -> Timestamps:
        """Of a unit alone: integers are chronons."""
        return unit if isinstance(unit, Timestamps) else cls(unit, unit)

    def integer(self, value: int) -> int:
        """The chronon of an integer. Raises UndeclaredUnit."""
        if not self._scale:
            raise UndeclaredUnit(value, self._remedy)
        return value * self._scale

    def integers(self, values: Sequence[int | None]) -> Sequence[int | None]:
        """The same for several, some of which may be unknown. Raises ValueError where nothing says the unit:
        `integer` knows for which."""
        if self._scale == 1:
            return values
        if not self._scale:
            if not any(value is not None for value in values):
                return values
            raise ValueError("integers, and nothing says what they count")
        return [None if value is None else value * self._scale for value in values]

    def instant(self, nanoseconds: int) -> int:
        """The chronon of a date, or a date with a time."""
        (chronon,) = self.instants([nanoseconds])
        assert chronon is not None
        return chronon

    def instants(self, found: Sequence[int | None]) -> list[int | None]:
        """The same for several, some of which may be unknown."""
        self.has_dates = True
        length = self.chronon.nanoseconds
        if length > 1:
            cut = [instant for instant in found if instant is not None and instant % length]
            if cut:
                self.cut += len(cut)
                self.example = self.example or iso_format(1)(cut[0]).rstrip("0").rstrip(".")
        return [None if instant is None else instant // length for instant in found]


def guess(first: int, last: int) -> str:
    """What integers look like, as timestamps.

    >>> guess(1_356_999_120, 1_357_002_720)
    'look like seconds since 1970, from 2013-01-01T00:12:00 to 2013-01-01T01:12:00'
    >>> guess(7, 5000)
    'do not tell what they count'
    """
    for word in GUESSES:
        unit = TimeUnit.of(word)
        per_second = 10**9 // unit.nanoseconds
        if first // per_second in PLAUSIBLE and last // per_second in PLAUSIBLE:
            seconds = iso_format(10**9)
            return (
                f"look like {word} since 1970, from {seconds(first // per_second)} to "
                f"{seconds(last // per_second)}"
            )
    return "do not tell what they count"


def advice(values: Sequence[int], remedy: str = IN_SCRIPTS) -> tuple[str, str]:
    """What was found where integers have no unit, and what is to be done about it."""
    first, last = min(values), max(values)
    looks = guess(first, last)
    word = next((word for word in GUESSES if f" {word} " in looks), "seconds")
    which = f"values such as {first}" if first == last else f"values from {first} to {last}"
    return (
        f"an integer as timestamp, and nothing says what it counts; {which} {looks}",
        remedy.format(word) + ("" if "look like" in looks else ", or whatever they count"),
    )
