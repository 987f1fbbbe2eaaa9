"""Fork gives each plan its part of time, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.migration.fork import fork, fork_whole
from midstream.plans.snapshots import snapshot
from midstream.plans.streams import Element, just_before
from midstream.testing import elements, equivalent, is_ordered

SPLITS = st.integers(-1, 40).map(just_before)


@given(elements(), SPLITS)
def test_each_plan_gets_the_snapshots_of_its_part(stream: list[Element], split: float) -> None:
    """I3: before the split time the old plan gets the stream, from it on the new plan does; else nothing."""
    old, new = fork(stream, split)
    for instant in range(-1, 50):
        has = snapshot(stream, instant)
        assert snapshot(old, instant) == (has if instant < split else {})
        assert snapshot(new, instant) == (has if instant >= split else {})
    assert equivalent(old + new, stream)


@given(elements(), SPLITS)
def test_the_parts_are_streams(stream: list[Element], split: float) -> None:
    for part in fork(stream, split) + fork_whole(stream, split):
        assert is_ordered(part)


@given(elements(), SPLITS)
def test_the_whole_fork_keeps_the_old_plans_elements_as_they_are(stream: list[Element], split: float) -> None:
    old, new = fork_whole(stream, split)
    assert old == [element for element in stream if element[0] < split]
    assert new == fork(stream, split)[1]


@pytest.mark.parametrize("origin", [0, -(2**40), 2**52, 2**63, 10**30])
def test_cuts_are_exact_at_any_distance_from_zero(origin: int) -> None:
    """A float cannot hold every half; beyond 2**51 the split time must not be rounded to a timestamp."""
    split = just_before(origin + 5)
    old, new = fork(
        [(origin, origin + 4, "a"), (origin + 1, origin + 9, "b"), (origin + 5, origin + 6, "c")], split
    )
    assert old == [(origin, origin + 4, "a"), (origin + 1, split, "b")]
    assert new == [(split, origin + 9, "b"), (origin + 5, origin + 6, "c")]
    assert origin + 4 < split < origin + 5
