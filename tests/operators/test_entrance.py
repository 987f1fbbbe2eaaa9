"""Disorder and bad elements at an engine's inputs (thesis, 13.5)."""

from __future__ import annotations

import random
from collections import Counter
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import graph_of

import midstream as ms
from midstream.driving import run
from midstream.engine import Engine
from midstream.operators.engine.input.input_manager import DeadLetter
from midstream.plans.algebra.builder import stream
from midstream.plans.values.errors import (
    ArgumentError,
    IntervalError,
    LateElementError,
    MidstreamError,
    StreamOrderError,
)
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time, chronons
from midstream.testing import elements, is_ordered, rows

BIDS = stream("bids", item="integer", price="float?")
QUERY = BIDS.window(10).distinct().plan()


@given(elements(rows(2), chronons=True), st.integers(0, 6), st.integers(0, 10**6), st.integers(1, 5))
def test_disorder_within_the_slack_is_no_matter(
    bids: list[Element], slack: int, seed: int, size: int
) -> None:
    """Whatever the order of arrival, the results are those of the stream in order."""
    rng = random.Random(seed)
    arrived = sorted(bids, key=lambda e: e[0] + rng.uniform(0, slack))
    plan = stream("bids", item="integer", price="integer").window(10).distinct().plan()
    results: list = []
    engine = Engine(plan, results.extend, slack={"bids": slack})
    for at in range(0, len(arrived), size):
        engine.push("bids", arrived[at : at + size])
    assert engine.counters().elements == len(bids)
    engine.close()
    assert equivalent(results, run(plan, {"bids": bids}))
    assert is_ordered(results)
    assert engine.size() == 0


def test_what_waits_is_counted_as_state() -> None:
    engine = Engine(QUERY, slack={"bids": 5})
    engine.push("bids", chronons([(10, (1, 1.0)), (8, (2, 1.0))]))
    assert engine.size() == 2
    assert engine.progress() == 5
    engine.advance("bids", 8)
    assert engine.progress() == 8
    assert engine.size() == 2


def test_what_is_late_raises() -> None:
    with pytest.raises(StreamOrderError, match=r"starts at 3 after progress 4$"):
        Engine(QUERY).push("bids", chronons([(4, (1, 1.0)), (3, (1, 1.0))]))
    engine = Engine(QUERY, slack={"bids": 2})
    with pytest.raises(LateElementError, match="starts at 3 after progress 7; declared: slack 2"):
        engine.push("bids", chronons([(9, (1, 1.0)), (3, (1, 1.0))]))
    assert engine.counters().elements == 0


def test_heartbeats_alone_can_order_a_stream() -> None:
    results: list = []
    engine = Engine(QUERY, results.extend, slack={"bids": FOREVER})
    engine.push("bids", chronons([(9, (1, 1.0)), (3, (2, 1.0))]))
    assert (results, engine.progress()) == ([], BEGINNING)
    engine.advance("bids", 5)
    assert results == [(3, 13, (2, 1.0))]


def test_a_silent_stream_advances_with_the_time() -> None:
    """A join does not wait for a side that is known to be silent."""
    asks = stream("asks", sought="integer").window(10)
    query = BIDS.window(10).join(asks, on=[("item", "sought")]).plan()
    results: list = []
    engine = Engine(query, results.extend, delay={"asks": 3})
    engine.push("asks", chronons([(4, (1,))]))
    engine.push("bids", chronons([(9, (1, 1.0))]))
    assert results == []
    engine.tick(11)
    assert results == []
    engine.tick(12)
    assert results == [(9, 14, (1, 1.0, 1))]


def test_what_cannot_be_taken_becomes_a_dead_letter() -> None:
    results: list = []
    letters: list[DeadLetter] = []
    engine = Engine(QUERY, results.extend, dead_letters=letters.extend)
    bad = [
        (5, 5, (1, 1.0)),
        (5, 7, (1, 1.0)),
        (5, 6, (1, "dear")),
        (5, 6, (None, 1.0)),
        (5, 6, (True, 1.0)),
        (5, 6, (1, float("nan"))),
        (5, 6, [1, 1.0]),
        (5.0, 6, (1, 1.0)),
        [5, 6, (1, 1.0)],
        (5, 6),
        7,
        (3, 4, (1, 1.0)),
    ]
    engine.push("bids", [(4, 5, (1, 1.0)), *bad, (5, 6, (2, None)), (6, 7, (2, 3))])
    engine.end("bids")
    engine.push("bids", [(9, 10, (1, 1.0))])
    assert [letter.element for letter in letters] == [*bad, (9, 10, (1, 1.0))]
    assert [letter.reason for letter in letters] == [
        *["interval"] * 2,
        *["schema"] * 5,
        *["interval"] * 4,
        "late",
        "ended",
    ]
    assert results == [(4, 14, (1, 1.0)), (5, 15, (2, None)), (6, 16, (2, 3))]
    counters = engine.counters()
    assert counters.elements == 3
    assert counters.dead_letters == {
        "ended": 1,
        "interval": 6,
        "late": 1,
        "schema": 5,
    }


