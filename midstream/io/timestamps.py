"""Convert a source's timestamps to chronons: integers, dates, and dates with times."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.plans.values.errors import SchemaError
from midstream.plans.values.instants import DAY, iso_format
from midstream.plans.values.unit_words import IN_SCRIPTS
from midstream.plans.values.units import TimeUnit, unit_of


class UndeclaredUnit(ValueError):
    """An integer timestamp whose unit is not declared: the stream is at fault, not the row."""

    def __init__(self, value: int, remedy: str) -> None:
        super().__init__(value)
        self.value = value
        self.remedy = remedy
        self.column: str | None = None


class Timestamps:
    """Converts the timestamps of one source to chronons, and counts those that lose precision.

    chronon    the unit of application time
    unit       the unit of integers, a multiple of the chronon; None if it is not declared
    remedy     how to declare it, in words, with {0} for the unit

    Dates, and dates with times, need no unit. They are rounded down to chronons; `cut` counts those that
    change.

    >>> seen = Timestamps(TimeUnit.of("milliseconds"), TimeUnit.of("seconds"))
    >>> seen.integers([7, None]), seen.instants([1_999_999, None]), seen.cut
    ([7000, None], [1, None], 1)
    """

    def __init__(self, chronon: TimeUnit, unit: TimeUnit | None, remedy: str = IN_SCRIPTS) -> None:
        self.chronon = chronon
        self.unit = unit
        self.has_dates = False
        """True if there was a date, or a date with a time."""
        self.cut = 0
        """The number of timestamps that were rounded down."""
        self.example: str | None = None
        """The first timestamp that was rounded down."""
        self._remedy = remedy
        self._scale = 0 if unit is None else unit.nanoseconds // chronon.nanoseconds

    @classmethod
    def of(cls, unit: TimeUnit | Timestamps | str) -> Timestamps:
        """Timestamps of one unit, or of the unit of a name: integers are chronons."""
        if isinstance(unit, Timestamps):
            return unit
        unit = unit_of("timestamps", unit)
        return cls(unit, unit)

    def integer(self, value: int) -> int:
        """The chronon of an integer.

        Raises   UndeclaredUnit.
        """
        if not self._scale:
            raise UndeclaredUnit(value, self._remedy)
        return value * self._scale

    def integers(self, values: Sequence[int | None]) -> Sequence[int | None]:
        """The chronons of several integers; None stands for an unknown one.

        Raises   ValueError where the unit is not declared; `integer` then reports the value.
        """
        if self._scale == 1:
            return values
        if not self._scale:
            if not any(value is not None for value in values):
                return values
            raise ValueError("integers, and nothing says what they count")
        return [None if value is None else value * self._scale for value in values]

    def instant(self, nanoseconds: int) -> int:
        """The chronon of a date, or a date with a time, in nanoseconds since 1970."""
        (chronon,) = self.instants([nanoseconds])
        assert chronon is not None
        return chronon

    def instants(self, nanoseconds: Sequence[int | None]) -> list[int | None]:
        """The chronons of several instants in nanoseconds since 1970; None stands for an unknown one."""
        self.has_dates = True
        length = self.chronon.nanoseconds
        if length > 1:
            cut = [instant for instant in nanoseconds if instant is not None and instant % length]
            if cut:
                self.cut += len(cut)
                self.example = self.example or iso_format(1)(cut[0]).rstrip("0").rstrip(".")
        return [None if instant is None else instant // length for instant in nanoseconds]


class Days(Timestamps):
    """Dates of a column: instants of other timestamps, which are midnights in UTC.

    Raises   ValueError for a time of day, which a date does not have.

    >>> days = Days(Timestamps.of("seconds"))
    >>> days.instants([0, None, 86_400 * 10**9])
    [0, None, 86400]
    >>> days.integers([7])
    Traceback (most recent call last):
    ValueError: a time of day
    """

    def __init__(self, instants: Timestamps) -> None:
        super().__init__(instants.chronon, instants.unit)
        self._instants = instants

    def integer(self, value: int) -> int:
        """The chronon of an integer, which is a midnight."""
        chronon = self._instants.integer(value)
        self._require_midnights([chronon])
        return chronon

    def integers(self, values: Sequence[int | None]) -> Sequence[int | None]:
        """The chronons of several integers, which are midnights."""
        chronons = self._instants.integers(values)
        self._require_midnights(chronons)
        return chronons

    def instants(self, nanoseconds: Sequence[int | None]) -> list[int | None]:
        """The chronons of several midnights."""
        if any(instant % DAY for instant in nanoseconds if instant is not None):
            raise ValueError("a time of day")
        return self._instants.instants(nanoseconds)

    def _require_midnights(self, chronons: Sequence[int | None]) -> None:
        # Chronons without a unit of time are not known to be midnights.
        length = 0 if isinstance(self._instants, UnitlessTimestamps) else self.chronon.nanoseconds
        if any(chronon * length % DAY for chronon in chronons if chronon is not None):
            raise ValueError("a time of day")


class UnitlessTimestamps(Timestamps):
    """Timestamps of a stream that counts no unit of time: integers alone, which are chronons.

    remedy     how to declare a unit, in words, with {0} for the unit

    Raises   SchemaError for dates.
    """

    def __init__(self, stream: str, remedy: str) -> None:
        unit = TimeUnit.of("nanoseconds")
        super().__init__(unit, unit, remedy)
        self._stream = stream

    def instants(self, nanoseconds: Sequence[int | None]) -> list[int | None]:
        """Refuse dates, but for unknown ones."""
        date = next((instant for instant in nanoseconds if instant is not None), None)
        if date is None:
            return list(nanoseconds)
        raise SchemaError(
            f"stream {self._stream}: found {iso_format(1)(date)}, expected an integer, as the stream has no "
            f"unit of time; write {self._remedy.format('seconds')}"
        )
