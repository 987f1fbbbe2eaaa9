"""The suite for a Box: it must keep its promises for any arrivals in any order.

Midstream's own operators pass it, too (tests/operators/test_conformance.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from midstream.arrivals import Kind
from midstream.migration.report import report
from midstream.operators.base.box import Box, settled
from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.values.arguments import require_callable, wrong
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import FOREVER, Element, Time
from midstream.testing.law import steps
from midstream.testing.streams import elements, interleavings
from midstream.testing.watched import BrokenPromise, Watched

Streams = Sequence[Sequence[Element]]
"""All elements of each input."""

PortEvent = tuple[Kind, int, Any]
"""An event on an input: elements, a heartbeat with its time, or the end (with None)."""

Meaning = Plan | Stream | Callable[..., Iterable[Element]]
"""The specification of a Box: a plan over streams named like the inputs, or a function.

The function takes the elements of each input, and returns the elements of the only output.
"""

BETWEEN: Sequence[Time] = (0.5, 2**60 + Fraction(1, 2))
"""Distances that move times to where no chronon begins."""


def check_box(
    factory: Callable[[], Box],
    *,
    inputs: Sequence[st.SearchStrategy[list[Element]]] | None = None,
    means: Meaning | None = None,
    to: Callable[[], Box] | None = None,
    migrates: bool = True,
    after_event: Callable[[Watched], None] | None = None,
    examples: int | None = None,
    shrinks: bool = True,
) -> None:
    """Search for streams for which a Box breaks one of the promises of Boxes.

    factory        makes a new Box
    inputs         strategies for the elements of each input; by default payloads are pairs of small integers
    means          the specification that the results are compared with
    to             makes the Box to which migrations lead; by default another one by `factory`
    migrates       False leaves out migrations, timestamps between chronons, and the check that progress and
                   state depend on time alone, which only migrations need: use it for windows
    after_event    called after every event of the first run, for further checks
    examples       the number of streams to try; by default that of hypothesis's profile
    shrinks        False skips the search for smaller streams, which takes seconds

    Raises   BrokenPromise with the smallest streams that were found, and the promise.

    >>> from midstream import stream
    >>> from midstream.boxes import PlanBox
    >>> pairs = stream("s", intervals=True, x="integer", y="integer").distinct().plan()
    >>> check_box(lambda: PlanBox(pairs), means=pairs, examples=20)
    """
    require_callable("check_box: factory", factory, "a function that makes a new Box")
    if means is not None and not callable(means):
        means = plan_of("check_box: means", means)
    box = factory()
    if not isinstance(box, Box):
        raise wrong("check_box", box, "a Box from the factory")
    count = len(box.inputs)
    streams = [elements(forever=False, max_size=8)] * count if inputs is None else list(inputs)
    if len(streams) != count:
        raise wrong("check_box: inputs", len(streams), f"a strategy for each of {count} inputs")

    @settings(
        max_examples=examples or settings().max_examples,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, *([Phase.shrink] if shrinks else [])],
        suppress_health_check=list(HealthCheck),
    )
    @given(_arrivals(streams), st.data())
    def every_promise_is_kept(arrivals: list[PortEvent], data: st.DataObject) -> None:
        first = _run(factory, arrivals, migrates, after_event)
        if means is not None:
            _compare_with_meaning(first, means)
        again = _run(factory, _one_by_one(arrivals), migrates, repeating=True)
        again.require_same("snapshots", first.results, "what came for whole batches")
        again = _run(factory, _at_once(first.histories), migrates)
        again.require_same("snapshots", first.results, "what came for smaller batches amid heartbeats")
        if migrates:
            by = data.draw(st.sampled_from(BETWEEN))
            moved = _run(factory, _moved(arrivals, by), migrates)
            expected = [_moved_elements(batch, by) for batch in first.results]
            moved.require_same("any comparable time", expected, f"what came {float(by)} earlier, moved")
            _check_migrations(factory, to or factory, arrivals, data, first)

    try:
        every_promise_is_kept()
    except BrokenPromise as broken:
        broken.__notes__ = []
        raise broken.with_traceback(None) from broken.__cause__
    except Flaky as flaky:
        found = "the same events, told again, gave something else"
        raise BrokenPromise(type(box).__name__, "snapshots", found, []) from flaky


@st.composite
def _arrivals(draw: st.DrawFn, inputs: Sequence[st.SearchStrategy[list[Element]]]) -> list[PortEvent]:
    streams = {str(port): draw(one) for port, one in enumerate(inputs)}
    return [(kind, int(name), what) for kind, name, what in draw(interleavings(streams, early=True))]


def _run(
    factory: Callable[[], Box],
    arrivals: Iterable[PortEvent],
    by_time: bool,
    after_event: Callable[[Watched], None] | None = None,
    *,
    repeating: bool = False,
) -> Watched:
    """Run a new Box over arrivals to its end; `repeating` repeats known heartbeats and ends each time."""
    watched = Watched(factory(), by_time=by_time)
    for arrival in arrivals:
        _let_happen(watched, arrival)
        if repeating:
            watched.repeat()
        if after_event is not None:
            after_event(watched)
    watched.finish()
    return watched


def _let_happen(watched: Watched, arrival: PortEvent) -> None:
    kind, port, what = arrival
    if kind == "push":
        watched.push(port, what)
    elif kind == "advance":
        watched.advance(port, what)
    else:
        watched.end(port)


def _compare_with_meaning(watched: Watched, means: Plan | Callable[..., Iterable[Element]]) -> None:
    if isinstance(means, Plan):
        streams = dict(zip(watched.box.inputs, watched.histories, strict=True))
        roots = means.outputs.values()
        expected: list[Iterable[Element]] = [steps(specified(Plan(root), streams)) for root in roots]
    else:
        expected = [means(*watched.histories)]
    watched.require_same("the same meaning", expected, "what the results should mean")


def _one_by_one(arrivals: Iterable[PortEvent]) -> list[PortEvent]:
    """The arrivals with one element per batch."""
    return [
        (kind, port, part)
        for kind, port, what in arrivals
        for part in ([[element] for element in what] if kind == "push" else [what])
    ]


def _at_once(streams: Streams) -> list[PortEvent]:
    """Each stream in one batch, one stream after the other, without heartbeats."""
    return [("push", port, list(batch)) for port, batch in enumerate(streams) if batch]


def _moved(arrivals: Iterable[PortEvent], by: Time) -> list[PortEvent]:
    """The arrivals with all times moved by a distance."""
    kinds: dict[str, Callable[[Any], Any]] = {
        "push": lambda batch: _moved_elements(batch, by),
        "advance": lambda time: time + by,
        "end": lambda none: none,
    }
    return [(kind, port, kinds[kind](what)) for kind, port, what in arrivals]


def _moved_elements(batch: Iterable[Element], by: Time) -> list[Element]:
    return [(start + by, end if end == FOREVER else end + by, payload) for start, end, payload in batch]


def _check_migrations(
    factory: Callable[[], Box],
    to: Callable[[], Box],
    arrivals: Sequence[PortEvent],
    data: st.DataObject,
    first: Watched,
) -> None:
    """Migrate there and back, at any time: the results must be those of a Box that does not migrate."""
    there = data.draw(st.integers(0, len(arrivals)))
    back = data.draw(st.integers(there, len(arrivals) + 1))
    watched = Watched(factory(), by_time=False)
    try:
        for number in range(len(arrivals) + 1):
            if number == there:
                watched.migrate(to())
            if number == back:
                watched.migrate(factory())
            if number < len(arrivals):
                _let_happen(watched, arrivals[number])
    except MigrationRefused as refusal:
        arrived = (element for history in watched.histories for element in history)
        if any(end == FOREVER for _, end, _ in (*arrived, *watched.box.state())):
            return  # an element never ends, so that the old plan has no last instant
        raise watched.broken("state by time alone", str(refusal)) from refusal
    watched.finish()
    watched.require_same("the same meaning", first.results, "what the Box gives that is not migrated")
    for migration, new in watched.migrations:
        if settled(migration) is not settled(new):
            reason = migration.failure or "it never ended"
            raise watched.broken("honest progress", f"the migration did not lead to the new Box: {reason!r}")
        if unmatched := report(migration).unmatched:
            raise watched.broken(
                "the same meaning", f"{unmatched} results of one Box match none of the other"
            )
