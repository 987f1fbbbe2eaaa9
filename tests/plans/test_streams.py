"""Instants between chronons are exact, for integers of any size and sign."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.plans.values.streams import BEGINNING, FOREVER, chronon_end, chronons, just_before

SIZES = [2**51, 2**53, 2**60, 2**63, 2**64, 10**30, 10**400]
NEAR = st.builds(
    lambda size, by, sign: sign * (size + by),
    st.sampled_from(SIZES),
    st.integers(-3, 3),
    st.sampled_from((1, -1)),
)
INTEGERS = st.one_of(st.integers(), NEAR)


@given(INTEGERS)
@example(10**400)
def test_an_instant_just_before_lies_inside_the_chronon(end: int) -> None:
    """So it equals no timestamp; a float would be rounded to one beyond 2**52."""
    instant = just_before(end)
    assert end - 1 < instant < end
    assert instant not in (end - 1, end)
    assert chronon_end(instant) == end
    assert BEGINNING < instant < FOREVER


@given(INTEGERS, INTEGERS)
def test_instants_are_ordered_as_their_chronons_are(one: int, other: int) -> None:
    """Whether a float or a fraction stands for them."""
    assert (just_before(one) < just_before(other)) == (one < other)
    assert (just_before(one) < other) == (one <= other)
    assert (just_before(one) == just_before(other)) == (one == other)


@given(INTEGERS)
def test_an_integer_ends_its_own_chronon(instant: int) -> None:
    assert chronon_end(instant) == instant
    assert type(chronon_end(instant)) is int


@pytest.mark.parametrize("instant", [FOREVER, BEGINNING])
def test_what_lies_beyond_time_stays(instant: float) -> None:
    assert chronon_end(instant) == instant


@given(INTEGERS)
def test_an_end_is_a_plain_integer(end: int) -> None:
    """No finer instant may leak into results."""
    assert type(chronon_end(just_before(end))) is int


@given(st.lists(st.tuples(INTEGERS, st.text())))
def test_a_raw_row_is_valid_for_the_chronon_of_its_timestamp(rows: list[tuple[int, str]]) -> None:
    """Section 6.5.1."""
    made = list(chronons(rows))
    assert [(start, payload) for start, _, payload in made] == rows
    assert all(end - start == 1 for start, end, _ in made)
