"""A batch is walked from operator to operator, or its way is compiled: both give the same at every step."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import base_of, graph_of

from midstream.engine import Engine
from midstream.operators.compile import inlets, routes
from midstream.operators.compile.generated import _titled, define
from midstream.operators.compile.switch import VARIABLE
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.streams import Element, chronons
from midstream.testing import Event, Workload, drive, implemented, plans, workloads

BIDS = stream("bids", item="integer", price="integer")


class Watched:
    """An engine, with all that can be read of it."""

    def __init__(self, workload: Workload, *, compile: bool) -> None:
        self.results: list[tuple[str, list[Element]]] = []
        self.engine = Engine(relations=workload.relations, compile=compile)
        self.add(workload, "first")

    def add(self, workload: Workload, name: str) -> None:
        """Run the plan as one more query."""
        self.engine.add(workload.plan, name=name)
        for output in workload.plan.outputs:
            self.engine.subscribe(lambda batch: self.results.append((name, list(batch))), output, name)

    def read(self) -> dict[str, Any]:
        """What is known now."""
        base = base_of(self.engine)
        return {
            "results": self.results,
            "counters": [self.engine.counters(name) for name in self.engine.queries],
            "size": self.engine.size(),
            "state": sorted(map(repr, base.state())),
            "operators": [
                (str(node.operator), operator.emitted, operator.reached, operator.progress(), operator.size())
                for node, operator in base.running.items()
            ],
            "nodes": [(base.made(node), base.progress_of(node)) for node in (*base.nodes, *base.running)],
            "latest": [getattr(operator, "latest", None) for operator in base.running.values()],
        }


def one_by_one(events: list[Event], draw: st.DataObject) -> Iterator[Event]:
    """The same events; some batches as single elements."""
    for kind, name, what in events:
        if kind == "push" and draw.draw(st.booleans()):
            yield from ((kind, name, [element]) for element in what)
        else:
            yield kind, name, what


@given(data=st.data())
def test_a_compiled_engine_does_at_every_step_what_a_walked_one_does(data: st.DataObject) -> None:
    """Also when a query comes that reads what runs, is watched, and goes."""
    workload = data.draw(workloads(plans().flatmap(implemented)))
    walked, compiled = (Watched(workload, compile=compile) for compile in (False, True))
    assert walked.read() == compiled.read()
    happenings = [*workload.events]
    comes = data.draw(st.integers(0, len(happenings)))
    goes = data.draw(st.integers(comes, len(happenings)))
    is_watched = data.draw(st.booleans())
    watches: list[Any] = []
    for at, event in enumerate(one_by_one(happenings, data)):
        if at == comes:
            for one in (walked, compiled):
                one.add(workload, "second")
                if is_watched:
                    watches.append(one.engine.watch("first"))
                    watches[-1].__enter__()
        if at == goes:
            for one in (walked, compiled):
                if "second" in one.engine.queries:
                    one.engine.remove("first")
            for watch in watches:
                watch.__exit__(None, None, None)
            watches.clear()
        for one in (walked, compiled):
            drive(one.engine, [event])
        assert walked.read() == compiled.read()
    for one in (walked, compiled):
        one.engine.close()
    assert walked.read() == compiled.read()


@given(workloads(plans().flatmap(implemented)))
def test_a_compiled_box_does_at_every_step_what_a_walked_one_does(workload: Workload) -> None:
    walked, compiled = (
        PlanBox(workload.plan, relations=workload.relations, compile=compile) for compile in (False, True)
    )
    ports = {name: port for port, name in enumerate(walked.inputs)}
    events = [*workload.events, *(("end", name, None) for name in walked.inputs)]
    for kind, name, what in events:
        given = [] if kind == "end" else [what]
        first, second = (getattr(box, kind)(ports[name], *given) for box in (walked, compiled))
        assert first == second
        assert walked.counters() == compiled.counters()
        assert (walked.size(), sorted(map(repr, walked.state()))) == (
            compiled.size(),
            sorted(map(repr, compiled.state())),
        )
        for output in range(len(walked.outputs)):
            assert walked.progress(output) == compiled.progress(output)
        for (_, one), (_, other) in zip(walked.operators(), compiled.operators(), strict=True):
            assert (one.emitted, one.reached) == (other.emitted, other.reached)


def test_what_python_cannot_compile_is_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(*_: Any) -> None:
        raise SyntaxError("too many nested parentheses")

    for room in (routes, inlets):
        monkeypatch.setattr(room, "define", too_deep)
    plan = BIDS.window(5).distinct().plan()
    results: list[Element] = []
    engine, box = Engine(plan, results.extend, compile=True), PlanBox(plan, compile=True)
    elements = list(chronons([(1, (7, 1)), (3, (7, 1)), (3, (8, 1))]))
    given = [found for element in elements for found in box.push(0, [element])[0]] + box.end(0)[0]
    for element in elements:
        engine.push("bids", [element])
    assert graph_of(engine).inlets["bids"] is box._compiled[0] is None
    engine.close()
    assert results == given == [(1, 6, (7, 1)), (3, 8, (8, 1)), (6, 8, (7, 1))]


@pytest.mark.parametrize("compile", [False, True])
def test_what_an_operator_tells_is_true_at_once(compile: bool) -> None:
    """Nobody has to be asked first for the counts of operators that run as one loop."""
    engine = Engine(BIDS.filter(col("price") > 1).window(5).select("item").plan(), compile=compile)
    running = list(base_of(engine).running.values())
    engine.push("bids", chronons([(1, (7, 1)), (2, (7, 2)), (3, (7, 3))]))
    assert [(one.emitted, one.reached) for one in running] == [(2, [3])] * 3
    engine.push("bids", chronons([(4, (7, 4))]))
    assert [(one.emitted, one.reached) for one in running] == [(3, [4])] * 3
    engine.advance("bids", 9)
    assert [(one.emitted, one.reached) for one in running] == [(3, [9])] * 3


@pytest.mark.parametrize("compile", [False, True])
def test_a_window_may_change_at_an_instant_that_only_a_heartbeat_has_reached(compile: bool) -> None:
    results: list[Element] = []
    window = BIDS.window(5, bounds=(1, 9))
    engine = Engine(window.plan(), results.extend, compile=compile)
    engine.push("bids", chronons([(1, (7, 1))]))
    engine.advance("bids", 4)
    engine.resize(window, 9, at=4)
    engine.push("bids", chronons([(4, (7, 2))]))
    assert results == [(1, 6, (7, 1)), (4, 13, (7, 2))]


@pytest.mark.parametrize("size", [1, 2])
def test_a_traceback_through_a_compiled_way_shows_its_source(size: int) -> None:
    def fail(batch: list[Element]) -> None:
        raise RuntimeError("the sink is full")

    engine = Engine(BIDS.window(5).distinct().plan(), fail, compile=True)
    engine.push("bids", [])
    with pytest.raises(RuntimeError) as failure:
        engine.push("bids", list(chronons([(at, (at, 1)) for at in range(size)])))
        engine.advance("bids", 99)
    frames = traceback.extract_tb(failure.tb)
    compiled = [frame for frame in frames if frame.filename.startswith("<midstream ")]
    assert size > 1 or compiled[0].filename.startswith("<midstream path of bids")
    assert all(frame.line for frame in compiled)


def test_compiled_source_goes_with_its_code() -> None:
    function = define("def f():\n    return 1", "f", {}, "test of sources")
    filename = function.__code__.co_filename
    assert linecache.getline(filename, 2) == "    return 1"
    del function
    _titled.cache_clear()
    assert filename not in linecache.cache


def test_what_is_compiled_is_asked_for_or_told_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_compiled(**options: Any) -> bool:
        engine = Engine(BIDS.plan(), **options)
        engine.push("bids", chronons([(1, (7, 1))]))
        return graph_of(engine).inlets["bids"] is not None

    for said, expected in (("0", False), ("1", True)):
        monkeypatch.setenv(VARIABLE, said)
        assert is_compiled() is expected
        assert (is_compiled(compile=True), is_compiled(compile=False)) == (True, False)
    monkeypatch.delenv(VARIABLE)
    assert is_compiled()
    with pytest.raises(ArgumentError, match=r"compile: found 1 \(int\), expected True, False, or None"):
        Engine(BIDS.plan(), compile=1)  # type: ignore[arg-type]
    monkeypatch.setenv(VARIABLE, "yes")
    with pytest.raises(ArgumentError, match=r"MIDSTREAM_COMPILE: found 'yes' \(str\), expected 0 or 1"):
        Engine(BIDS.plan())
