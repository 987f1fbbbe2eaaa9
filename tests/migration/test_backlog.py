"""A backlog gives the new plan all that comes, later and in larger batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from midstream.migration.backlog import MOST_WAITING, Backlog
from midstream.migration.fork import EVERYTHING, fork
from midstream.operators.base.box import Driver, driver, settled
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import FOREVER, Batch, Element, Time
from midstream.testing import Event, elements, interleavings, is_ordered

A, B = (stream(name, {x: "integer"}, intervals=True) for name, x in zip("ab", "xy", strict=True))
PLAN = A.distinct().join(B, on=[("x", "y")]).plan()


@st.composite
def arrivals(draw: st.DrawFn) -> list[Event]:
    streams = {str(port): draw(elements(forever=False)) for port in range(2)}
    return [event for event in draw(interleavings(streams)) if event[0] != "end"]


@given(arrivals(), st.integers(0, 5), st.booleans())
def test_in_the_end_nothing_is_missing(events: list[Event], limit: int, is_patient: bool) -> None:
    """Whatever waits; and what the new plan promises is kept."""
    alone, new = PlanBox(PLAN), PlanBox(PLAN)
    backlog = Backlog(new, [EVERYTHING] * 2, limit if is_patient else 0)
    expected: list[Element] = []
    found: list[Element] = []

    def take(results: list[Batch]) -> None:
        assert all(start >= promised for start, _, _ in results[0])
        found.extend(results[0])

    for kind, name, what in events:
        port, promised = int(name), new.progress()
        expected += getattr(alone, kind)(port, what)[0]
        batch, progress = (what, what[-1][0]) if kind == "push" else ([], what)
        take(backlog.process(port, batch, max(progress, backlog._reached[port])))
        if is_patient:
            assert backlog.waiting < max(2 * limit, 1)
            assert backlog.is_behind or not backlog.waiting
        else:
            assert (backlog.waiting, new.progress(), found) == (0, alone.progress(), expected)
        assert backlog.size() == len(list(backlog.state()))
    for port in range(2):
        promised = new.progress()
        expected += alone.end(port)[0]
        backlog.take(port, [], FOREVER)
        take(backlog.catch_up())
    assert is_ordered(found)
    assert equivalent(found, expected)
    assert (backlog.size(), new.progress()) == (0, FOREVER)
    assert dict(new.counters())["received"] == dict(alone.counters())["received"]


def test_the_new_plan_is_not_told_twice_how_far_it_is() -> None:
    told: list[tuple[int, Batch, Time]] = []

    class Listening:
        successor, inputs, outputs = None, ("in",), ("out",)

        def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
            told.append((port, batch, progress))
            return [[]]

        def operators(self) -> Mapping[Any, Any]:
            return {}

    box: Any = Listening()
    backlog = Backlog(box, [fork(40.5)])
    for time in (3, 5, 8):
        backlog.take(0, [], time)
        backlog.catch_up()
    assert told == [(0, [], 40.5)]
    assert backlog.limit == MOST_WAITING
    backlog.process(0, [(9, 50, "a"), (10, 20, "b")], 12)
    backlog.take(0, [], 50)
    backlog.catch_up()
    assert told[1:] == [(0, [(40.5, 50, "a")], 50)]


def test_a_box_of_ours_is_its_own_driver() -> None:
    box = PlanBox(PLAN)
    of_ours: Driver = box
    assert driver(box) is of_ours
    assert settled(box) is box
