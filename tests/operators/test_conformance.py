"""One contract for all operators: whatever arrives, in whatever order, they give what is specified, in order
and in time, and keep nothing that is of no use.

Each implementation is driven by a state machine of batches, heartbeats and ends on all its ports, and
compared with the logical algebra after every step: what starts before the reported progress must be out and
right. What an operator keeps is compared with models that say how much that is, or may be at most.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from midstream.operators.operator import Operator
from midstream.operators.planner import IMPLEMENTATIONS
from midstream.plans.errors import EndedError, StreamOrderError
from midstream.plans.logical import Logical
from midstream.plans.plan import Node, Plan
from midstream.plans.snapshots import NormalForm, compare, normal_form, snapshot
from midstream.plans.streams import BEGINNING, FOREVER, Batch, Element, Time

COVERED = {
    "aggregate",
    "distinct",
    "filter",
    "hash-join",
    "map",
    "nested-loops-join",
    "time-window",
    "union",
}

GAPS = st.sampled_from((0, 0, 1, 1, 2, 4))
LENGTHS = st.sampled_from((1, 1, 2, 3, 5, 8, FOREVER))


class Contract(Protocol):
    """What the suite asks of a case; `Case` in conftest.py has it."""

    plan: Plan
    node: Node
    payloads: st.SearchStrategy[Any]
    is_eager: bool
    is_aggregate: bool
    has_chronons: bool
    implementation: str
    sources: tuple[str, ...]

    def operator(self) -> Operator: ...
    def specified(self, histories: list[list[Element]]) -> NormalForm: ...
    def snapshot(self, histories: list[list[Element]], instant: Time) -> Any: ...
    def joins(self, left: Any, right: Any) -> bool: ...
    def keeps(self, port: int, payload: Any) -> bool: ...


def conformance(case: Contract) -> type[RuleBasedStateMachine]:
    """The state machine that drives an implementation."""
    arrivals = st.lists(st.tuples(GAPS, LENGTHS, case.payloads), min_size=1, max_size=4)
    ports = range(len(case.sources))

    class Conformance(RuleBasedStateMachine):
        """Events at an operator; after each, what came out and what is kept is checked."""

        def __init__(self) -> None:
            super().__init__()
            self.operator = case.operator()
            self.histories: list[list[Element]] = [[] for _ in ports]
            self.reached: list[Time] = [BEGINNING for _ in ports]
            self.out: list[Element] = []
            self.seen: int | None = None
            """Up to here the results have been compared; None before the first progress."""
            self.is_sound = True

        @property
        def open(self) -> list[int]:
            return [port for port in ports if self.reached[port] != FOREVER]

        def now(self, port: int) -> int:
            return 0 if self.reached[port] == BEGINNING else self.reached[port]

        @precondition(lambda self: self.open)
        @rule(which=st.integers(0, 2), arrived=arrivals)
        def push(self, which: int, arrived: list[tuple[int, Time, Any]]) -> None:
            port = self.open[which % len(self.open)]
            time = self.now(port)
            batch: Batch = []
            for gap, length, payload in arrived:
                time += gap
                batch.append((time, time + (1 if case.has_chronons else length), payload))
            self.histories[port] += batch
            self.reached[port] = time
            self.take(lambda: self.operator.push(port, batch))

        @precondition(lambda self: self.open)
        @rule(which=st.integers(0, 2), gap=st.integers(0, 6))
        def heartbeat(self, which: int, gap: int) -> None:
            port = self.open[which % len(self.open)]
            self.reached[port] = self.now(port) + gap
            self.take(lambda: self.operator.advance(port, self.reached[port]))

        @precondition(lambda self: self.open)
        @rule(which=st.integers(0, 2))
        def end(self, which: int) -> None:
            port = self.open[which % len(self.open)]
            self.reached[port] = FOREVER
            self.take(lambda: self.operator.end(port))

        @rule(which=st.integers(0, 2), ago=st.integers(0, 3))
        def say_what_is_known(self, which: int, ago: int) -> None:
            """An empty batch, and a heartbeat that tells nothing new, change nothing."""
            port = which % len(ports)
            kept = self.operator.size()
            assert self.operator.push(port, []) == []
            assert self.operator.advance(port, self.reached[port] - ago) == []
            assert self.operator.size() == kept

        @rule(which=st.integers(0, 2), payload=case.payloads)
        def break_the_contract(self, which: int, payload: Any) -> None:
            """An element that goes back in time is refused, and nothing of its batch is taken."""
            port = which % len(ports)
            reached = self.reached[port]
            if reached == BEGINNING:
                return
            if reached == FOREVER:
                with pytest.raises(EndedError):
                    self.operator.push(port, [(10**6, 10**6 + 1, payload)])
                return
            for late in (reached - 1, reached + 1):
                batch = [(late, late + 1, payload), (reached, reached + 1, payload)]
                with pytest.raises(StreamOrderError, match=f"port {port}: .* starts at"):
                    self.operator.push(port, batch)

        def take(self, event: Any) -> None:
            """Let an event happen; check what it brings."""
            self.is_sound = False
            promised = self.operator.progress()
            results = event()
            assert all(start >= promised for start, _, _ in results), "a result starts before the promise"
            assert all(start < end for start, end, _ in results), "an empty interval"
            starts = [start for start, _, _ in self.out[-1:] + results]
            assert starts == sorted(starts), "out of order"
            assert self.operator.progress() >= promised, "progress went back"
            self.out += results
            self.compare()
            self.is_sound = True

        def compare(self) -> None:
            """What starts before the progress must be out and right: at every instant that no result to come
            can reach. An eager operator has also given out what it knows to start at that very instant."""
            progress = self.operator.progress()
            if progress == BEGINNING:
                return
            history = [*self.histories[0], *(e for other in self.histories[1:] for e in other)]
            times = [t for start, end, _ in history for t in (start, end) if math.isfinite(t)]
            last = progress if progress != FOREVER else max(times, default=0)
            first = min(times, default=last) if self.seen is None else self.seen
            for instant in range(first, last + 1):
                if instant == progress and not case.is_eager:
                    break
                expected = case.snapshot(self.histories, instant)
                assert snapshot(self.out, instant) == expected, f"wrong at {instant}"
            self.seen = last

        @invariant()
        def progress_is_as_far_as_it_can_be(self) -> None:
            """A lower progress would be true as well, and would delay results for ever."""
            expected = min(self.reached)
            if case.is_aggregate and expected != BEGINNING:
                expected = min([expected, *self.open_segments()])
            assert self.operator.progress() == expected

        def open_segments(self) -> list[Time]:
            """Where the running segment of each group with valid rows began: at its last change."""
            now = self.reached[0]
            names = case.plan.root.inputs[0].schema.names
            keys = [names.index(key) for key in case.plan.root.operator.keys]
            groups: dict[Any, list[Element]] = {}
            for element in self.histories[0]:
                groups.setdefault(tuple(element[2][i] for i in keys), []).append(element)
            return [
                max(t for start, end, _ in group for t in (start, end) if t <= now)
                for group in groups.values()
                if any(end > now for _, end, _ in group)
            ]

        @invariant()
        def size_is_the_number_of_elements_kept(self) -> None:
            assert self.operator.size() == len(list(self.operator.state()))

        @invariant()
        def nothing_is_kept_that_is_of_no_use(self) -> None:
            """Each kept element may still meet a later one, or waits for its turn."""
            ends = [end for _, end, _ in self.operator.state()]
            if case.is_aggregate:
                # A closed segment may wait behind an open one, which has no end yet.
                assert all(end >= self.operator.progress() for end in ends)
            else:
                assert all(end > min(self.reached) for end in ends)

        @invariant()
        def what_is_kept_is_bounded(self) -> None:
            """By the elements that are valid beyond the other port's progress, and the results that wait."""
            least = min(self.reached)
            if case.implementation in ("filter", "map", "time-window"):
                assert self.operator.size() == 0
            elif case.implementation == "union":
                waiting = [e for history in self.histories for e in history if e[0] > least]
                assert self.operator.size() == len(waiting)
            elif case.implementation == "distinct":
                valid = [e for e in self.histories[0] if e[1] > least]
                fresh = {(e[1], e[2]) for e in valid}
                assert self.operator.size() <= len({e[2] for e in valid}) + len(fresh)
            elif case.is_aggregate:
                valid = [e for e in self.histories[0] if e[1] > least]
                cuts = {t for e in self.histories[0] for t in e[:2] if t >= self.operator.progress()}
                groups = {e[2] for e in self.histories[0]}
                assert self.operator.size() <= len(valid) * (1 + len(cuts) * len(groups))
            else:
                self.check_join_state()

        def check_join_state(self) -> None:
            left, right = self.histories
            least = min(self.reached)
            valid = [
                element
                for port, history in enumerate(self.histories)
                for element in history
                if element[1] > self.reached[1 - port] and case.keeps(port, element[2])
            ]
            waiting = sum(
                max(l[0], r[0]) > least and min(l[1], r[1]) > max(l[0], r[0])
                for l in left  # noqa: E741
                for r in right
                if case.joins(l[2], r[2])
            )
            assert self.operator.size() == len(valid) + waiting

        @invariant()
        def all_is_counted(self) -> None:
            assert self.operator.received == list(map(len, self.histories))
            assert self.operator.emitted == len(self.out)

        def teardown(self) -> None:
            """In the end everything is out, and nothing is kept."""
            if not self.is_sound:
                return
            for port in self.open:
                self.end(port)
            outcome = compare(case.specified(self.histories), normal_form(self.out))
            assert outcome, str(outcome)
            assert self.operator.progress() == FOREVER
            assert self.operator.size() == 0
            assert list(self.operator.state()) == []

    return Conformance


def test_an_operator_keeps_the_contract(case: Any) -> None:
    run_state_machine_as_test(
        conformance(case),
        settings=settings(
            max_examples=max(15, settings.default.max_examples // 4),
            stateful_step_count=15,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_every_implementation_is_covered(cases: list[Any]) -> None:
    """The cases, a written list, and the table that plans are run by: discovery can fail silently, a list can
    be forgotten."""
    runnable = {chosen.name for options in IMPLEMENTATIONS.values() for chosen in options}
    assert {case.implementation for case in cases} == COVERED == runnable


def test_every_logical_operator_can_be_run() -> None:
    """Sources are fed from outside; for each other logical operator there is an implementation."""
    assert {kind.__name__ for kind in Logical.__subclasses__()} == {
        "Source",
        *(kind.__name__ for kind in IMPLEMENTATIONS),
    }
