"""Split and coalesce: inside chronons, without end, after long silence, and against each other."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.driving import run
from midstream.operators.base.operator import Operator
from midstream.operators.windows import arrangements
from midstream.operators.windows.arrangements import Coalesce, Split
from midstream.plans.algebra.builder import stream
from midstream.plans.values.errors import IntervalError
from midstream.plans.values.snapshots import equivalent, normal_form
from midstream.plans.values.streams import FOREVER, Element, just_before
from midstream.testing import elements, is_ordered

S = stream("s", x="integer", y="integer", intervals=True)


def results(operator: Operator, batch: list[Element], size: int = 1) -> list[Element]:
    """In batches of a size, and then the end."""
    out: list[Element] = []
    for i in range(0, len(batch), size):
        out += operator.push(0, batch[i : i + size])
    return out + operator.end(0)


def put_together(old: list[Element], new: list[Element], at: object) -> list[Element]:
    """The results of two plans, with the fragments that meet at the split time made one (erratum 3)."""
    waiting = Counter((payload, start) for start, end, payload in old if end == at)
    whole = [element for element in old if element[1] != at]
    for start, end, payload in new:
        partner = next((key for key in waiting if start == at and key[0] == payload), None)
        if partner is None:
            whole.append((start, end, payload))
        else:
            whole.append((partner[1], end, payload))
            waiting -= Counter([partner])
    return whole + [(start, at, payload) for payload, start in waiting.elements()]


@given(complete=elements(forever=False), length=st.integers(1, 4), cut=st.integers(1, 20), far=st.booleans())
def test_the_pieces_of_both_plans_of_a_migration_meet(
    complete: list[Element], length: int, cut: int, far: bool
) -> None:
    """A migration gives the old plan what is before an instant inside a chronon, and the new one the rest:
    the pieces that meet there are no longer than others, and if they are to be chronons, the very same."""
    by = 2**60 if far else 0
    moved = [(start + by, end + by, payload) for start, end, payload in complete]
    at = just_before(cut + by)
    assert isinstance(at, Fraction) is far
    old = [(start, min(end, at), payload) for start, end, payload in moved if start < at]
    new = sorted(((max(start, at), end, e) for start, end, e in moved if end > at), key=lambda x: x[0])
    pieces = [results(Split(length), part) for part in (old, new)]
    assert all(map(is_ordered, pieces))
    found = put_together(*pieces, at)
    assert equivalent(found, moved)
    assert all(type(start) is int and type(end) is int for start, end, _ in found)
    assert all(end <= start + length for start, end, _ in found)
    if length == 1:
        assert Counter(found) == Counter(results(Split(1), moved))


def test_inside_a_chronon_the_first_piece_ends_with_it() -> None:
    assert results(Split(3), [(2.5, 9, "a")]) == [(2.5, 3, "a"), (3, 6, "a"), (6, 9, "a")]
    assert results(Split(3), [(2.5, 3, "a")]) == [(2.5, 3, "a")]
    assert results(Split(1), [(2.5, 4.5, "a")]) == [(2.5, 3, "a"), (3, 4, "a"), (4, 4.5, "a")]
    assert results(Split(3), [(2, 4.5, "a"), (4, 4.5, "b")]) == [(2, 4.5, "a"), (4, 4.5, "b")]


def test_an_integer_that_is_a_float_is_an_integer() -> None:
    assert results(Split(2), [(2.0, 5, "a")]) == [(2, 4, "a"), (4, 5, "a")]


@pytest.mark.slow
def test_too_many_pieces_at_once_are_refused() -> None:
    """Not the long validity itself: its pieces, where time goes on a lot at once."""
    split = Split(1)
    assert split.push(0, [(0, 10**17, "a")]) == [(0, 1, "a")]
    assert len(split.advance(0, 1000)) == 1000
    with pytest.raises(IntervalError, match="more than 2,000,000 pieces to cut at once, up to inf"):
        split.end(0)


def test_as_many_pieces_as_may_be_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrangements, "MOST_PIECES", 3)
    assert results(Split(1), [(1, 2, "b"), (4, 8, "a")])[1:] == [(t, t + 1, "a") for t in range(4, 8)]
    split = Split(1)
    split.push(0, [(4, 9, "a")])
    with pytest.raises(IntervalError, match="more than 3 pieces"):
        split.end(0)


@pytest.mark.parametrize("batch", [[(3, FOREVER, (1,))], [(3, 4, (2,)), (5, FOREVER, (1,))]])
def test_what_never_ends_cannot_be_cut_into_chronons(batch: list[Element]) -> None:
    """Nothing of the batch is taken."""
    split = Split(1)
    split.push(0, [(1, 9, (0,))])
    with pytest.raises(IntervalError, match=r"port 0: found .*\(1,\)\), which is valid for ever") as refused:
        split.push(0, batch)
    assert refused.value.element == batch[-1]
    assert (split.size(), split.progress()) == (1, 1)
    assert split.advance(0, 3) == [(2, 3, (0,)), (3, 4, (0,))]


def test_what_never_ends_cannot_be_under_a_window_either() -> None:
    """The planner has put a split between them."""
    plan = stream("r", x="integer").last(1).window(5).plan()
    with pytest.raises(IntervalError, match="cannot be cut into chronons"):
        run(plan, {"r": [(1, 2, (7,)), (4, 5, (8,))]})


def test_what_never_ends_gives_pieces_as_long_as_the_stream_lasts() -> None:
    """And then one more."""
    split = Split(10)
    assert split.push(0, [(1, FOREVER, "a")]) == [(1, 11, "a")]
    assert split.advance(0, 10) == []
    assert split.advance(0, 25) == [(11, 21, "a"), (21, 31, "a")]
    assert (split.size(), list(split.state())) == (1, [(31, FOREVER, "a")])
    assert split.end(0) == [(31, FOREVER, "a")]
    assert split.size() == 0


def test_only_pieces_that_have_begun_are_made() -> None:
    """However long an element is, and whatever lies between two instants of its input."""
    split = Split(1)
    assert split.push(0, [(0, 10**100, "a")]) == [(0, 1, "a")]
    assert len(split.advance(0, 1000)) == 1000
    assert split.size() == 1
    other = Split(10**50)
    other.push(0, [(0, 10**60, "b")])
    assert other.advance(0, 10**50) == [(10**50, 2 * 10**50, "b")]


@given(complete=elements(), length=st.integers(2, 5), size=st.integers(1, 5))
def test_no_piece_is_too_long_but_the_last_of_what_never_ends(
    complete: list[Element], length: int, size: int
) -> None:
    for start, end, _ in results(Split(length), complete, size):
        assert end <= start + length or end == FOREVER


@given(complete=elements(), longest=st.integers(1, 15))
def test_coalesce_delays_by_its_length_at_most(complete: list[Element], longest: int) -> None:
    coalesce = Coalesce(longest)
    for element in complete:
        coalesce.push(0, [element])
        assert coalesce.progress() >= element[0] - longest


@given(complete=elements(forever=False))
def test_coalesce_puts_together_what_split_has_cut(complete: list[Element]) -> None:
    """Of rows that are valid once at a time, into the longest intervals that there are."""
    steps = normal_form(complete)
    rows = sorted(((s, e, x) for x, found in steps.items() for s, e, _ in found), key=lambda r: r[0])
    longest = sorted(
        ((s, e, x) for x, found in normal_form(rows).items() for s, e, _ in found), key=lambda r: r[0]
    )
    plan = S.split(1).coalesce(1000).plan()
    assert sorted(run(plan, {"s": rows})) == sorted(longest)


def test_coalesce_goes_on_at_the_very_instant_and_not_behind_it() -> None:
    assert results(Coalesce(9), [(1, 3, "a"), (3, 5, "a")]) == [(1, 5, "a")]
    assert results(Coalesce(9), [(1, 3, "a"), (4, 5, "a")]) == [(1, 3, "a"), (4, 5, "a")]
    assert results(Coalesce(9), [(1, 3, "a"), (3, 5, "b")]) == [(1, 3, "a"), (3, 5, "b")]
    assert results(Coalesce(9), [(1, 3, "a"), (2, 5, "a")]) == [(1, 3, "a"), (2, 5, "a")]


def test_one_of_several_goes_on() -> None:
    """As often as there are elements that start where others end; the one kept last comes first."""
    batch = [(0, 5, "a"), (2, 5, "a"), (5, 6, "a")]
    assert results(Coalesce(9), batch) == [(0, 5, "a"), (2, 6, "a")]
    assert results(Coalesce(9), [*batch, (5, 7, "a"), (5, 8, "a")]) == [
        (0, 7, "a"),
        (2, 6, "a"),
        (5, 8, "a"),
    ]


def test_an_element_of_the_full_length_goes_on_no_longer() -> None:
    coalesce = Coalesce(4)
    assert coalesce.push(0, [(0, 4, "a")]) == [(0, 4, "a")]
    assert coalesce.push(0, [(4, 6, "a")]) == []
    assert coalesce.push(0, [(6, 8, "a")]) == [(4, 8, "a")]
    assert coalesce.push(0, [(8, 11, "a")]) == []
    assert coalesce.push(0, [(11, 50, "a")]) == [(8, 50, "a")]
    assert coalesce.push(0, [(50, FOREVER, "a")]) == [(50, FOREVER, "a")]
    assert coalesce.size() == 0


def test_an_element_leaves_when_nothing_can_start_at_its_end_any_more() -> None:
    coalesce = Coalesce(100)
    coalesce.push(0, [(0, 5, "a")])
    assert coalesce.advance(0, 5) == []
    assert coalesce.advance(0, 6) == [(0, 5, "a")]


def test_one_that_is_long_enough_keeps_the_place_of_those_that_are_not() -> None:
    """Both end at 10 with equal payloads; only the one that is shorter than allowed goes on."""
    coalesce = Coalesce(8)
    assert coalesce.push(0, [(2, 10, "a"), (5, 10, "a")]) == [(2, 10, "a")]
    assert coalesce.push(0, [(10, 11, "a")]) == []
    assert coalesce.end(0) == [(5, 11, "a")]


def test_coalesce_merges_inside_a_chronon() -> None:
    """What a migration has cut."""
    assert results(Coalesce(9), [(1, 2.5, "a"), (Fraction(5, 2), 4, "a")]) == [(1, 4, "a")]
