"""Instants become chronons exactly, or are refused."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.io.instants import UNIX_EPOCH, Nanoseconds, as_clock, chronon
from midstream.io.time_units import NANOSECONDS, Clock

BERLIN = timezone(timedelta(hours=1))


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(BERLIN)),
    st.datetimes(timezones=st.just(UTC)),
)
def test_a_clock_goes_both_ways(instant: datetime, epoch: datetime) -> None:
    clock = Clock("us", epoch)
    count = chronon(instant, clock)
    assert clock.instant(count) == instant
    assert chronon(instant.isoformat(), clock) == count
    naive = instant.astimezone(UTC).replace(tzinfo=None)
    assert chronon(naive, clock) == chronon(str(naive), clock) == count


@given(st.integers(), st.sampled_from(sorted(NANOSECONDS)))
def test_nanoseconds_are_whole_chronons_or_refused(count: int, unit: str) -> None:
    assert chronon(Nanoseconds(count * NANOSECONDS[unit]), as_clock(unit)) == count
    if unit != "ns":
        with pytest.raises(ValueError, match=f"whole number of chronons, of 1 {unit} each"):
            chronon(Nanoseconds(count * NANOSECONDS[unit] + 1), as_clock(unit))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, 7),
        ("-7", -7),
        (Decimal("7.00"), 7),
        (date(1970, 1, 2), 86400 * 10**9),
        ("1970-01-02", 86400 * 10**9),
        ("1970-W01-5", 86400 * 10**9),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T00:00:00,5", 500_000_000),
        ("1970-01-01 01:00:00.123456789000+01:00", 123_456_789),
        ("1969-12-31T23:59:59.999999999", -1),
        (datetime(1970, 1, 1, 0, 0, 0, 1), 1000),
    ],
)
def test_values_and_their_chronons(value: Any, expected: int) -> None:
    assert chronon(value, Clock("ns", UNIX_EPOCH)) == expected


@pytest.mark.parametrize("value", ["soon", "1_000", "1970-13-01", 1.0, True, None, Decimal("0.5"), ""])
def test_what_is_no_instant_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^an integer, or a date or a date with a time"):
        chronon(value, as_clock("s"))


def test_without_a_time_zone_is_in_utc_wherever_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert chronon(datetime(1970, 1, 1, 1), as_clock("h")) == 1
        assert chronon("1970-01-02", as_clock("h")) == 24
    finally:
        monkeypatch.undo()
        time.tzset()


def test_finer_than_nanoseconds_is_refused() -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        chronon("1970-01-01T00:00:00.0000000001", as_clock("ns"))


def test_a_clock_without_epoch_knows_no_dates() -> None:
    with pytest.raises(ValueError, match="need a clock that says when chronon 0 was"):
        chronon("1970-01-01", Clock("s"))
