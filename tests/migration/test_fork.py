"""Fork gives the new plan its part of time, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.migration.fork import EVERYTHING, fork
from midstream.plans.values.snapshots import snapshot
from midstream.plans.values.streams import FOREVER, Element, just_before
from midstream.testing import elements, is_ordered

SPLITS = st.integers(-1, 40).map(just_before)


@given(elements(), SPLITS)
def test_the_new_plan_gets_the_snapshots_of_its_part(stream: list[Element], split: float) -> None:
    """I3: from the split time on the new plan gets the stream, before it nothing; and as a stream."""
    new = fork(split)(stream, FOREVER)
    for instant in range(-1, 50):
        assert snapshot(new, instant) == (snapshot(stream, instant) if instant >= split else {})
    assert is_ordered(new)


@given(elements(), SPLITS, st.integers(0, 40))
def test_batches_do_not_matter(stream: list[Element], split: float, cut: int) -> None:
    one = fork(split)
    assert one(stream[:cut], 0) + one(stream[cut:], FOREVER) == fork(split)(stream, FOREVER)


@given(elements())
def test_a_fork_may_give_everything(stream: list[Element]) -> None:
    assert EVERYTHING(stream, FOREVER) == stream


@pytest.mark.parametrize("origin", [0, -(2**40), 2**52, 2**63, 10**30])
def test_cuts_are_exact_at_any_distance_from_zero(origin: int) -> None:
    """A float cannot hold every half; beyond 2**51 the split time must not be rounded to a timestamp."""
    split = just_before(origin + 5)
    batch = [(origin, origin + 4, "a"), (origin + 1, origin + 9, "b"), (origin + 5, origin + 6, "c")]
    assert fork(split)(batch, origin + 5) == [(split, origin + 9, "b"), (origin + 5, origin + 6, "c")]
    assert origin + 4 < split < origin + 5
