"""Fuse puts both plans together, keeps order, and loses nothing even if the plans do not mean the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import itemgetter

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from midstream.migration.fuse import Fuse, Joiner, Origins
from midstream.migration.reference_point import ReferencePoint
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time, just_before
from midstream.testing import elements, equivalent, is_ordered

SPLITS = st.integers(0, 40).map(just_before)


START = itemgetter(0)


@st.composite
def cut(draw: st.DrawFn, stream: Iterable[Element]) -> Batch:
    """The same logical stream, in which some elements end at an instant where the same goes on."""
    pieces: Batch = []
    for start, end, payload in stream:
        inner = draw(st.lists(st.integers(0, 50), max_size=2)) if draw(st.booleans()) else []
        points = sorted({start, end, *(t for t in inner if start < t < end)})
        pieces += ((one, other, payload) for one, other in pairwise(points))
    return sorted(pieces, key=START)


@dataclass
class Said:
    """What two plans say that mean the same: the old one before it is ended, and on being ended; the new."""

    stream: Batch
    split: Time
    before: Batch
    rest: Batch
    new: Batch


@st.composite
def two_plans(draw: st.DrawFn) -> Said:
    """Two plans that cut validity each in its own way."""
    kinds = st.sampled_from((elements(), elements(st.sampled_from("ab"), max_size=6)))
    stream = sorted((e for one in draw(st.lists(draw(kinds), max_size=3)) for e in one), key=START)
    split = draw(SPLITS)
    old = draw(cut(stream))
    final = draw(st.integers(0, len(old)))
    rest: Batch = []
    for start, end, payload in old[final:]:
        # What the old plan says when it is ended is right until the split time only.
        wrong = split + 0.5 + draw(st.integers(0, 9))
        rest.append((start, end if end < split else max(wrong, start + 1), payload))
    new = draw(cut((max(start, split), end, payload) for start, end, payload in stream if end > split))
    return Said(stream, split, old[:final], rest, new)


@given(two_plans(), st.data())
def test_fuse_puts_together_what_two_plans_say(said: Said, data: st.DataObject) -> None:
    """I4: every snapshot comes out once, in order, whenever the parts arrive and however each is cut."""
    split, before, new = said.split, said.before, said.new
    # Some old results came out before the migration began.
    earlier = data.draw(st.integers(0, sum(start < split for start, _, _ in before)))
    given_, before = before[:earlier], before[earlier:]
    fuse = Fuse(split, [e for e in given_ if e[1] > split])
    out: Batch = list(given_)
    is_ended = False
    promised: Time = BEGINNING
    while before or new or not is_ended:
        taken, seen = data.draw(st.integers(0, len(before))), data.draw(st.integers(0, len(new)))
        new_progress = new[seen][0] if seen < len(new) else FOREVER
        old, before = before[:taken], before[taken:]
        found = fuse.process(old, new[:seen], new_progress)
        # Before the old plan is ended, its results come at once, and no others do.
        assert is_ended or found == [e for e in old if e[0] < split]
        new = new[seen:]
        if not before and not is_ended and not data.draw(st.booleans(), label="not yet"):
            is_ended = True
            found = found + fuse.complete(said.rest, new_progress)
        out += found
        assert all(start >= promised for start, _, _ in found)
        to_come = () if is_ended else chain(before, said.rest)
        was, promised = promised, fuse.progress(min((e[0] for e in to_come), default=FOREVER), new_progress)
        assert isinstance(promised, int) or promised == FOREVER
        assert promised >= was
        assert len(fuse) == len(list(fuse)) <= fuse.bound
    out += fuse.process([], [], FOREVER)
    event(f"fused: {fuse.origins.fused > 0}")
    assert is_ordered(out)
    outcome = equivalent(out, said.stream)
    assert outcome, str(outcome)
    assert all(isinstance(t, int) or t == FOREVER for start, end, _ in out for t in (start, end))
    assert len(fuse) == 0
    assert fuse.origins.unmatched == 0


@given(two_plans(), st.data())
def test_fuse_abandons_to_what_the_old_plan_has_said(said: Said, data: st.DataObject) -> None:
    fuse = Fuse(said.split)
    taken, seen = data.draw(st.integers(0, len(said.before))), data.draw(st.integers(0, len(said.new)))
    new_progress = said.new[seen][0] if seen < len(said.new) else FOREVER
    out = fuse.process(said.before[:taken], said.new[:seen], new_progress) + fuse.abandon()
    assert out == said.before[:taken]
    assert len(fuse) == len(list(fuse)) == 0


@given(two_plans(), two_plans(), st.booleans())
def test_fuse_never_fails_on_plans_that_do_not_mean_the_same(one: Said, other: Said, is_late: bool) -> None:
    """Erratum 3: what has no counterpart comes out, in order, in whole chronons."""
    fuse = Fuse(one.split)
    new = [(max(start, one.split), end, p) for start, end, p in other.stream if end > one.split]
    out = fuse.process(one.before, [] if is_late else new, one.split)
    out += fuse.complete(one.rest, one.split)
    out += fuse.process([], new if is_late else [], one.split) + fuse.process([], [], FOREVER)
    assert is_ordered(out)
    assert all(isinstance(t, int) or t == FOREVER for start, end, _ in out for t in (start, end))
    assert len(fuse) == 0
    assert all(start < end for start, end, _ in out)


def test_equal_payloads_find_their_halves_in_order_of_start() -> None:
    fuse = Fuse(4.5)
    fuse.process([], [(4.5, 9, "a"), (4.5, 6, "a")], 4.5)
    assert fuse.complete([(1, 5, "a"), (3, 5, "a")], 4.5) == [(1, 6, "a"), (3, 9, "a")]
    assert fuse.origins == Origins(fused=2)


def test_a_promise_and_its_fragment_cancel_whichever_comes_first() -> None:
    fuse = Fuse(4.5)
    assert fuse.process([], [(4.5, 9, "a"), (4.5, 8, "a"), (6, 7, "b")], 6) == []
    assert sorted(fuse) == [(4.5, 8, "a"), (4.5, 9, "a"), (6, 7, "b")]
    assert fuse.process([(1, 9, "a")], [], 6) == [(1, 9, "a")]
    assert sorted(fuse) == [(4.5, 8, "a"), (6, 7, "b")]
    assert fuse.process([(2, 8, "a"), (3, 9, "c")], [], 6) == [(2, 8, "a"), (3, 9, "c")]
    assert sorted(fuse) == [(4.5, 9, "c"), (6, 7, "b")]


def test_a_fragment_that_outlasts_the_promise_comes_later() -> None:
    fuse = Fuse(4.5)
    fuse.process([(1, 9, "a")], [(4.5, 12, "a"), (6, 7, "b")], 6)
    assert fuse.complete([], 6) == [(6, 7, "b")]
    assert sorted(fuse) == [(4.5, 12, "a")]
    assert fuse.process([], [(9, 10, "b"), (11, 13, "a")], 11) == [(9, 12, "a"), (9, 10, "b"), (11, 13, "a")]
    assert fuse.origins == Origins(old=1, new=4)


def test_a_promise_that_outlasts_the_fragment_swallows_what_follows() -> None:
    fuse = Fuse(4.5)
    fuse.process([(1, 12, "a")], [(4.5, 7, "a")], 4.5)
    assert fuse.complete([], 5) == []
    assert fuse.process([], [(7, 9, "a"), (8, 20, "a"), (9, 15, "a")], 9) == [(8, 9, "a"), (9, 15, "a")]
    assert fuse.process([], [], 30) == [(12, 20, "a")]
    assert fuse.origins == Origins(old=1, new=3)


def test_which_fragment_is_whose_half_is_told_only_when_it_is_certain() -> None:
    """The fragment until 9 goes on under the promise, that until 5 is the half's."""
    fuse = Fuse(2.5)
    fuse.process([(1, 7, "a")], [(2.5, 9, "a")], 2.5)
    assert fuse.complete([(2, 3, "a")], 2.5) == []
    assert fuse.progress(FOREVER, 2.5) == 2
    assert fuse.process([], [(2.5, 5, "a")], 2.5) == [(2, 5, "a")]
    assert fuse.process([], [], 8) == [(7, 9, "a")]


