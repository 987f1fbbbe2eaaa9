"""Fuse puts fragments together, keeps order, and loses nothing even if the plans do not mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.migration.fork import fork
from midstream.migration.fuse import Fuse, Origins, ReferencePoint
from midstream.plans.streams import FOREVER, Element, Time, just_before
from midstream.testing import elements, equivalent, is_ordered

SPLITS = st.integers(0, 40).map(just_before)


@given(st.lists(elements(), max_size=3), SPLITS, st.data())
def test_fuse_undoes_fork(streams: list[list[Element]], split: float, data: st.DataObject) -> None:
    """I4: whatever is cut comes out whole, in order, whenever the parts arrive."""
    stream = sorted((element for one in streams for element in one), key=lambda element: element[0])
    old, new = fork(stream, split)
    fuse = Fuse(split)
    out: list[Element] = []
    while old or new:
        taken, seen = data.draw(st.integers(0, len(old))), data.draw(st.integers(0, len(new)))
        new_progress = new[seen][0] if seen < len(new) else FOREVER
        is_old_done = taken == len(old) and data.draw(st.booleans())
        out += fuse.process(old[:taken], new[:seen], is_old_done, new_progress)
        old, new = old[taken:], new[seen:]
        promised = fuse.progress(old[0][0] if old else split, new_progress)
        assert isinstance(promised, int) or promised == FOREVER
        assert len(fuse) == len(list(fuse))
    out += fuse.process([], [], True, FOREVER)
    assert is_ordered(out)
    assert equivalent(out, stream)
    assert len(fuse) == 0
    assert fuse.origins.unmatched == 0
    assert sorted(out, key=repr) == sorted(stream, key=repr)


def fused(old: list[Element], new: list[Element], split: Time) -> tuple[list[Element], Fuse]:
    fuse = Fuse(split)
    out = fuse.process(old, new, False, split)
    out += fuse.process([], [], True, split)
    out += fuse.process([], [], True, FOREVER)
    assert fuse.process([], [], True, FOREVER) == []
    return out, fuse


def test_equal_payloads_find_their_halves_in_order_of_start() -> None:
    out, fuse = fused([(1, 4.5, "a"), (3, 4.5, "a")], [(4.5, 9, "a"), (4.5, 6, "a")], 4.5)
    assert out == [(1, 9, "a"), (3, 6, "a")]
    assert fuse.origins == Origins(fused=2)


def test_a_half_that_comes_first_waits_for_the_other() -> None:
    fuse = Fuse(4.5)
    assert fuse.process([], [(4.5, 9, "a"), (4.5, 8, "a"), (6, 7, "b")], False, 4.5) == []
    assert len(fuse) == 3
    assert sorted(fuse) == [(4.5, 8, "a"), (4.5, 9, "a"), (6, 7, "b")]
    assert fuse.process([(1, 4.5, "a")], [], False, 6) == [(1, 9, "a")]
    assert fuse.process([(2, 4.5, "a")], [], False, 6) == [(2, 8, "a")]
    assert fuse.process([], [], True, 6) == [(6, 7, "b")]


def test_results_behind_one_that_waits_wait_too() -> None:
    fuse = Fuse(4.5)
    assert fuse.process([(1, 4.5, "a"), (2, 3, "b")], [], False, 4.5) == []
    assert fuse.progress(4, 4.5) == 1
    assert sorted(fuse) == [(1, 4.5, "a"), (2, 3, "b")]
    assert fuse.process([], [(4.5, 5, "a")], False, 4.5) == [(1, 5, "a"), (2, 3, "b")]
    assert fuse.progress(4, 4.5) == 4


def test_the_split_time_never_shows_in_progress() -> None:
    assert Fuse(4.5).progress(4.5, 4.5) == 5
    assert ReferencePoint(4.5).progress(4.5, 4.5) == 5


@pytest.mark.parametrize("origin", [0, 2**60])
def test_fragments_without_another_half_still_come_out(origin: int) -> None:
    """Erratum 3; and to whole chronons, of which the one with the split time is the old plan's."""
    split = just_before(origin + 5)
    old = [(origin + 1, split, "a"), (origin + 2, origin + 3, "b")]
    new = [(split, origin + 5, "c"), (split, origin + 9, "d"), (origin + 6, origin + 7, "e")]
    out, fuse = fused(old, new, split)
    assert out == [
        (origin + 1, origin + 5, "a"),
        (origin + 2, origin + 3, "b"),
        (origin + 5, origin + 9, "d"),
        (origin + 6, origin + 7, "e"),
    ]
    assert fuse.origins == Origins(old=1, new=1, fused=0, unmatched=3)
    assert len(fuse) == 0


def test_new_fragments_do_not_overtake_old_results_that_wait() -> None:
    fuse = Fuse(4.5)
    assert fuse.process([(1, 4.5, "a")], [(4.5, 9, "x")], True, 4.5) == []
    assert fuse.process([], [], True, 5) == [(1, 5, "a"), (5, 9, "x")]


def test_a_reference_point_takes_new_results_that_start_after_the_split() -> None:
    point = ReferencePoint(4.5)
    assert point.process([(1, 9, "a")], [(4.5, 9, "a")], False, 4.5) == [(1, 9, "a")]
    assert point.process([], [(5, 6, "b")], False, 5) == []
    assert len(point) == len(list(point)) == 1
    assert point.process([(3, 8, "c")], [(7, 8, "d")], True, 7) == [(3, 8, "c"), (5, 6, "b"), (7, 8, "d")]
    assert len(point) == 0
    assert (point.origins.old, point.origins.new) == (2, 2)
