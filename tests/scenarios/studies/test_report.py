"""What studies print on terminals of any width."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

pytest.importorskip("pyspark", reason="needs PySpark: pip install 'midstream[spark]'")

NAMES = ("EWR", "LGA", "JFK")
TIME = "2013-01-01 05:00"


def pair(left: str, right: str) -> dict[str, Any]:
    equal = f"{left}.dest = {right}.dest and {left}.carrier = {right}.carrier".lower()
    return {"left": left, "right": right, "on": equal, "overlapping": 123_456, "matched": 777}


PAIRS = [pair("EWR", "LGA"), pair("LGA", "JFK"), pair("EWR", "JFK")]
SUMMARY = {
    "study": "x",
    "title": "T",
    "unit": "s",
    "bucket": 3600,
    "buckets": 2,
    "first": 0,
    "last": 3600,
    "streams": [{"stream": name, "count": 120_000, "d": 3.1, "l": 3600, "g": 60} for name in NAMES],
    "pairs": PAIRS,
    "by_bucket": [{"time": TIME, "counts": dict.fromkeys(NAMES, 12_345), "pairs": PAIRS}] * 2,
}


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_no_column_of_a_profile_is_lost(width: int) -> None:
    from midstream.scenarios.reports.contents import Report
    from midstream.scenarios.reports.terminal import show_report
    from midstream.scenarios.stages.profile.report import bucket_table

    text = io.StringIO()
    show_report("T", Report(tables=[bucket_table(SUMMARY)]), Console(file=text, width=width))
    _, _, buckets = text.getvalue().partition("by bucket:")
    lines = buckets.splitlines()
    assert all(len(line) <= width for line in lines)
    tables = sum(line.startswith("from") for line in lines)
    assert tables == {60: 4, 80: 2, 100: 2}.get(width, 1)
    assert sum(line.startswith(TIME) for line in lines) == 2 * tables
    assert buckets.count("12,345") == 2 * len(NAMES) and buckets.count("0.63%") == 2 * len(PAIRS)
    for one in PAIRS:
        assert all(part in buckets for part in one["on"].split(" and "))
