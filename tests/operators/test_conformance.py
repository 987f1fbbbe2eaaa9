"""One contract for all operators: whatever arrives, in whatever order, they give what is specified, in order
and in time, and keep nothing that is of no use.

Each implementation passes the suite for Boxes of `midstream.testing`. Beyond it, results are compared with
the logical algebra after every event: what starts before the reported progress must be out and right. What an
operator keeps is compared with models that say how much that is, or may be at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from operator_cases import Case

from midstream.operators.base.operator import Operator
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.properties import logical as logical_of
from midstream.plans.values.errors import EndedError, StreamOrderError
from midstream.plans.values.snapshots import snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time
from midstream.testing import Watched, check_box

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
    "sample",
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


class Alone:
    """An operator as a Box of its own."""

    outputs = ("out",)

    def __init__(self, case: Case) -> None:
        self.inputs = case.sources
        self.operator = case.operator()

    def push(self, port: int, batch: Batch) -> list[Batch]:
        return [self.operator.push(port, batch)]

    def advance(self, port: int, time: Time) -> list[Batch]:
        return [self.operator.advance(port, time)]

    def end(self, port: int) -> list[Batch]:
        return [self.operator.end(port)]

    def progress(self, output: int = 0) -> Time:
        return self.operator.progress()

    def size(self) -> int:
        return self.operator.size()

    def state(self) -> Iterable[Element]:
        return self.operator.state()

    def counters(self) -> Mapping[str, int]:
        return {"emitted": self.operator.emitted}


@st.composite
def complete(draw: st.DrawFn, case: Case) -> list[Element]:
    """A stream for a port of an operator."""
    arrived = draw(st.lists(st.tuples(case.gaps, case.lengths, case.payloads), max_size=10))
    starts = accumulate(gap for gap, _, _ in arrived)
    return [
        (start, start + (1 if case.has_chronons else length), payload)
        for start, (_, length, payload) in zip(starts, arrived, strict=True)
    ]


def more_of_operators(case: Case) -> Callable[[Watched], None]:
    """What our own operators promise beyond what every Box does."""

    def examine(watched: Watched) -> None:
        alone: Any = watched.box
        operator, histories, reached = alone.operator, watched.histories, watched.reached
        assert operator.progress() == case.progress(histories, reached), "not as far as it can be"
        case.check_kept(list(operator.state()), operator)
        case.check_size(operator.size(), histories, reached)
        assert operator.emitted == len(watched.results[0])
        require_all_that_is_known(case, watched)
        require_order(operator, reached)

    return examine


def require_all_that_is_known(case: Case, watched: Watched) -> None:
    """What starts before the progress must be out and right: at every instant that no result to come can
    reach. An eager operator has also given out what it knows to start at that very instant."""
    progress, before = watched.promised(), watched.promised_before
    if progress == BEGINNING:
        return
    times = [t for h in watched.histories for start, end, _ in h for t in (start, end) if math.isfinite(t)]
    last = progress if progress != FOREVER else max(times, default=0)
    first = before if before != BEGINNING else min(times, default=last)
    for instant in range(first, last + 1):
        if instant == progress and not case.is_eager:
            break
        expected = case.snapshot(watched.histories, instant)
        assert snapshot(watched.results[0], instant) == expected, f"wrong at {instant}"


def require_order(operator: Operator, reached: Sequence[Time]) -> None:
    """An element that goes back in time is refused, and nothing of its batch is taken."""
    for port, time in enumerate(reached):
        if time == FOREVER:
            with pytest.raises(EndedError):
                operator.push(port, [(10**6, 10**6 + 1, (1, 1))])
        elif time != BEGINNING:
            for late in (time - 1, time + 1):
                with pytest.raises(StreamOrderError, match=f"port {port}: .* starts at"):
                    operator.push(port, [(late, late + 1, (1, 1)), (time, time + 1, (1, 1))])


def test_an_operator_keeps_the_contract(case: Case) -> None:
    check_box(
        lambda: Alone(case),
        inputs=[complete(case)] * len(case.sources),
        means=case.plan,
        migrates=logical_of(case.node).is_snapshot_reducible,
        after_event=more_of_operators(case),
        examples=settings.default.max_examples // 3,
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
