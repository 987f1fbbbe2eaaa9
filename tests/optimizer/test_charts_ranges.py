"""Ranges of dimensions are learned from what was seen, and made again when a stream leaves them."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer.charts.chart import ChartError
from midstream.optimizer.charts.ranges import (
    LearnedRange,
    LearnedRanges,
    RangeSettings,
    middle_part,
    widened,
)

SMALL = RangeSettings(first=4, history=20, recent=4, often=0.25, tail=0.05, margin=0.1)
values = st.floats(-1e6, 1e6)


def learned(seen: list[float], settings: RangeSettings = SMALL, least: float = -1e9) -> LearnedRange:
    found = LearnedRange(least, settings=settings)
    for value in seen:
        found.see(value)
    return found


def test_no_range_before_enough_was_seen() -> None:
    assert learned([1.0, 2.0, 3.0]).range is None
    assert learned([1.0, 2.0, 3.0, 4.0]).range == (pytest.approx(0.7), pytest.approx(4.3))


def test_outliers_change_nothing() -> None:
    random = Random(1)
    usual = [random.uniform(1, 2) for _ in range(100)]
    with_outliers = list(usual)
    for i in range(7, 100, 20):
        with_outliers[i] = 1e6
    range_ = learned(with_outliers, RangeSettings()).range
    assert range_ is not None
    assert 0.5 < range_[0] < 1.1 and 1.9 < range_[1] < 2.5


def test_a_stream_that_stays_elsewhere_gets_another_range_and_the_old_one_stays_in_it() -> None:
    one = learned([1.0, 2.0] * 20)
    before = one.range
    assert before is not None and before[1] < 3
    assert one.see(9.0) is False and one.range == before
    assert one.see(9.5) is True
    assert one.range is not None
    assert one.range[0] <= 1.0 and one.range[1] >= 9.5


def test_a_range_that_is_too_long_becomes_shorter_in_the_end() -> None:
    one = learned([0.0, 100.0] * 10)
    assert [one.see(50 + i % 2) for i in range(60)].count(True) == 1
    assert one.range == (pytest.approx(49.9), pytest.approx(51.1))


def test_what_was_long_ago_is_forgotten() -> None:
    one = learned([1.0, 2.0] * 20 + [50.0, 51.0] * 40 + [80.0, 81.0] * 2)
    assert one.range is not None and one.range[0] > 40


@given(st.lists(values, min_size=4, max_size=60))
def test_most_of_the_latest_rounds_are_inside(seen: list[float]) -> None:
    """After every round, whatever came: else the range is made again."""
    one = LearnedRange(settings=SMALL)
    for i, value in enumerate(seen, 1):
        one.see(value)
        if i >= SMALL.first:
            assert one.range is not None
            low, high = one.range
            latest = seen[max(0, i - SMALL.recent) : i]
            assert sum(not low <= each <= high for each in latest) <= SMALL.often * len(latest)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=60))
def test_a_range_is_within_what_is_possible(seen: list[float]) -> None:
    one = LearnedRange(0.0, 1.0, SMALL)
    for value in seen:
        one.see(value)
    assert one.range is not None
    low, high = one.range
    assert 0 <= low < high <= 1


def test_a_logarithmic_range_has_its_margin_in_factors() -> None:
    one = LearnedRange(0.0, settings=SMALL, is_logarithmic=True)
    for value in (0.0, 1.0, -3.0, 10.0, 1.0, 0.0, 10.0):
        one.see(value)
    assert one.range == (pytest.approx(10**-0.1), pytest.approx(10**1.1))
    (dimension,) = LearnedRanges(("x",), 5, [one]).dimensions or ()
    assert dimension.is_logarithmic


def test_what_is_no_number_is_left_out() -> None:
    one = learned([1.0, 2.0, 3.0, 4.0])
    before = one.range
    for value in (float("inf"), float("nan"), float("-inf")) * 9:
        assert one.see(value) is False
    assert one.range == before


def test_one_value_alone_has_a_range() -> None:
    assert learned([7.0] * 4).range == (pytest.approx(6.3), pytest.approx(7.7))
    assert learned([0.0] * 4, least=0.0).range == (0.0, 1e-9)
    assert widened(1.0, 1.0, 0.1, 0.0, 1.0) == (0.9, 1.0)


def test_dimensions_are_there_when_all_ranges_are() -> None:
    given_ = LearnedRange(range=(0.0, 1.0), is_given=True)
    ranges = LearnedRanges(("x", "y"), 5, [LearnedRange(settings=SMALL), given_])
    changes = [ranges.see((float(i), 99.0)) for i in range(6)]
    assert changes == [False, False, False, True, False, True]
    assert ranges.dimensions is not None
    x, y = ranges.dimensions
    assert (x.name, x.parts, x.low) == ("x", 5, pytest.approx(-0.5))
    assert (y.low, y.high) == (0.0, 1.0)


def test_bad_points_are_told() -> None:
    with pytest.raises(ChartError, match="found 1 values, expected 2"):
        LearnedRanges(("x", "y"), 5, [LearnedRange(), LearnedRange()]).see((1.0,))
    with pytest.raises(ChartError, match="found 2 values, expected more than 2"):
        middle_part([1.0, 2.0], 1)
