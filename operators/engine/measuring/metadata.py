"""Measurements of running operators, taken on request (thesis, 13.4.1)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter_ns

from midstream.operators.base.box import StateSize, state_size
from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.base import Base
from midstream.operators.engine.running.queries import RunningQuery
from midstream.plans.algebra.plan import Node
from midstream.plans.values.streams import BEGINNING, END, FOREVER, START, Batch, Time


@dataclass(frozen=True, slots=True)
class Metadata:
    """The measurements of an operator since the watch began.

    Rates are in elements per chronon; d, l and g are in chronons, as in the cost model (thesis, 22.2): d is
    the average distance of starts; l is the average length of validity, infinite if one is; g is the granule,
    the greatest common divisor of all distances between timestamps. A value that is not known yet is None.
    Rows that are valid from the beginning of time, as those of relations, have no start, so they count for
    neither rates nor d; and l is infinite then.
    """

    node: Node
    """The node of the physical plan."""
    received: int
    emitted: int
    input_rate: float | None
    output_rate: float | None
    selectivity: float | None
    """Results per element received; for a join, per pair of elements (one of each side) received."""
    d: float | None
    l: float | None  # noqa: E741 - the model's own letter
    g: int | None
    state: StateSize
    seconds: float
    """The time spent in the operator."""

    @property
    def microseconds(self) -> float | None:
        """The time spent per element received."""
        return 1e6 * self.seconds / self.received if self.received else None

    def __str__(self) -> str:
        shown = f"{self.node.operator}: {self.received} in, {self.emitted} out, keeps {self.state.elements}"
        return shown if self.microseconds is None else f"{shown}, {self.microseconds:.1f} µs an element"


class _Starts:
    """The number of starts, the first and the last one; rows that are valid from the beginning have none."""

    def __init__(self) -> None:
        self.number = 0
        self.first: Time = FOREVER
        self.last: Time = BEGINNING

    def take(self, batch: Batch) -> None:
        """Take elements in order of start."""
        if batch and batch[-1][0] != BEGINNING:
            behind = bisect_right(batch, BEGINNING, key=START)
            self.number += len(batch) - behind
            self.first, self.last = min(self.first, batch[behind][0]), max(self.last, batch[-1][0])

    @property
    def rate(self) -> float | None:
        """Elements per chronon, from the first start to the chronon of the last one."""
        return self.number / float(self.last - self.first + 1) if self.number else None

    @property
    def distance(self) -> float | None:
        """The average distance of starts."""
        return float(self.last - self.first) / (self.number - 1) if self.number > 1 else None


class Gauge:
    """Measures one operator.

    Cost     O(1) per element in and out, and two readings of the clock per batch.
    """

    def __init__(self, node: Node, operator: Operator) -> None:
        self.node = node
        self._operator = operator
        self._received = [0] * max(1, len(node.inputs))
        self._emitted = 0
        self._came, self._gone = _Starts(), _Starts()
        self._length: float = 0
        self._granule = 0
        self._timestamp: Time = FOREVER
        """A timestamp, to which distances are measured; FOREVER before the first one."""
        self._nanoseconds = 0

    def process(self, port: int, batch: Batch, progress: Time) -> Batch:
        """Run the operator's `process`, and measure it."""
        begun = perf_counter_ns()
        out = self._operator.process(port, batch, progress)
        self._nanoseconds += perf_counter_ns() - begun
        self._take(port, batch)
        self._give(out)
        return out

    def _take(self, port: int, batch: Batch) -> None:
        self._received[port] += len(batch)
        self._came.take(batch)

    def _give(self, batch: Batch) -> None:
        if not batch:
            return
        starts, ends = list(map(START, batch)), list(map(END, batch))
        self._emitted += len(batch)
        self._gone.take(batch)
        self._length += sum(ends) - sum(starts)
        times = [int(t) for t in starts + ends if BEGINNING < t < FOREVER]
        if times and self._timestamp == FOREVER:
            self._timestamp = times[0]
        self._granule = math.gcd(self._granule, *(t - int(self._timestamp) for t in times))

    def read(self) -> Metadata:
        """The measurements so far.

        Cost     O(state)
        """
        received, pairs = sum(self._received), math.prod(self._received)
        is_binary = len(self._received) == 2
        base = pairs if is_binary else received
        return Metadata(
            node=self.node,
            received=received,
            emitted=self._emitted,
            input_rate=self._came.rate,
            output_rate=self._gone.rate,
            selectivity=self._emitted / base if base else None,
            d=self._gone.distance,
            l=self._length / self._emitted if self._emitted else None,
            g=self._granule or None,
            state=state_size(self._operator),
            seconds=self._nanoseconds / 1e9,
        )


class Gauges:
    """The gauges of watched queries, one per operator however often a query is watched.

    Operators without a watch are not measured, so they are not slowed down.
    """

    def __init__(self, base: Base) -> None:
        self._base = base
        self._watched: list[RunningQuery] = []
        """The watched queries, each once per watch."""
        self._gauges: dict[Node, Gauge] = {}

    def watch(self, query: RunningQuery) -> None:
        """Begin a watch of a query."""
        self._watched.append(query)
        self.place()

    def leave(self, query: RunningQuery) -> None:
        """End a watch of a query."""
        if query in self._watched:
            self._watched.remove(query)
            self.place()

    def drop(self, query: RunningQuery) -> None:
        """End all watches of a query that is about to go."""
        if query in self._watched:
            self._watched = [watched for watched in self._watched if watched is not query]
            self.place()

    def move(self, moved: Mapping[Node, Node]) -> None:
        """Take note that operators run under other nodes."""
        self._gauges = {moved.get(node, node): gauge for node, gauge in self._gauges.items()}
        for node, gauge in self._gauges.items():
            gauge.node = node

    def read(self, query: RunningQuery) -> list[Metadata]:
        """The measurements so far of a query's operators, inputs before consumers."""
        return [self._gauges[node].read() for node in query.physical.nodes if node in self._gauges]

    def place(self) -> None:
        """Measure the operators of the watched queries, and no others."""
        if not self._watched and not self._gauges:
            return
        operators = self._base.running
        watched = {node for query in self._watched for node in query.physical.nodes}
        gauges = {
            node: self._gauges.get(node) or Gauge(node, operators[node])
            for node in watched
            if node in operators
        }
        for node in self._gauges.keys() - gauges.keys():
            if node in operators:
                self._base.measure(node, None)
        for node, gauge in gauges.items():
            self._base.measure(node, gauge.process)
        self._gauges = gauges
