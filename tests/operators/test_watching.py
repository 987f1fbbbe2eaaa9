"""Who watches streams sees them by a grid of application time: nothing depends on batch boundaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from accidents import one_by_one
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.engine import Engine
from midstream.operators.engine.input.input_manager import DeadLetter
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import companions, logical
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ArgumentError, UnknownStreamError
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import FOREVER, Batch, Element, Time
from midstream.testing import Event, Workload, drive, workloads

EXAMPLES = settings(max_examples=settings.default.max_examples // 2)

A, B = (stream(name, {f"{name}x": "integer"}).window(9) for name in "ab")
JOIN = A.join(B, on=[("ax", "bx")]).plan()


class Notes:
    """Keeps what it is told, and at each look what was told so far and how things stand."""

    def __init__(self, engine: Engine, results: list[Element]) -> None:
        self._engine, self._results = engine, results
        self.told: dict[str, list[Element]] = {}
        self.pieces: list[tuple[str, Batch, Time]] = []
        self.looks: list[tuple[Any, ...]] = []

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        self.pieces.append((stream, batch, progress))
        self.told.setdefault(stream, []).extend(batch)

    def look(self, now: int) -> None:
        told = {name: tuple(elements) for name, elements in self.told.items()}
        given = Counter((min(end, now), row) for start, end, row in self._results if start < now)
        self.looks.append((now, told, given, self._engine.query().progress(), self._state()))

    def _state(self) -> int:
        """How much operators keep; what waits where a stream enters has come already."""
        return sum(self._engine.held().values())


def together(events: Iterable[Event]) -> list[Event]:
    """The same with batches as large as may be."""
    joined: list[Event] = []
    for kind, name, what in events:
        if kind == "push" and joined and joined[-1][:2] == ("push", name):
            joined[-1] = (kind, name, [*joined[-1][2], *what])
        else:
            joined.append((kind, name, what))
    return joined


def comes_in_one_order(plan: Plan) -> bool:
    """True if batches do not change which of the elements that start together comes first, where it matters.

    They do where a stream comes to an operator by two inputs: the elements of a batch come by the first one
    before they come by the second. It matters to operators whose results may start later than their elements:
    a group that came first, and is not complete, holds back what starts with it.
    """
    meets = set()
    for node in plan.nodes:
        below = [stream for child in node.inputs for stream in {s.stream for s in Plan(child).sources}]
        if len(below) > len(set(below)):
            meets.add(node)
    return all(logical(node).is_start_preserving or meets.isdisjoint(node.walk()) for node in plan.nodes)


def watched(
    workload: Workload, events: Iterable[Event], step: int, idle: int = 3, **declared: Any
) -> tuple[Notes, list[Element], Engine]:
    results: list[Element] = []
    engine = Engine(workload.plan, results.extend, relations=workload.relations, **declared)
    notes = Notes(engine, results)
    engine.watch_streams(notes, step, idle=idle)
    drive(engine, events)
    return notes, results, engine


@EXAMPLES
@given(workload=workloads(), step=st.integers(1, 7), compile=st.booleans())
def test_looks_do_not_depend_on_batches(workload: Workload, step: int, compile: bool) -> None:
    """When somebody looks, and what he was told by then; and results are the same as where nobody watches.

    Where every stream may wait, and what starts together comes in one order, what was given and is kept by
    then does not depend on them either.
    """
    names, roots = {source.stream for source in workload.plan.sources}, workload.plan.outputs.values()
    waits = all(companions(root, name, step) == names for root in roots for name in names)
    is_in_one_order = comes_in_one_order(workload.plan)
    notes, results, watching = watched(workload, workload.events, step, compile=compile)
    for events in (list(one_by_one(workload.events)), together(workload.events)):
        others, _, engine = watched(workload, events, step, compile=compile)
        for other, look in zip(others.looks, notes.looks, strict=True):
            assert other == look if waits and is_in_one_order else other[:2] == look[:2]
        engine.close()
        assert others.told == {name: workload.streams[name] for name in others.told}
        assert sum(map(len, others.told.values())) == engine.counters().elements
    unwatched: list[Element] = []
    engine = Engine(workload.plan, unwatched.extend, relations=workload.relations, compile=compile)
    drive(engine, workload.events)
    assert Counter(results) == Counter(unwatched) or not is_in_one_order
    watching.close()
    engine.close()
    assert normal_form(results) == normal_form(unwatched)


def test_what_is_given_by_a_look_where_a_stream_meets_itself() -> None:
    """Batches change the order of what starts together there, so that one group may hold back the other."""
    b = stream("b", x="integer")
    meeting = b.filter(col("x") == 0).window(3).union(b.filter(col("x") == 1).window(1))
    plan = meeting.group_by("x").aggregate(n=count()).plan()
    assert comes_in_one_order(meeting.plan()) and not comes_in_one_order(plan)
    rows = [(0, 1, (1,)), (0, 1, (0,))]
    workload = Workload(plan, {"b": rows}, [("push", "b", rows), ("advance", "b", 2)])
    given_by_two, ended = [], []
    for events in (workload.events, list(one_by_one(workload.events))):
        notes, results, engine = watched(workload, events, 1)
        given_by_two.append(sum(notes.looks[-1][2].values()))
        engine.close()
        ended.append(normal_form(results))
    assert given_by_two == [0, 1]
    assert ended[0] == ended[1]


@EXAMPLES
@given(workload=workloads(), step=st.integers(1, 7), idle=st.integers(1, 5))
def test_when_somebody_looks_and_what_he_was_told(workload: Workload, step: int, idle: int) -> None:
    """At every instant that all streams have come to, unless long after the last element; by then he was told
    of what starts before."""
    notes, _, engine = watched(workload, workload.events, step, idle)
    streams = {name: workload.streams[name] for name in engine.streams}
    came = min(map(engine.progress, streams), default=FOREVER)
    if came == FOREVER:  # of what all streams have ended in, it depends on the order how far looks went
        return
    cells = {start // step for batch in streams.values() for start, _, _ in batch}
    numbers = sorted({cell + n for cell in cells for n in range(1, idle + 1)})
    assert [now for now, *_ in notes.looks] == [n * step for n in numbers if n * step <= came]
    for now, told, *_ in notes.looks:
        before = {name: tuple(e for e in batch if e[0] < now) for name, batch in streams.items()}
        assert told == {name: batch for name, batch in before.items() if batch}
    for name, batch, progress in notes.pieces:
        assert {start // step for start, _, _ in batch} == {progress // step - 1}, name


@EXAMPLES
@given(
    data=st.data(),
    step=st.integers(1, 6),
    declared=st.sampled_from(
        ({"slack": {"a": 4}}, {"slack": {"a": 3, "b": FOREVER}}, {"slack": {"a": 0}, "delay": {"b": 5}})
    ),
)
def test_looks_at_streams_whose_order_is_restored(
    data: st.DataObject, step: int, declared: dict[str, Any]
) -> None:
    """Also where what is late goes to the dead letters, and where heartbeats come from the clock."""
    arriving = st.tuples(st.sampled_from("ab"), st.lists(st.integers(0, 40), min_size=1, max_size=6))
    events: list[Event] = []
    for name, starts in data.draw(st.lists(arriving, max_size=8)):
        events.append(("push", name, [(start, start + 1, (start % 3,)) for start in starts]))
        if data.draw(st.booleans()):
            events.append(("advance", name, data.draw(st.integers(0, 45))))
    looks = []
    for cut in (list(one_by_one(events)), events, together(events)):
        refused: list[DeadLetter] = []
        engine = Engine(JOIN, dead_letters=refused.extend, **declared)
        notes = Notes(engine, [])
        engine.watch_streams(notes, step)
        drive(engine, cut)
        looks.append((notes.looks, [letter.element for letter in refused]))
    assert looks[0] == looks[1] == looks[2]


def test_silence_costs_no_looks() -> None:
    """Time comes to instants that nobody needs to look at."""
    engine = Engine(JOIN)
    notes = Notes(engine, [])
    engine.watch_streams(notes, 10, idle=2)
    for name in "ab":
        engine.push(name, [(3, 4, (1,))])
    for time in (10**15, 10**15 + 25):
        engine.advance("a", time)
        engine.push("b", [(time, time + 1, (1,))])
    assert [now for now, *_ in notes.looks] == [10, 20, 10**15 + 10, 10**15 + 20]


def test_heartbeats_alone_bring_the_looks() -> None:
    engine = Engine(JOIN)
    notes = Notes(engine, [])
    engine.watch_streams(notes, 10)
    engine.push("a", [(2, 3, (1,)), (14, 15, (2,)), (31, 32, (3,))])
    for time in (2, 9, 10, 28, 85):
        engine.advance("b", time)
    engine.end("b")
    assert [(now, len(told["a"])) for now, told, *_ in notes.looks] == [(10, 1), (20, 2), (30, 2)]
    engine.close()
    assert notes.pieces == [
        ("a", [(2, 3, (1,))], 10),
        ("a", [(14, 15, (2,))], 20),
        ("a", [(31, 32, (3,))], 40),
    ]


def test_single_elements_are_compiled_also_where_somebody_watches() -> None:
    engine = Engine(JOIN, compile=True)
    stop = engine.watch_streams(Notes(engine, []), 10)
    for time in range(25):
        for name in "ab":
            engine.push(name, [(time, time + 1, (time % 3,))])
    texts = engine._graph.inlets
    assert set(texts) == {"a", "b"} and None not in texts.values()
    stop()
    assert not texts
    stop()


def test_who_looks_may_change_the_queries() -> None:
    """He may let somebody else watch, who is told of what follows; remove a query; and leave."""
    results: list[Element] = []
    engine = Engine(A.group_by("ax").aggregate(n=count()).plan(), results.extend)
    later = Notes(engine, results)

    class Changing(Notes):
        def look(self, now: int) -> None:
            super().look(now)
            if now == 20:
                engine.watch_streams(later, 5)
            if now == 40:
                stop()
            if now == 30:
                engine.add(A.distinct().plan(), name="other")

    first = Changing(engine, results)
    stop = engine.watch_streams(first, 10)
    engine.push("a", [(t, t + 1, (t,)) for t in range(100)])
    assert [now for now, *_ in first.looks] == [10, 20, 30, 40]
    assert [now for now, *_ in later.looks] == list(range(25, 100, 5))
    assert [start for start, _, _ in later.told["a"]] == list(range(20, 95))
    assert engine.query("other").complete_from > 30
    engine.remove()
    engine.push("a", [(t, t + 1, (t,)) for t in range(100, 110)])
    engine.remove("other")


@pytest.mark.parametrize("wrong", [{"step": 0}, {"step": 1.5}, {"idle": -1}])
def test_a_grid_that_is_none(wrong: dict[str, Any]) -> None:
    engine = Engine(JOIN)
    with pytest.raises(ArgumentError, match=r"watch: (step|idle): found"):
        engine.watch_streams(Notes(engine, []), **wrong)


def test_a_stream_that_nobody_reads_cannot_be_watched() -> None:
    engine = Engine(JOIN)
    with pytest.raises(UnknownStreamError, match="reads no stream c"):
        engine.watch_streams(Notes(engine, []), 5, ["a", "c"])
