"""Every reader keeps the contract of dates, decimals and codes."""

from __future__ import annotations

from pathlib import Path

import pytest

import midstream as ms
from midstream.io.sources.sources import KINDS
from tests.midstream.io.reader_contract import ELSEWHERE, READERS, Reader, day

for library in ("duckdb", "pyarrow", "pandas", "polars"):
    pytest.importorskip(library)

every_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS)
TS = "2026-01-05 10:00:00"


def test_every_kind_of_source_has_a_reader_here() -> None:
    assert set(KINDS) == {name.partition(",")[0] for name in READERS} & set(KINDS) | set(ELSEWHERE)


@every_reader
def test_equal_dates_are_equal(read: Reader, tmp_path: Path) -> None:
    rows = [{"ts": TS, "d": "2026-01-01", "n": "1"}, {"ts": TS, "d": "2026-01-01", "n": "2"}]
    assert read(rows, {"d": "DATE", "n": "BIGINT"}, tmp_path) == [
        (day("2026-01-01"), 1),
        (day("2026-01-01"), 2),
    ]


@every_reader
def test_a_date_with_a_time_of_day_is_a_timestamp_or_refused(read: Reader, tmp_path: Path) -> None:
    rows = [{"ts": TS, "d": "2026-01-01"}, {"ts": TS, "d": "2026-01-01 09:00:00"}]
    try:
        found = read(rows, {"d": "DATE"}, tmp_path)
    except ms.MidstreamError as error:
        assert "TIMESTAMP" in str(error)
        return
    # Nobody declared the column, so that it holds timestamps.
    assert [str(value) for (value,) in found] == ["2026-01-01 00:00:00", "2026-01-01 09:00:00"]


@every_reader
def test_decimals_are_the_nearest_floats(read: Reader, tmp_path: Path) -> None:
    texts = ["10.0100", "0.1000", "99999.9900"]
    rows = [{"ts": TS, "x": text} for text in texts]
    assert read(rows, {"x": "DOUBLE"}, tmp_path) == [(float(text),) for text in texts]


@every_reader
def test_codes_keep_zeros_and_plus(read: Reader, tmp_path: Path) -> None:
    codes = ["02139", "2139", "+49", "49"]
    rows = [{"ts": TS, "zip": code} for code in codes]
    assert read(rows, {"zip": "TEXT"}, tmp_path) == [(code,) for code in codes]


@every_reader
def test_large_integers_stay_exact(read: Reader, tmp_path: Path) -> None:
    numbers = [2**53 + 1, -(2**62)]
    rows = [{"ts": TS, "n": str(number)} for number in numbers]
    assert read(rows, {"n": "BIGINT"}, tmp_path) == [(number,) for number in numbers]


@every_reader
def test_instants_keep_their_time_of_day(read: Reader, tmp_path: Path) -> None:
    rows = [{"ts": TS, "t": "2026-01-01 09:00:01"}]
    assert [str(t) for (t,) in read(rows, {"t": "TIMESTAMP"}, tmp_path)] == ["2026-01-01 09:00:01"]


@every_reader
def test_days_of_timestamps_are_equal(read: Reader, tmp_path: Path) -> None:
    """The remedy where a column of dates has times of day."""
    rows = [{"ts": TS, "t": "2026-01-01 00:00:00"}, {"ts": TS, "t": "2026-01-01 09:00:00"}]
    first, second = read(rows, {"t": "TIMESTAMP"}, tmp_path, "CAST(t AS DATE) AS d")
    assert first == second != (None,)
