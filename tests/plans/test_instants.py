"""Instants are written and read back without a loss, at every resolution and however far away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.plans.values.instants import DAY, SECOND, iso_format, nanoseconds, of_datetime
from midstream.plans.values.units import NANOSECONDS

FIRST, LAST = nanoseconds("0001-01-01") // SECOND, nanoseconds("9999-12-31T23:59:59") // SECOND
INSTANTS = st.integers() | st.integers(FIRST * SECOND, LAST * SECOND) | st.integers(-(2**63), 2**63)


@given(INSTANTS, st.sampled_from(sorted(NANOSECONDS.values())))
@example(-1, 1)
@example(FIRST - 1, SECOND)
@example(LAST + 1, SECOND)
@example(nanoseconds("2024-02-29T23:59:59.999999999"), 1)
def test_chronons_come_back(instant: int, length: int) -> None:
    text = iso_format(length)(instant)
    assert nanoseconds(text) == instant * length
    assert nanoseconds(f"{text}Z" if "T" in text else text) == instant * length


@given(st.datetimes(), st.integers(-1439, 1439))
@example(datetime(2000, 2, 29), 0)
@example(datetime(1900, 3, 1), 0)
def test_the_calendar_is_that_of_datetime(instant: datetime, offset: int) -> None:
    aware = instant.replace(tzinfo=UTC)
    micros = of_datetime(aware) // 1000
    assert iso_format(1000)(micros) == instant.isoformat(timespec="microseconds")
    zone = timezone(timedelta(minutes=offset))
    for separator in "T ":
        text = instant.isoformat(separator)
        assert nanoseconds(text) == micros * 1000
        assert nanoseconds(f"{text}{zone.tzname(None)[3:] or 'Z'}") == (micros - offset * 60 * 10**6) * 1000


@given(INSTANTS, st.integers(1, 400))
def test_years_follow_each_other(instant: int, days: int) -> None:
    # The order of texts of one length is that of time, within the years that have four digits.
    day = instant // DAY
    earlier, later = iso_format(DAY)(day), iso_format(DAY)(day + days)
    if earlier >= "0001" and later <= "9999-12-31" and len(earlier) == len(later) == 10:
        assert earlier < later


@pytest.mark.parametrize(
    "text",
    ["", "7", "yesterday", "2013-02-29", "1970-01-01T00:00:00.1234567891", "+00001-01-01", "+010000-13-01"],
)
def test_what_is_no_instant(text: str) -> None:
    with pytest.raises(ValueError):
        nanoseconds(text)


def test_a_text_is_as_fine_as_chronons() -> None:
    shown = {unit: iso_format(length)(7 * DAY // length) for unit, length in NANOSECONDS.items()}
    assert shown == {
        "nanosecond": "1970-01-08T00:00:00.000000000",
        "microsecond": "1970-01-08T00:00:00.000000",
        "millisecond": "1970-01-08T00:00:00.000",
        "second": "1970-01-08T00:00:00",
        "minute": "1970-01-08T00:00:00",
        "hour": "1970-01-08T00:00:00",
        "day": "1970-01-08",
        "week": "1970-01-08",
    }
