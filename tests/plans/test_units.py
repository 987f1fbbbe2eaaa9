"""Durations and instants that people write: every form that is accepted somewhere is accepted everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.values.instants import iso_format
from midstream.plans.values.units import NANOSECONDS, SHORT, TimeUnit, duration

SECONDS, MINUTES = TimeUnit.of("seconds"), TimeUnit.of("minutes")
WORDS = {**SHORT, **{name: name for name in NANOSECONDS}, **{f"{name}s": name for name in NANOSECONDS}}


@given(st.integers(-(10**20), 10**20), st.sampled_from(sorted(WORDS)), st.sampled_from(["", " ", "\n"]))
def test_a_number_with_a_unit_is_a_duration(count: int, word: str, space: str) -> None:
    for spelled in (word, word.upper(), word.capitalize()):
        assert duration(f" {count}{space}{spelled} ") == count * NANOSECONDS[WORDS[word]]


@given(st.dictionaries(st.sampled_from(sorted(NANOSECONDS)), st.integers(-(10**9), 10**9), min_size=1))
def test_parts_are_added(parts: dict[str, int]) -> None:
    text = " ".join(f"{count} {unit}s" for unit, count in parts.items())
    assert duration(text) == sum(count * NANOSECONDS[unit] for unit, count in parts.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a whole number with a unit"),
        ("h", "a whole number with a unit"),
        ("1.5h", "a whole number with a unit"),
        ("1_000 s", "a whole number with a unit"),
        ("٣ s", "a whole number with a unit"),
        ("2013-02-01", "a whole number with a unit"),
        ("3 parsecs", "units are nanoseconds, .*, weeks"),
        ("1 month", "units are nanoseconds, .*, weeks"),
        ("1 day 1 day", "each unit once"),
    ],
)
def test_other_texts_are_no_durations(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        duration(text)


def test_a_duration_is_a_whole_number_of_chronons() -> None:
    assert MINUTES.duration("1 hour 60s") == 61
    assert MINUTES.duration("7", number_unit=TimeUnit.of("hours")) == 420
    assert MINUTES.duration("0") == 0
    assert MINUTES.duration("-5m") == -5
    with pytest.raises(ValueError, match="nothing says what a number alone counts"):
        MINUTES.duration("7")
    with pytest.raises(ValueError, match="a whole number of minutes, the unit of time"):
        MINUTES.duration("90s")
    with pytest.raises(ValueError, match="at least 1 minute"):
        MINUTES.duration("-5m", least=1)


@given(st.integers(-(10**11), 10**11), st.integers(-(10**9), 10**9))
def test_an_instant_is_a_date_or_a_number(chronon: int, epoch: int) -> None:
    written = iso_format(10**9)(chronon + epoch)
    assert SECONDS.instant(written, epoch=epoch * 10**9) == chronon
    assert SECONDS.instant(f" {chronon} ", number_unit=SECONDS, epoch=epoch * 10**9) == chronon


def test_an_instant_inside_of_a_chronon() -> None:
    assert MINUTES.instant("1969-12-31T23:59:59", is_exact=False) == -1
    assert SECONDS.instant("7", number_unit=MINUTES) == 420
    with pytest.raises(ValueError, match="a whole number of minutes, the unit of time"):
        MINUTES.instant("1970-01-01T00:00:01")
    for text in ("noon", "", "1.5", "2013-13-01", "7"):
        with pytest.raises(ValueError, match="a date or a date with a time in ISO 8601"):
            MINUTES.instant(text)
