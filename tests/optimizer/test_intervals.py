"""Intervals of shares are in order, and say nothing where they know nothing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer.sampling.drawing import Drawn
from midstream.optimizer.sampling.intervals import Interval, Member, share_of_pairs, share_of_rows
from midstream.plans.values.errors import ArgumentError, StatisticsError


@st.composite
def samples(draw: st.DrawFn) -> tuple[list[Member], list[Member]]:
    """Both sides of a table of pairs: 0 is a pair that is not valid together, 2 one that matches."""
    width = draw(st.integers(0, 8))
    table = draw(st.lists(st.lists(st.sampled_from([0, 1, 2]), min_size=width, max_size=width), max_size=8))
    columns = list(zip(*table, strict=True)) if table else []
    left, right = (
        [Member(sum(cell == 2 for cell in line), sum(cell > 0 for cell in line)) for line in side]
        for side in (table, columns)
    )
    return left, right


@given(samples())
def test_an_interval_is_around_the_share_that_was_found(sides: tuple[list[Member], list[Member]]) -> None:
    found = share_of_pairs(*sides)
    assert 0 <= found.low <= found.value <= found.high <= 1


@given(samples())
def test_pairs_that_match_and_others_are_told_alike(sides: tuple[list[Member], list[Member]]) -> None:
    left, right = sides
    found = share_of_pairs(left, right)
    others = share_of_pairs(*([Member(m.partners - m.matches, m.partners) for m in side] for side in sides))
    if 2 * sum(each.matches for each in left) != sum(each.partners for each in left):
        expected = (1 - others.value, 1 - others.high, 1 - others.low)
        assert all(map(math.isclose, (found.value, found.low, found.high), expected))


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_interval_of_rows_is_around_their_share(holding: int, others: int) -> None:
    found = share_of_rows(holding, holding + others)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_nothing_is_told_by_no_pairs() -> None:
    assert share_of_pairs([], []) == Interval(0.5, 0.0, 1.0)
    assert not share_of_pairs([Member(0, 0)], []).is_known


def test_nothing_is_told_by_two_elements_a_side() -> None:
    """Whatever they match: an element that matches everything is easily missed."""
    both = [Member(1, 2), Member(1, 2)]
    assert not share_of_pairs(both, both).is_known
    none = [Member(0, 2), Member(0, 2)]
    assert not share_of_pairs(none, none).is_known


def test_no_match_among_many_pairs_is_told_by_the_elements_not_by_the_pairs() -> None:
    """100 elements a side are 10,000 pairs. Of 3 elements in 100 that match everything, a sample of 100 has
    none once in 20 times."""
    side = [Member(0, 100)] * 100
    found = share_of_pairs(side, side)
    assert found.low == 0
    assert 0.028 < found.high < 0.031


def test_pairs_of_one_element_tell_less_than_as_many_of_several() -> None:
    """100 matches of 10 elements and of 100: the fewer there are, the wider the interval."""
    one_each, ten_each = [Member(1, 100)] * 100, [Member(10, 100)] * 10 + [Member(0, 100)] * 90
    spread, gathered = share_of_pairs(one_each, one_each), share_of_pairs(ten_each, one_each)
    assert spread.value == gathered.value == 0.01
    assert gathered.high - gathered.low > 2 * (spread.high - spread.low)


def test_samples_that_are_not_of_the_same_pairs_are_refused() -> None:
    with pytest.raises(StatisticsError, match=r"found 1.0 of 2.0 by the left elements"):
        share_of_pairs([Member(1, 2)], [Member(1, 3)])


@pytest.mark.parametrize("share", [0, -0.1, 1.5])
def test_a_share_to_draw_is_above_0_and_up_to_1(share: float) -> None:
    with pytest.raises(ArgumentError, match="sample: found the share"):
        Drawn("left", share)


def test_seeds_draw_independently() -> None:
    one, other = Drawn("1", 0.2), Drawn("2", 0.2)
    both = sum(one(i) and other(i) for i in range(20_000))
    assert 720 < both < 880, "expected 4 %"


def test_equal_rows_are_drawn_together_whatever_their_numbers_are_made_of() -> None:
    drawn = Drawn("left", 0.5)
    assert all(drawn(i, "x") == drawn(float(i), "x") for i in range(100))
    assert drawn(True) == drawn(1)
    assert drawn("\ud800") in (True, False)
