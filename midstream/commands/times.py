"""The form of times in results: integers, or ISO 8601."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from midstream.io import Source as Input
from midstream.io.time_units import NANOSECONDS, largest_unit
from midstream.plans.values.instants import iso_format
from midstream.plans.values.streams import BEGINNING, FOREVER, Time
from midstream.plans.values.units import TimeUnit

ISO = "iso"
"""The value of --times for ISO 8601; another one means integers."""


class Times:
    """Shows times in the requested form.

    By default that is ISO 8601 if an input has dates, or if the unit of integers is not declared. Call it
    once some input has come.
    """

    def __init__(self, unit: TimeUnit, form: str | None, inputs: Collection[Input]) -> None:
        self.unit = unit
        """The chronon."""
        self._form = form
        self._inputs = inputs

    def __call__(self) -> TimeUnit | None:
        """The unit of a chronon if instants are written in ISO 8601; None for integers."""
        seen = [one.timestamps for one in self._inputs if one.timestamps is not None]
        is_iso = (
            any(one.has_dates or one.unit is None for one in seen)
            if self._form is None
            else self._form == ISO
        )
        return self.unit if is_iso else None

    def instant(self, time: Time) -> str:
        """Show an instant as text."""
        unit = self()
        if unit is None or time in (BEGINNING, FOREVER):
            return str(time)
        return iso_format(unit.nanoseconds)(int(time))

    def duration(self, chronons: int) -> str:
        """Show chronons in the largest unit of which they are a multiple; `TimeUnit.duration` reads it."""
        length = chronons * self.unit.nanoseconds
        unit = largest_unit(length)
        return f"{length // NANOSECONDS[unit]}{unit}"


def cut_off(inputs: Mapping[str, Input], unit: TimeUnit) -> list[str]:
    """A note for each stream whose timestamps are finer than the chronon: their number, and an example."""
    return [
        f"{seen.cut:,} {'timestamp' if seen.cut == 1 else 'timestamps'} of {name} such as {seen.example} "
        f"{'was' if seen.cut == 1 else 'were'} cut to {unit.name}, which time is counted in"
        for name, one in inputs.items()
        if (seen := one.timestamps) is not None and seen.cut
    ]
