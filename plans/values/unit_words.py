"""Messages about timestamps: the unit that integers seem to count, and how a script declares it."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.plans.values.errors import Note
from midstream.plans.values.instants import iso_format
from midstream.plans.values.units import TimeUnit

PLAUSIBLE = range(315_532_800, 4_102_444_800)
"""The seconds since 1970 from 1980 to 2100, when most data are from."""

GUESSES = ("seconds", "milliseconds", "microseconds", "nanoseconds")
"""The units that integers may be guessed to count; shorter numbers, such as 5000 days, give no hint."""


IN_SCRIPTS = "SET time_unit = '{0}' at the script's beginning, or TIME_UNIT '{0}' behind the declaration"
"""The ways in which a script declares the unit {0} of its integers."""


def plausible_unit(first: int, last: int) -> str | None:
    """The unit in which two timestamps are from 1980 to 2100; None if there is none.

    >>> plausible_unit(1_356_999_120_000, 1_357_002_720_000), plausible_unit(7, 5000)
    ('milliseconds', None)
    """
    for word in GUESSES:
        per_second = 10**9 // TimeUnit.of(word).nanoseconds
        if first // per_second in PLAUSIBLE and last // per_second in PLAUSIBLE:
            return word
    return None


def guess(first: int, last: int) -> str:
    """A guess of the unit that timestamps count, in words.

    >>> guess(1_356_999_120, 1_357_002_720)
    'look like seconds since 1970, from 2013-01-01T00:12:00 to 2013-01-01T01:12:00'
    >>> guess(7, 5000)
    'do not tell what they count'
    """
    word = plausible_unit(first, last)
    if word is None:
        return "do not tell what they count"
    per_second, seconds = 10**9 // TimeUnit.of(word).nanoseconds, iso_format(10**9)
    return (
        f"look like {word} since 1970, from {seconds(first // per_second)} to {seconds(last // per_second)}"
    )


def advice(values: Sequence[int], remedy: str = IN_SCRIPTS) -> tuple[str, str]:
    """The finding that integers have no unit, and the remedy."""
    first, last = min(values), max(values)
    looks = guess(first, last)
    word = next((word for word in GUESSES if f" {word} " in looks), "seconds")
    which = f"values such as {first}" if first == last else f"values from {first} to {last}"
    return (
        f"an integer as timestamp, and nothing says what it counts; {which} {looks}",
        remedy.format(word) + ("" if "look like" in looks else ", or whatever they count"),
    )


USUAL = range(-2_208_988_800, 7_258_118_400)
"""The seconds since 1970 from 1900 to 2200."""


class ImplausibleTime(Note):
    """A timestamp is outside of 1900 to 2200; mostly because integers count another unit than declared."""


def usual_until(unit: str) -> int:
    """The chronon at which the year 2200 begins."""
    return USUAL.stop * 10**9 // TimeUnit.of(unit).nanoseconds


def implausible(times: Sequence[int], unit: str) -> str:
    """A message about the first timestamp, in chronons, outside of 1900 to 2200; empty if there is none.

    >>> print(implausible([5, 1_700_000_000_000], "seconds").partition(";")[0])
    found a timestamp outside of 1900 to 2200: 1700000000000 in seconds, which is +055840-11-08T22:13:20
    >>> implausible([5, 1_700_000_000], "seconds")
    ''
    """
    length = TimeUnit.of(unit).nanoseconds
    first = next((time for time in times if time * length // 10**9 not in USUAL), None)
    if first is None:
        return ""
    looks = guess(first, first)
    return (
        f"found a timestamp outside of 1900 to 2200: {first} in {unit}, which is {iso_format(length)(first)}"
        f"{f'; as an integer it would {looks}' if 'look like' in looks else ''}; it was taken as it is"
    )