def test_a_half_that_waits_holds_up_those_behind_it() -> None:
    fuse = Fuse(4.5)
    assert fuse.complete([(1, 5, "a"), (2, 3, "b")], 4.5) == []
    assert fuse.progress(FOREVER, 4.5) == 1
    assert sorted(fuse) == [(1, 4.5, "a"), (2, 3, "b")]
    assert fuse.process([], [(4.5, 5, "a")], 4.5) == [(1, 5, "a"), (2, 3, "b")]
    assert fuse.progress(FOREVER, 4.5) == 5


def test_old_results_from_beyond_the_split_time_are_the_new_plans_to_say() -> None:
    fuse, point = Fuse(4.5), ReferencePoint(4.5)
    for joiner in (fuse, point):
        assert joiner.process([(4, 5, "a"), (5, 9, "b")], [(5, 9, "b")], 5) == [(4, 5, "a")]
        assert joiner.progress(7, 5) == 5
        assert joiner.complete([(6, 7, "c")], 6) == [(5, 9, "b")]


def test_the_split_time_never_shows_in_progress() -> None:
    assert Fuse(4.5).progress(4.5, 4.5) == 5
    assert ReferencePoint(4.5).progress(4.5, 4.5) == 5


@pytest.mark.parametrize("origin", [0, 2**60])
def test_fragments_without_another_half_still_come_out(origin: int) -> None:
    """Erratum 3; and to whole chronons, of which the one with the split time is the old plan's."""
    split = just_before(origin + 5)
    fuse = Fuse(split)
    new = [(split, origin + 5, "c"), (split, origin + 9, "d"), (origin + 6, origin + 7, "e")]
    fuse.process([(origin, origin + 20, "f")], new, split)
    out = fuse.complete([(origin + 1, origin + 9, "a"), (origin + 2, origin + 3, "b")], split)
    out += fuse.process([], [], FOREVER)
    assert out == [
        (origin + 1, origin + 5, "a"),
        (origin + 2, origin + 3, "b"),
        (origin + 5, origin + 9, "d"),
        (origin + 6, origin + 7, "e"),
    ]
    assert fuse.origins == Origins(old=2, new=1, fused=0, unmatched=4)
    assert len(fuse) == 0


