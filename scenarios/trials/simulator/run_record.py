"""Measurements of a run on the grid of application time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from midstream.driving import Move
from midstream.engine import Engine
from midstream.migration.machine import Phase
from midstream.migration.report import report
from midstream.migration.transition import Transition
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import above, counted_node, input_nodes
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time, chronon_end
from midstream.scenarios.trials.simulator.conditions import Bucket
from midstream.scenarios.trials.simulator.input import Portion
from midstream.scenarios.trials.simulator.results import Moved, Series
from midstream.scenarios.trials.simulator.scenario import ScheduledMigration

_UNDER_WAY = (Phase.MOVING, Phase.DRAINING)


def sizes(migration: Transition) -> tuple[int, int, int]:
    """The state of the old boxes, of the new ones, and between them, in elements."""
    parts = [part for part in migration.parts if part.phase in _UNDER_WAY]
    old = sum(part.old.size() for part in parts if part.old is not None)
    return old, sum(part.new.size() for part in parts), sum(part.held() for part in parts)


@dataclass(slots=True)
class MigrationSpan:
    """A migration of a run, under way or over.

    strategy        its name
    cpu_aborting    CPU seconds for aborting it
    first, beyond   the first portion that arrived meanwhile, and the portion after the last
    note            further remarks
    """

    move: Move
    step: ScheduledMigration
    strategy: str
    asked: int
    first: int
    beyond: int | None = None
    ended: int | None = None
    aborted: int | None = None
    cpu_aborting: float = 0.0
    note: str = ""

    @property
    def migration(self) -> Transition:
        """The migration itself."""
        return self.move.migration

    @property
    def plan(self) -> Plan:
        """The plan to which it moves."""
        return self.migration.request.plan

    def as_result(self) -> Moved:
        """The migration as a result."""
        facts = report(self.migration)
        return Moved(
            to=self.step.to,
            plan=str(self.plan),
            asked=self.asked,
            condition=None if self.step.condition is None else self.step.condition.text,
            began=_finite(self.migration.started),
            split=facts.split_time,
            ended=self.ended,
            phase=facts.phase,
            aborted=self.aborted,
            reason="; ".join(filter(None, (self.migration.reason, self.note))),
            results_old=facts.results_old,
            results_new=facts.results_new,
            results_fused=facts.results_fused,
            unmatched=facts.unmatched,
            peak_old=facts.peak_state_old,
            peak_new=facts.peak_state_new,
            peak_held=facts.peak_held,
            seconds=self.move.seconds,
        )


class RunRecord:
    """Fills the buckets of the grid, one after the other."""

    def __init__(self, engine: Engine, bucket_seconds: float, *, with_bytes: bool) -> None:
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
        self._emitted = 0
        """Elements that operators emitted up to the last bucket."""
        self._rows: list[tuple[Any, ...]] = []

    def take(self, portion: Portion) -> None:
        """Count a portion that the engine took."""
        self._elements[portion.stream] += len(portion.batch or ())

    def give(self, at: int, results: Sequence[Element]) -> None:
        """Record the latencies of results that came out at an instant."""
        if results:
            # A result may begin in the future, at the end of the streams; then its latency is 0.
            self._latencies.extend(max(0, at - start) for start, _, _ in results)  # type: ignore[misc]
            if not self.giving or self.giving[-1] != at:
                self.giving.append(at)

    def close(self, migration: Transition | None, is_moved: bool) -> Bucket:
        """Close a bucket.

        `migration` is the one under way; `is_moved` is True if an earlier migration was completed.
        """
        counters = self._engine.counters()
        total = counters.intermediate
        emitted = sum(n for node, n in counters.emitted.items() if node.inputs) + counters.earlier
        if migration is None:
            physical, kept = self._engine.query().physical, self._engine.held()
            upper = {counted_node(node) for node in above(physical, input_nodes(physical))}
            size = sum(kept[node] for node in upper)
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
                emitted - self._emitted,
                old,
                new,
                held,
                state - old - new - held,
                sum(self._engine.held(in_bytes=True).values()) if self._with_bytes else None,
                mean,
                max(latencies, default=None),
            )
        )
        self._latency_sum += sum(latencies)
        self._latency_max = max([self._latency_max, *latencies])
        self._elements, self._latencies, self._counted, self._emitted = Counter(), [], total, emitted
        return found

    def series(self, cpu: Sequence[float]) -> Series:
        """All buckets, with the cumulative processing at the end of each."""
        return Series(*zip(*self._rows, strict=True), tuple(cpu))  # type: ignore[call-arg]

    def latency(self, results: int) -> tuple[float | None, int | None]:
        """The mean and the largest latency of all results."""
        return (self._latency_sum / results, self._latency_max) if results else (None, None)


def longest_pause(giving: Sequence[int], spans: Sequence[tuple[int, int | None]] | None = None) -> int | None:
    """The longest time between consecutive instants at which results came out.

    With `spans`, only pauses that overlap one of them count; None as its end is the end of the run.

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


def processing(
    cpu: Sequence[float], moves: Sequence[MigrationSpan], taken: Sequence[int], every: int
) -> tuple[float, ...]:
    """By bucket, the cumulative seconds of processing at its end.

    They include the time for beginning and aborting migrations.
    """
    of_portions = [0.0, *accumulate(cpu)]
    asides = [(move.asked, move.move.seconds) for move in moves]
    asides += [(move.step.abort_at, move.cpu_aborting) for move in moves if move.step.abort_at is not None]
    # The last bucket includes all later portions.
    ends = [*range(every, len(taken) * every, every), FOREVER]
    return tuple(
        of_portions[portions] + sum(seconds for at, seconds in asides if at < end)
        for portions, end in zip(taken, ends, strict=True)
    )


def speed(results: int, seconds: float) -> float | None:
    """Results per second of processing."""
    return results / seconds if seconds else None


def _finite(time: Time) -> int | None:
    whole = chronon_end(time)
    return whole if isinstance(whole, int) and whole != BEGINNING else None
