"""A time-varying relation streams the differences of consecutive instants, and knows its past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.engine import Engine
from midstream.io.relations import RelationError, TimeVaryingRelation
from midstream.plans.algebra.builder import stream
from midstream.plans.values.errors import IntervalError, SchemaError, StreamOrderError
from midstream.plans.values.schema import Schema
from midstream.plans.values.snapshots import snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, Element

SCHEMA = Schema.of(x="integer")
A, B = (1,), (2,)

Step = tuple[str, int, list[tuple[int]]]


class Received:
    """What a receiver gets, checked as an engine checks it."""

    def __init__(self) -> None:
        self.streams: dict[str, list[Element]] = {"i": [], "d": []}
        self.reached: dict[str, Any] = {"i": BEGINNING, "d": BEGINNING}

    def push(self, stream: str, elements: Iterable[Element]) -> None:
        for element in elements:
            assert element[0] >= self.reached[stream]
            assert element[1] == element[0] + 1
            self.reached[stream] = element[0]
            self.streams[stream].append(element)

    def advance(self, stream: str, time: int) -> None:
        assert time >= self.reached[stream]
        self.reached[stream] = time

    def end(self, stream: str) -> None:
        self.reached[stream] = FOREVER


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Changes that a relation allows, with times from 0 on."""
    steps: list[Step] = []
    rows: Counter[tuple[int]] = Counter()
    time = 0
    for _ in range(draw(st.integers(0, 12))):
        time += draw(st.sampled_from((0, 0, 1, 1, 3)))
        kind = draw(st.sampled_from(("insert", "insert", "delete", "delete", "advance")))
        there = sorted(rows.elements())
        if kind == "delete":
            changed = draw(st.lists(st.sampled_from(range(len(there))), unique=True)) if there else []
            some = [there[i] for i in changed]
            rows.subtract(some)
        elif kind == "insert":
            some = draw(st.lists(st.tuples(st.integers(0, 2)), max_size=4))
            rows.update(some)
        else:
            some = []
        steps.append((kind, time, some))
    return steps


def happen(relation: TimeVaryingRelation, step: Step) -> None:
    kind, time, rows = step
    if kind == "advance":
        relation.advance(time)
    else:
        getattr(relation, kind)(time, rows)


def contents(history: list[Step]) -> list[Counter[tuple[int]]]:
    """By instant from 0 on, the rows after all changes up to it: the specification."""
    last = history[-1][1] if history else 0
    instants = []
    for instant in range(last + 1):
        rows: Counter[tuple[int]] = Counter()
        for kind, time, some in history:
            if time <= instant:
                rows.update(some) if kind == "insert" else rows.subtract(some)
        instants.append(+rows)
    return instants


@given(histories())
def test_streams_are_the_differences_of_consecutive_instants(history: list[Step]) -> None:
    received = Received()
    relation = TimeVaryingRelation(SCHEMA)
    relation.istream(received, "i")
    relation.dstream(received, "d")
    for step in history:
        happen(relation, step)
        assert received.reached["i"] == received.reached["d"] == step[1]
    relation.close()
    assert received.reached["i"] == received.reached["d"] == FOREVER
    before: Counter[tuple[int]] = Counter()
    for instant, now in enumerate(contents(history)):
        assert snapshot(received.streams["i"], instant) == now - before
        assert snapshot(received.streams["d"], instant) == before - now
        before = now


@given(histories(), st.none() | st.integers(0, 3))
def test_the_past_is_known(history: list[Step], retention: int | None) -> None:
    relation = TimeVaryingRelation(SCHEMA, retention)
    for step in history:
        happen(relation, step)
    known = contents(history)
    last = len(known) - 1
    first = 0 if retention is None else max(0, last - retention)
    elements = relation.elements()
    assert [start for start, _, _ in elements] == sorted(start for start, _, _ in elements)
    assert all(start < end for start, end, _ in elements)
    for instant in range(first, last + 1):
        assert snapshot(elements, instant) == known[instant]
    assert relation.rows() == known[-1]
    if history:
        instants = list(relation.rstream(first, last))
        assert [start for start, _, _ in instants] == sorted(start for start, _, _ in instants)
        assert all(end == start + 1 for start, end, _ in instants)
        for instant in range(first, last):
            assert snapshot(instants, instant) == known[instant]
    if retention:
        assert all(end > last - retention for _, end, _ in elements)


