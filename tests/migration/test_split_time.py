"""The split time lies beyond everything that the old plan has been given, and on no timestamp."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.migration.split_time import split_time
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER

TIMES = st.one_of(st.integers(), st.integers(2**50, 2**54), st.integers(-(2**54), -(2**50)))


@given(st.lists(st.one_of(st.just(BEGINNING), TIMES), min_size=1))
def test_it_lies_inside_the_chronon_behind_the_last_instant(max_ends: list) -> None:
    """I5."""
    split = split_time(max_ends)
    latest = max(max_ends)
    if latest == BEGINNING:
        assert split == BEGINNING
    else:
        assert latest < split < latest + 1


def test_what_is_valid_for_ever_has_no_last_instant() -> None:
    with pytest.raises(MigrationRefused, match="valid for ever"):
        split_time([3, FOREVER])


def test_nothing_was_seen() -> None:
    assert split_time([]) == split_time([BEGINNING]) == BEGINNING
