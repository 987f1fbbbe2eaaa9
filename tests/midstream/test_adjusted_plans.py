"""Windows and granules change within their bounds while plans are rewritten, optimized and flown."""

from __future__ import annotations

from adjusted import Case, cases, check
from hypothesis import given


@given(cases())
def test_every_setting_means_what_its_history_says(case: Case) -> None:
    check(case)