def test_what_is_undone_at_the_same_instant_is_not_streamed() -> None:
    received = Received()
    relation = TimeVaryingRelation(SCHEMA)
    relation.istream(received, "i")
    relation.dstream(received, "d")
    relation.insert(1, [A])
    relation.insert(2, [B])
    relation.delete(2, [B, A])
    relation.insert(2, [A])
    assert received.streams == {"i": [(1, 2, A)], "d": []}
    relation.advance(3)
    assert received.streams == {"i": [(1, 2, A)], "d": []}
    assert relation.rows() == {A: 1}


def test_a_late_subscriber_gets_what_comes() -> None:
    received = Received()
    relation = TimeVaryingRelation(SCHEMA)
    relation.insert(1, [A])
    relation.insert(2, [B])
    relation.istream(received, "i")
    assert received.reached["i"] == 2
    relation.close()
    assert received.streams["i"] == [(2, 3, B)]


def test_a_row_that_is_not_there_cannot_be_deleted() -> None:
    relation = TimeVaryingRelation(SCHEMA)
    relation.insert(1, [A])
    message = r"found 2 deletions of \(1,\) at 2, expected at most 1, as there are rows"
    with pytest.raises(RelationError, match=message):
        relation.delete(2, [A, A])
    assert (relation.time, relation.rows()) == (1, {A: 1})
    relation.delete(2, [A])
    with pytest.raises(RelationError, match="expected at most 0"):
        relation.delete(2, [A])


def test_time_does_not_go_back() -> None:
    relation = TimeVaryingRelation(SCHEMA)
    relation.insert(5, [A])
    for change in (
        lambda: relation.insert(4, [A]),
        lambda: relation.delete(4, [A]),
        lambda: relation.advance(4),
    ):
        with pytest.raises(StreamOrderError, match="found a change at 4, expected none before 5"):
            change()
    with pytest.raises(IntervalError, match=r"found time 5\.0, expected an integer"):
        relation.insert(5.0, [A])  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match=r"relation, at 6: column x: found 'a' \(str\), expected integer"):
        relation.insert(6, [("a",)])
    assert relation.elements() == [(5, FOREVER, A)]
    assert relation.time == 5


def test_only_what_has_passed_and_is_remembered_can_be_asked_for() -> None:
    relation = TimeVaryingRelation(SCHEMA, retention=3)
    relation.insert(5, [A])
    relation.delete(6, [A])
    relation.advance(10)
    assert list(relation.rstream(7, 10)) == []
    for start, end in [(6, 10), (7, 11)]:
        with pytest.raises(RelationError, match=f"from {start} to {end}, expected them from 7 to 10"):
            relation.rstream(start, end)
    instants = relation.rstream(7, 9)
    relation.insert(20, [B])
    assert list(instants) == []


def test_asking_for_instants_does_not_depend_on_when_they_are_taken() -> None:
    relation = TimeVaryingRelation(SCHEMA, retention=3)
    relation.insert(5, [A])
    relation.delete(8, [A])
    instants = relation.rstream(5, 8)
    relation.advance(50)
    assert list(instants) == [(5, 6, A), (6, 7, A), (7, 8, A)]


def test_new_users_who_sell() -> None:
    """Example 17.7 of the thesis, in hours."""
    people = stream("new", id="integer", name="string").window(12)
    auctions = stream("auctions", seller="integer")
    query = people.join(auctions, on=[("id", "seller")]).select("id", "name").distinct()
    results: list[Element] = []
    engine = Engine(query.plan(), results.extend)
    person = TimeVaryingRelation(Schema.of(id="integer", name="string"))
    person.istream(engine, "new")
    person.insert(0, [(1, "Ann"), (2, "Bob")])
    person.insert(5, [(3, "Cid")])
    engine.push("auctions", [(5, 6, (1,)), (11, 12, (1,)), (12, 13, (2,)), (16, 17, (3,))])
    person.close()
    engine.close()
    assert results == [(5, 6, (1, "Ann")), (11, 12, (1, "Ann")), (16, 17, (3, "Cid"))]
