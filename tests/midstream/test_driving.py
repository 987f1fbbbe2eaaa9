"""One loop drives engines over arrivals: what happens, when commands are carried out, what is timed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.arrivals import Event, time_of
from midstream.driving import Command, Migrate, Trial, drive
from midstream.engine import Engine
from midstream.migration.transition import Transition
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import MigrationRefused, UnknownStreamError
from midstream.plans.values.streams import Element
from midstream.testing import Workload, interleavings, is_ordered, streams_for, verdict, workloads


def plans() -> tuple[Plan, Plan]:
    """Three streams joined in two orders."""
    a, b, c = (stream(name, {name: "integer"}).window(9) for name in "abc")
    on = [("a", "b")], [("b", "c")]
    one = a.join(b, on=on[0]).join(c, on=on[1])
    other = a.join(b.join(c, on=on[1]), on=on[0])
    return one.plan(), other.plan()


@given(workloads(), st.booleans())
def test_drives_let_all_happen_as_calls_do(workload: Workload, is_timed: bool) -> None:
    called: list[Element] = []
    by_calls = Engine(workload.plan, called.extend, relations=workload.relations)
    for kind, name, what in workload.events:
        match kind:
            case "push":
                by_calls.push(name, what)
            case "advance":
                by_calls.advance(name, what)
            case "end":
                by_calls.end(name)
    by_calls.close()
    marked: list[Event] = [("mark", "", 0), *workload.events, ("mark", "", 99)]
    results: tuple[list[Element], list[Element]] = ([], [])
    engines = [Engine(workload.plan, one.extend, relations=workload.relations) for one in results]
    ticks = count()
    first, second = (Trial(engine, clock=(lambda: next(ticks)) if is_timed else None) for engine in engines)
    assert list(drive(second, drive(first, marked))) == marked
    for engine in engines:
        engine.close()
    assert results == (called, called)
    assert first.seconds == second.seconds == (len(marked) if is_timed else 0)


@given(st.data())
def test_a_command_is_carried_out_in_front_of_its_event(data: st.DataObject) -> None:
    """Wherever a migration begins, no result is lost, doubled or out of order; and the record tells of it."""
    old, new = plans()
    streams = data.draw(streams_for(old, forever=False))
    events = data.draw(interleavings(streams))
    chosen = data.draw(st.sampled_from(range(len(events)))) if events else None
    numbered = iter(range(len(events)))
    results: list[Element] = []
    before: list[tuple[int, int]] = []

    def decide(event: Event) -> Iterator[Command]:
        if next(numbered) == chosen:
            yield lambda trial: before.append((trial.engine.counters().elements, len(results)))
            yield Migrate(lambda engine: engine.migrate(new))

    trial = Trial(Engine(old, results.extend), decide)
    taken = 0
    for number, event in enumerate(drive(trial, events)):
        if number == chosen:
            assert [elements for elements, _ in before] == [taken]
        assert len(trial.moves) == (chosen is not None and number >= chosen)
        taken += len(event[2]) if event[0] == "push" else 0
    trial.engine.close()
    assert len(trial.moves) == (chosen is not None)
    for move in trial.moves:
        assert move.migration.request.plan == trial.engine.plan == new
        assert (move.migration.phase.value, move.results) == ("done", before[0][1])
    assert verdict(Workload(old, streams, events).specified(), results) and is_ordered(results)


def test_a_refusal_ends_the_drive_unless_the_command_catches_it() -> None:
    old, new = plans()
    other = stream("a", a="integer").window(4).plan()
    wrong = Migrate(lambda engine: engine.migrate(other))
    marks: list[Event] = [("mark", "", 3), ("mark", "", 4)]
    trial = Trial(Engine(old), lambda event: [wrong])
    with pytest.raises(MigrationRefused):
        list(drive(trial, marks))
    assert trial.moves == []

    def attempt(trial: Trial) -> None:
        with suppress(MigrationRefused):
            wrong(trial)

    trial = Trial(Engine(old), lambda event: [attempt, Migrate(lambda engine: engine.migrate(new))])
    assert list(drive(trial, marks[:1])) == marks[:1]
    assert [move.migration.request.plan for move in trial.moves] == [new]


def test_what_the_caller_does_is_not_timed() -> None:
    now = 0.0

    def spend(seconds: float) -> None:
        nonlocal now
        now += seconds

    def begin(engine: Engine) -> Transition:
        spend(10)
        return engine.migrate(new)

    def decide(event: Event) -> Iterator[Command]:
        spend(1)
        if event[0] == "mark":
            yield Migrate(begin)

    def events() -> Iterator[Event]:
        for event in [("push", "a", [(1, 2, (1,))]), ("mark", "", 2), ("end", "a", None)]:
            spend(1000)  # reading takes time, too
            yield event  # type: ignore[misc]

    old, new = plans()
    trial = Trial(Engine(old, lambda batch: None), decide, clock=lambda: now)
    for _ in drive(trial, events()):
        spend(100)
    assert (trial.seconds, trial.moves[0].seconds) == (13, 10)


def test_endless_events_are_taken_one_by_one() -> None:
    old, _ = plans()
    trial = Trial(Engine(old))
    driven = drive(trial, (("advance", name, time) for time in count() for name in "abc"))
    assert next(driven) == ("advance", "a", 0)
    assert (trial.engine.progress("a"), trial.engine.progress("b")) == (0, float("-inf"))
    with pytest.raises(UnknownStreamError, match="reads no stream d"):
        next(drive(trial, [("end", "d", None)]))


def test_times_of_events() -> None:
    events: list[Event] = [("push", "s", [(3, 9, ()), (5, 6, ())]), ("advance", "s", 4), ("mark", "", 5)]
    assert [time_of(event) for event in events] == [3, 4, 5]