ODD = st.lists(
    st.tuples(
        st.sampled_from((0, 1, 1.0, True)),
        st.sampled_from((1, 2, 2.0, FOREVER, float("nan"))),
        st.one_of(
            st.tuples(st.sampled_from((1, True, None, 1.0)), st.sampled_from((1, 1.5, None, "x", True))),
            st.sampled_from(((1,), (1, 2, 3), [1, 1.0], None)),
        ),
    ),
    min_size=1,
    max_size=3,
)
KINDS = st.sampled_from(["integer", "integer?", "float", "float?", "boolean", "string?", "any", "any?"])


@given(ODD, st.booleans(), KINDS, st.sampled_from((BEGINNING, 0, 1, 2, FOREVER)))
def test_the_quick_look_agrees_with_the_thorough_check(
    batch: list, intervals: bool, kind: str, progress: Time
) -> None:
    """It never passes what the other refuses, costs nothing where all is well, and sees the order."""
    query = stream("s", {"x": kind, "y": "float?"}, intervals=intervals)
    engine = Engine(query.plan(), slack={"s": 9})
    entrance = graph_of(engine).entrances["s"]
    try:
        entrance._check(batch)
        is_right = True
    except MidstreamError:
        is_right = False
    try:
        is_sound, in_order, _ = entrance._look(batch, progress)
    except Exception:
        is_sound = in_order = False
    assert is_sound <= is_right
    if is_right and all(type(e[1]) is int for e in batch):
        assert is_sound
    starts = [progress, *(e[0] for e in batch)]
    assert in_order == (is_sound and starts == sorted(starts))


@given(ODD, st.booleans(), KINDS, st.sampled_from((None, 0, 1, FOREVER)), st.integers(1, 3), st.booleans())
def test_what_is_taken_does_not_depend_on_batches(
    arrived: list, intervals: bool, kind: str, slack: Time | None, size: int, is_ordered: bool
) -> None:
    """The same results, dead letters and progress, whether elements come one by one or together."""
    query = stream("s", {"x": kind, "y": "float?"}, intervals=intervals).plan()
    arrived = arrived * 3
    if is_ordered:
        arrived.sort(key=itemgetter(0))

    def outcome(size: int) -> tuple[list, list, Time, Time]:
        results: list = []
        letters: list[DeadLetter] = []
        engine = Engine(
            query, results.extend, slack=slack if slack is None else {"s": slack}, dead_letters=letters.extend
        )
        for at in range(0, len(arrived), size):
            engine.push("s", arrived[at : at + size])
        told = engine.progress(), graph_of(engine).entrances["s"].max_end
        engine.close()
        found = Counter((repr(letter.element), letter.reason) for letter in letters)
        return results, sorted(found.items()), *told

    assert outcome(size + 1) == outcome(1)


def test_bounds_are_checked_when_the_stream_is_first_read() -> None:
    with pytest.raises(IntervalError, match="found slack -1"):
        Engine(QUERY, slack={"bids": -1})


@pytest.mark.parametrize("what", ["slack", "delay"])
def test_disorder_and_latency_are_declared_of_streams_that_there_are(what: str) -> None:
    with pytest.raises(ArgumentError, match=rf"{what}: found stream 'bidz', .*did you mean bids\?"):
        Engine(QUERY, **{what: {"bids": 5, "bidz": 5}})  # type: ignore[arg-type]
    # Without a plan they may be of streams that a later query reads.
    engine = Engine(**{what: {"bids": 5, "asks": 5}})  # type: ignore[arg-type]
    engine.add(QUERY)
    engine.push("bids", [])


@pytest.mark.parametrize("streams", [{}, {"a": []}, {"A": [], "b": []}, {"a": [(1, 2, (1,))], "c": []}])
def test_run_needs_the_elements_of_every_stream(streams: dict[str, list[Element]]) -> None:
    a, b = (ms.stream(name, x="integer").window(5) for name in "ab")
    with pytest.raises(ArgumentError, match=r"run: found no stream [ab] among .*, or \[\]"):
        ms.run(a.union(b), streams)
    assert ms.run(a.union(b), {"a": [], "b": [(1, 2, (1,))]}) == [(1, 6, (1,))]
