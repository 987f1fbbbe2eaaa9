"""Timestamps of a source: from integers, dates and dates with times to chronons."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.plans.values.instants import iso_format
from midstream.plans.values.unit_words import IN_SCRIPTS
from midstream.plans.values.units import TimeUnit


class UndeclaredUnit(ValueError):
    """A timestamp is an integer, and nothing says what it counts: not the row is wrong, but its stream."""

    def __init__(self, value: int, remedy: str) -> None:
        super().__init__(value)
        self.value = value
        self.remedy = remedy
        self.column: str | None = None


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
