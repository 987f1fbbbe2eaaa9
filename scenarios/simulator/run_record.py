"""What is measured of a run, on the grid of application time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from midstream.engine import Engine
from midstream.migration.transition import Transition
from midstream.operators.base.box import element_bytes
from midstream.operators.base.operator import Operator
from midstream.plans.values.streams import Element
from midstream.scenarios.simulator.conditions import Bucket
from midstream.scenarios.simulator.input import Portion
from midstream.scenarios.simulator.migrations import kept_elements, operators, running, sizes
from midstream.scenarios.simulator.results import Series


class Intermediate:
    """Counts what operators gave to operators: to all that ran above the windows of an engine's query, in old
    plans and in new ones."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen: dict[int, Operator] = {}

    def total(self, migration: Transition | None = None) -> int:
        """The count so far, with the operators of a migration that is under way."""
        self._seen |= {id(one): one for one in operators(self._engine, migration)}
        return sum(one.emitted for one in self._seen.values()) - self._engine.counters()["results"]


class RunRecord:
    """Fills the buckets of the grid, one after the other."""

    def __init__(self, engine: Engine, bucket_seconds: float, *, with_bytes: bool) -> None:
        self.intermediate = Intermediate(engine)
        self._engine = engine
        self._bucket_seconds = bucket_seconds
        self._with_bytes = with_bytes
        self._elements: Counter[str] = Counter()
        self._latencies: list[int] = []
        self._latency_sum, self._latency_max = 0, 0
        self.giving: list[int] = []
        """The instants at which results came out."""
        self._counted = 0
        """Intermediate results up to the last bucket."""
        self._rows: list[tuple[Any, ...]] = []

    def take(self, portion: Portion, results: Sequence[Element]) -> None:
        """Something was given to the engine, and results came out."""
        if portion.batch:
            self._elements[portion.stream] += len(portion.batch)
        self.give(portion.at, results)

    def give(self, at: int, results: Sequence[Element]) -> None:
        """Results came out at an instant."""
        if results:
            # A result may begin in the future, at the end of the streams; then nobody waits for it.
            self._latencies.extend(max(0, at - start) for start, _, _ in results)  # type: ignore[misc]
            if not self.giving or self.giving[-1] != at:
                self.giving.append(at)

    def close(self, migration: Transition | None, is_moved: bool) -> Bucket:
        """A bucket is over. `migration` is the one under way; `is_moved` tells whether one was carried
        through before."""
        total = self.intermediate.total(migration)
        if migration is None:
            size = sum(one.size() for one in running(self._engine))
            old, new, held = (0, size, 0) if is_moved else (size, 0, 0)
        else:
            old, new, held = sizes(migration)
        state = self._engine.size()
        latencies = self._latencies
        mean = sum(latencies) / len(latencies) if latencies else None
        found = Bucket(
            self._bucket_seconds, self._elements, len(latencies), total - self._counted, state, mean
        )
        self._rows.append(
            (
                self._elements.total(),
                len(latencies),
                total - self._counted,
                old,
                new,
                held,
                state - old - new - held,
                self._bytes() if self._with_bytes else None,
                mean,
                max(latencies, default=None),
            )
        )
        self._latency_sum += sum(latencies)
        self._latency_max = max([self._latency_max, *latencies])
        self._elements, self._latencies, self._counted = Counter(), [], total
        return found

    def series(self, cpu: Sequence[float]) -> Series:
        """All buckets, with what was processed until the end of each."""
        return Series(*zip(*self._rows, strict=True), tuple(cpu))  # type: ignore[call-arg]

    def latency(self, results: int) -> tuple[float | None, int | None]:
        """The mean and the largest of all results' latencies."""
        return (self._latency_sum / results, self._latency_max) if results else (None, None)

    def _bytes(self) -> int:
        """Of operators; what waits where streams enter is not looked into."""
        return sum(map(element_bytes, kept_elements(self._engine)))


def longest_pause(giving: Sequence[int], spans: Sequence[tuple[int, int | None]] | None = None) -> int | None:
    """Between consecutive instants at which results came out; only of those that have a part in one of the
    spans, where there are any; None stands for the end of the run.

    >>> longest_pause([0, 5, 6, 9]), longest_pause([0, 5, 6, 9], [(6, None)]), longest_pause([4])
    (5, 3, None)
    """
    return max(
        (
            after - before
            for before, after in pairwise(giving)
            if spans is None
            or any(after > since and (until is None or before < until) for since, until in spans)
        ),
        default=None,
    )
