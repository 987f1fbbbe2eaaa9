"""Latenesses are counted in cells that are narrow enough, and slacks are judged by them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyspark", reason="needs PySpark: pip install 'midstream[spark]'")

from midstream.scenarios.stages.ingest.disorder import EXACT, Disorder, cell

LATENESS = st.one_of(st.integers(0, 300), st.integers(0, 2**62))


@given(LATENESS, LATENESS)
def test_cells_are_in_order_and_narrow(one: int, two: int) -> None:
    assert cell(one) >= one
    assert cell(cell(one)) == cell(one)
    assert cell(one) == one or (one >= EXACT and cell(one) - one < one / 32)
    assert cell(min(one, two)) <= cell(max(one, two))


@given(st.lists(LATENESS, min_size=1, max_size=50), st.integers(1, 1000))
def test_what_a_slack_loses(latenesses: list[int], span: int) -> None:
    counts = Counter(map(cell, latenesses))
    late = [one for one in latenesses if one]
    found = Disorder(len(latenesses), len(late), max(latenesses), span, counts)
    for share in (0.5, 0.9, 1):
        quantile = found.quantile(share)
        assert sum(one <= quantile for one in late) >= share * len(late)
    for upper in counts:
        assert found.slack(upper).late == sum(one > upper for one in latenesses)
    assert found.slack(max(latenesses)).late == 0
    assert found.slack(span).held == len(latenesses)


def test_nothing_is_late() -> None:
    assert Disorder(3, 0, 0, 9, {0: 3}).as_dict()["slacks"] == [{"slack": 0, "late": 0, "held": 0.0}]
    assert Disorder(0, 0, 0, 0, {}).as_dict()["share"] == 0
