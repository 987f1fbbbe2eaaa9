"""Instants as texts in ISO 8601, and as nanoseconds since the beginning of 1970 in UTC.

Years before 1 and after 9999, which `datetime` lacks, have a sign and at least six digits, as ISO 8601
allows: a window may end there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Nanosecond 0, and chronon 0 of streams whose timestamps are dates."""

SECOND = 10**9
DAY = 86_400 * SECOND

FINEST_DIGITS = 9
"""Most decimal places of a second, in nanoseconds."""

_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097
"""The number of years, and of days, after which the calendar repeats."""

_FRACTION = re.compile(r"[.,]([0-9]+)")
_LONG_YEAR = re.compile(r"\s*([+-][0-9]{6,})-(.*)", re.DOTALL)
_MICROSECOND = timedelta(microseconds=1)


def nanoseconds(text: str) -> int:
    """The instant of a date, or a date and a time; in UTC, if the text names no zone.

    Raises   ValueError where the text is no instant, or has more than nine decimal places of a second.

    >>> nanoseconds("1970-01-01T00:00:01.000000002Z"), nanoseconds("1970-01-02 01:00+01:00") == DAY
    (1000000002, True)
    """
    if (long := _LONG_YEAR.fullmatch(text)) is not None:
        year = int(long[1])
        cycles = (year - 2000) // _CYCLE_YEARS
        return nanoseconds(f"{year - cycles * _CYCLE_YEARS}-{long[2]}") + cycles * _CYCLE_DAYS * DAY
    # datetime would silently cut off digits behind microseconds.
    fraction = _FRACTION.search(text)
    digits = fraction[1].rstrip("0") if fraction else ""
    if len(digits) > FINEST_DIGITS:
        raise ValueError(text)
    without_fraction = datetime.fromisoformat(_FRACTION.sub("", text, count=1).strip())
    return of_datetime(without_fraction) + int(digits.ljust(FINEST_DIGITS, "0"))


def of_datetime(instant: datetime) -> int:
    """The instant of a datetime; in UTC, if it has no zone."""
    aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
    return (aware - EPOCH) // _MICROSECOND * 1000


def iso_format(length: int) -> Callable[[int], str]:
    """A function from chronons of `length` nanoseconds, the length of a unit, to texts.

    Texts are as fine as chronons: days give dates, and shorter units give at least seconds. The texts are in
    UTC, without saying so, and `nanoseconds` reads them.

    >>> iso_format(10**6)(1_356_999_120_042), iso_format(DAY)(-1), iso_format(SECOND)(10**12)
    ('2013-01-01T00:12:00.042', '1969-12-31', '+033658-09-27T01:46:40')
    """
    if length % DAY == 0:
        days = length // DAY
        return lambda chronon: _day(chronon * days)
    if length % SECOND == 0:
        seconds = length // SECOND
        return lambda chronon: _second(chronon * seconds)
    per_second = SECOND // length
    shown = f"%s.%0{len(str(per_second)) - 1}d"

    def text(chronon: int) -> str:
        second, rest = divmod(chronon, per_second)
        return shown % (_second(second), rest)

    return text


@lru_cache(1 << 12)
def _second(second: int) -> str:
    # Results are in order, so that the same second is asked for many times.
    days, rest = divmod(second, 86_400)
    minutes, seconds = divmod(rest, 60)
    return f"{_day(days)}T{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"


@lru_cache(1 << 8)
def _day(days: int) -> str:
    cycles, rest = divmod(days, _CYCLE_DAYS)
    day = date.fromordinal(EPOCH.toordinal() + rest)
    year = day.year + cycles * _CYCLE_YEARS
    shown = f"{year:04d}" if 1 <= year <= 9999 else f"{year:+07d}"
    return f"{shown}-{day.month:02d}-{day.day:02d}"