def test_new_fragments_do_not_overtake_old_results_that_wait() -> None:
    fuse = Fuse(4.5)
    fuse.process([], [(4.5, 9, "x")], 4.5)
    assert fuse.complete([(1, 5, "a")], 4.5) == []
    assert fuse.process([], [], 5) == [(1, 5, "a"), (5, 9, "x")]


def test_a_reference_point_takes_new_results_that_start_after_the_split() -> None:
    point = ReferencePoint(4.5)
    assert point.process([(1, 9, "a")], [(4.5, 9, "a")], 4.5) == [(1, 9, "a")]
    assert point.process([], [(5, 6, "b")], 5) == []
    assert len(point) == len(list(point)) == 1 <= point.bound
    assert point.process([], [(7, 8, "d")], 7) == []
    assert point.complete([(3, 8, "c")], 7) == [(3, 8, "c"), (5, 6, "b"), (7, 8, "d")]
    assert len(point) == 0
    assert (point.origins.old, point.origins.new) == (2, 2)


def test_an_abandoned_reference_point_gives_what_the_old_plan_has_said() -> None:
    point = ReferencePoint(4.5)
    assert point.process([(1, 9, "a"), (6, 7, "b")], [(5, 6, "c")], 5) == [(1, 9, "a")]
    assert point.abandon() == [(6, 7, "b")]
    assert len(point) == 0


@pytest.mark.parametrize("joiner", [Fuse(4.5), ReferencePoint(4.5)])
def test_what_is_held_from_beyond_the_split_time_is_still_to_come(joiner: Joiner) -> None:
    """Either plan will give it; as long as nothing is held, both are believed."""
    assert joiner.progress(FOREVER, 4.5) == 5
    assert joiner.progress(9, 12) == 9
    joiner.process([], [(8, 9, "b")], 12)
    assert joiner.progress(9, 12) == 8
    joiner.process([(7, 9, "b")], [], 12)
    assert joiner.progress(9, 12) == 7
    assert joiner.complete([], 12) == [(8, 9, "b")]
    assert joiner.progress(FOREVER, 12) == 12
