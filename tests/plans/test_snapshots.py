"""The normal form is unique: it is what a stream means, however the stream is cut."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.values.snapshots import (
    compare,
    equivalent,
    from_snapshots,
    normal_form,
    snapshot,
)
from midstream.plans.values.streams import FOREVER, Element
from midstream.plans.values.verdicts import Equivalence, SnapshotDifference
from midstream.testing import elements

PAYLOADS = st.sampled_from("ab")
STREAMS = elements(PAYLOADS, max_size=8)
HORIZON = range(-1, 60)
"""All instants at which anything changes in a generated stream, and some beyond."""


def recut(stream: list[Element], rng: random.Random) -> list[Element]:
    """The same meaning in other elements: intervals split, joined end to end, their ends exchanged; in any
    order."""
    found = list(stream)
    for _ in range(rng.randrange(12)):
        rng.shuffle(found)
        if not found:
            break
        start, end, payload = found.pop()
        inside = min(end, start + 20)
        same = next((e for e in found if e[2] == payload and e[0] <= end and start <= e[1]), None)
        if same is not None and rng.random() < 0.6:
            found.remove(same)
            if same[0] == end or same[1] == start:  # touching: join
                found.append((min(start, same[0]), max(end, same[1]), payload))
            else:  # overlapping: the later start may get the earlier end, or the other one
                starts, ends = sorted((start, same[0])), sorted((end, same[1]))
                rng.shuffle(ends)
                found += [(starts[0], ends[0], payload), (starts[1], ends[1], payload)]
        elif inside - start > 1:
            cut = rng.randrange(start + 1, inside)
            found += [(start, cut, payload), (cut, end, payload)]
        else:
            found.append((start, end, payload))
    rng.shuffle(found)
    return found


@given(STREAMS, st.randoms(use_true_random=False))
def test_the_same_snapshots_have_one_normal_form(stream: list[Element], rng: random.Random) -> None:
    assert normal_form(recut(stream, rng)) == normal_form(stream)
    assert equivalent(stream, recut(stream, rng))


@given(STREAMS, STREAMS)
def test_normal_forms_are_equal_exactly_where_all_snapshots_are(
    left: list[Element], right: list[Element]
) -> None:
    """Brute force: every instant is looked at."""
    agree = all(snapshot(left, t) == snapshot(right, t) for t in HORIZON)
    assert (normal_form(left) == normal_form(right)) == agree
    assert bool(equivalent(left, right)) == agree


@given(STREAMS)
def test_a_normal_form_says_what_is_valid_when(stream: list[Element]) -> None:
    form = normal_form(stream)
    for t in HORIZON:
        heights = {p: sum(h for start, end, h in steps if start <= t < end) for p, steps in form.items()}
        assert {p: h for p, h in heights.items() if h} == snapshot(stream, t)


@given(STREAMS)
def test_steps_are_disjoint_in_order_and_as_long_as_can_be(stream: list[Element]) -> None:
    """This makes it unique: a step ends only where the multiplicity changes."""
    for steps in normal_form(stream).values():
        assert steps
        for start, end, height in steps:
            assert start < end
            assert height > 0
        for (_, end, height), (start, _, next_height) in pairwise(steps):
            assert end < start or (end == start and height != next_height)


@given(STREAMS, STREAMS)
def test_differences_cover_every_disagreement_and_nothing_else(
    left: list[Element], right: list[Element]
) -> None:
    found = equivalent(left, right).differences
    for t in HORIZON:
        one, other = snapshot(left, t), snapshot(right, t)
        expected = {p: (one[p], other[p]) for p in {*one, *other} if one[p] != other[p]}
        told = [(d.payload, (d.left, d.right)) for d in found if d.start <= t < d.end]
        assert dict(told) == expected
        assert len(told) == len(expected)
    assert list(found) == sorted(found, key=lambda d: (d.start, d.end))


@given(STREAMS, STREAMS)
def test_comparison_is_symmetric(left: list[Element], right: list[Element]) -> None:
    def mirrored(outcome: Equivalence) -> list[SnapshotDifference]:
        return [SnapshotDifference(d.payload, d.start, d.end, d.right, d.left) for d in outcome.differences]

    assert mirrored(equivalent(left, right)) == list(equivalent(right, left).differences)
    assert not equivalent(left, left).differences


@given(STREAMS)
def test_a_stream_is_given_by_its_snapshots(stream: list[Element]) -> None:
    """What the specification relies on when it goes from instants back to a stream."""
    taken: dict[int, Counter[Any]] = {t: snapshot(stream, t) for t in HORIZON}
    assert from_snapshots(taken) == normal_form(stream)
    assert from_snapshots({}) == {}


def test_the_last_snapshot_holds_for_ever() -> None:
    assert from_snapshots({3: {"a": 1}, 4: {"a": 2}}) == {"a": ((3, 4, 1), (4, FOREVER, 2))}


def test_elements_that_cancel_leave_nothing() -> None:
    """An empty interval is no element, but a mistake that must not make streams unequal for ever."""
    assert normal_form([(4, 4, "a")]) == {}
    assert normal_form([(1, FOREVER, "a"), (1, FOREVER, "a")]) == {"a": ((1, FOREVER, 2),)}


def test_a_difference_says_who_when_and_how_many() -> None:
    assert str(SnapshotDifference("a", 3, 7, 1, 0)) == "'a' in [3, 7): 1 times on the left, 0 on the right"
    assert str(SnapshotDifference("a", 3, FOREVER, 0, 2)) == (
        "'a' in [3, for ever: 0 times on the left, 2 on the right"
    )


def test_the_verdict_is_readable_however_much_differs() -> None:
    assert str(equivalent([], [])) == "snapshot-equivalent"
    many = equivalent([(t, t + 1, t) for t in range(13)], [])
    lines = str(many).splitlines()
    assert lines[0] == "not equivalent, 13 differences:"
    assert len(lines) == 12
    assert lines[1] == "  0 in [0, 1): 1 times on the left, 0 on the right"
    assert lines[-1] == "  and 3 more"


def test_payloads_of_types_that_do_not_compare_can_be_told_apart() -> None:
    """Differences are sorted by time, then by how payloads are written."""
    left = [(1, 2, "a"), (1, 2, 7), (1, 2, None), (1, 2, ("x", 1))]
    assert [d.payload for d in equivalent(left, []).differences] == ["a", ("x", 1), 7, None]


def test_two_forms_are_compared_without_the_streams() -> None:
    assert compare({"a": ((1, 5, 2),)}, {"a": ((1, 5, 2),)})
    assert not compare({"a": ((1, 5, 2),)}, {})
