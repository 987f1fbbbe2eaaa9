"""Durations and instants of application time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from midstream.io.time_units import Clock


@pytest.mark.parametrize(
    ("text", "unit", "chronons"),
    [
        ("3h", "s", 10800),
        ("15m", "ms", 900_000),
        ("1d", "h", 24),
        (" 90 s", "s", 90),
        ("5us", "ns", 5000),
        ("3 Hours", "s", 10800),
        ("1 minute 30 seconds", "s", 90),
    ],
)
def test_durations(text: str, unit: str, chronons: int) -> None:
    assert Clock(unit).chronons(text) == chronons


@pytest.mark.parametrize("text", ["3", "", "h", "3 parsecs", "-3h", "0", "0s", "1.5h", "90s", "1h 2h"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="expected a"):
        Clock("m").chronons(text)


def test_instants() -> None:
    clock = Clock("ms", datetime(2020, 1, 1, tzinfo=UTC))
    assert clock.show(0) == "2020-01-01 00:00"
    assert clock.show(-1500) == "2019-12-31 23:59:58.500000"
    assert clock.show(10**18) == f"{10**18} ms"  # beyond the calendar


@pytest.mark.parametrize(
    ("text", "chronon"),
    [("2020-01-01", 0), ("2020-01-01T01:00:00.5+01:00", 500), ("2019-12-31 23:59:59Z", -1000), (" 17 ", 17)],
)
def test_what_is_an_instant(text: str, chronon: int) -> None:
    assert Clock("ms", datetime(2020, 1, 1, tzinfo=UTC)).chronon(text) == chronon


@pytest.mark.parametrize("text", ["", "noon", "1.5", "2020-01-01T00:00:00.0001", "2020-13-01", "9" * 19])
def test_what_is_no_instant(text: str) -> None:
    with pytest.raises(ValueError, match="expected "):
        Clock("ms", datetime(2020, 1, 1, tzinfo=UTC)).chronon(text)
    with pytest.raises(ValueError, match="the study has no epoch"):
        Clock("ms").chronon("2020-01-01")
