"""One contract for all operators: whatever arrives, in whatever order, they give what is specified, in order
and in time, and keep nothing that is of no use.

Each implementation is driven by a state machine of batches, heartbeats and ends on all its ports, and
compared with the logical algebra after every step: what starts before the reported progress must be out and
right. What an operator keeps is compared with models that say how much that is, or may be at most.
"""

from __future__ import annotations

import math
from typing import Any

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
from operator_cases import Case

from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.values.errors import EndedError, StreamOrderError
from midstream.plans.values.snapshots import compare, normal_form, snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

COVERED = {
    "aggregate",
    "band-join",
    "coalesce",
    "count-window",
    "difference",
    "distinct",
    "dstream",
    "filter",
    "granularity",
    "hash-anti-join",
    "hash-join",
    "hash-join-queued",
    "hash-list-join",
    "hash-semi-join",
    "intersection",
    "intervals-to-signs",
    "istream",
    "list-hash-join",
    "map",
    "max-union",
    "nested-loops-anti-join",
    "nested-loops-join",
    "nested-loops-join-queued",
    "nested-loops-semi-join",
    "partitioned-window",
    "signed-aggregate",
    "signed-anti-join",
    "signed-count-window",
    "signed-difference",
    "signed-distinct",
    "signed-filter",
    "signed-hash-join",
    "signed-intersection",
    "signed-map",
    "signed-max-union",
    "signed-nested-loops-join",
    "signed-partitioned-window",
    "signed-semi-join",
    "signed-strict-difference",
    "signed-time-window",
    "signed-union",
    "signs-to-intervals",
    "split",
    "strict-difference",
    "time-window",
    "union",
}


def conformance(case: Case) -> type[RuleBasedStateMachine]:
    """The state machine that drives an implementation."""
    arrivals = st.lists(st.tuples(case.gaps, case.lengths, case.payloads), min_size=1, max_size=4)
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
            assert self.operator.progress() == case.progress(self.histories, self.reached)

        @invariant()
        def size_is_the_number_of_elements_kept(self) -> None:
            assert self.operator.size() == len(list(self.operator.state()))

        @invariant()
        def nothing_is_kept_that_is_of_no_use(self) -> None:
            case.check_kept(list(self.operator.state()), self.operator)
            case.check_size(self.operator.size(), self.histories, self.reached)

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


def test_an_operator_keeps_the_contract(case: Case) -> None:
    run_state_machine_as_test(
        conformance(case),
        settings=settings(
            max_examples=max(15, settings.default.max_examples // 4),
            stateful_step_count=15,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_every_implementation_is_covered(cases: list[Case]) -> None:
    """The cases, a written list, and the table that plans are run by: discovery can fail silently, a list can
    be forgotten."""
    runnable = {chosen.name for options in IMPLEMENTATIONS.values() for chosen in options}
    assert {case.implementation for case in cases} == COVERED == runnable


def test_every_logical_operator_can_be_run() -> None:
    """Sources and relations are fed from outside; for each other logical operator there is an
    implementation."""
    kinds = {
        kind
        for kind in vars(logical).values()
        if isinstance(kind, type) and issubclass(kind, logical.Logical)
    }
    concrete = {kind.__name__ for kind in kinds if not any(kind in other.__mro__[1:] for other in kinds)}
    assert concrete == {"Source", "Relation", *(kind.__name__ for kind in IMPLEMENTATIONS)}
