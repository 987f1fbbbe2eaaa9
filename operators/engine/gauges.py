"""Who measures running operators: one gauge at each, as long as somebody watches a query that has it."""

from __future__ import annotations

from collections.abc import Mapping

from midstream.operators.engine.base import Base
from midstream.operators.engine.metadata import Gauge, Metadata
from midstream.operators.engine.queries import RunningQuery
from midstream.plans.algebra.plan import Node


class Gauges:
    """The gauges of the queries that are watched, however often each is. Operators that nobody watches are
    not measured, and are not slower for being watchable."""

    def __init__(self, base: Base) -> None:
        self._base = base
        self._watched: list[RunningQuery] = []
        """Each as often as it is."""
        self._gauges: dict[Node, Gauge] = {}

    def watch(self, query: RunningQuery) -> None:
        """Somebody watches a query."""
        self._watched.append(query)
        self.place()

    def leave(self, query: RunningQuery) -> None:
        """Somebody does not any more."""
        if query in self._watched:
            self._watched.remove(query)
            self.place()

    def drop(self, query: RunningQuery) -> None:
        """A query is about to go."""
        if query in self._watched:
            self._watched = [one for one in self._watched if one is not query]
            self.place()

    def move(self, moved: Mapping[Node, Node]) -> None:
        """Operators run under other nodes; the gauges are to be placed."""
        self._gauges = {moved.get(node, node): gauge for node, gauge in self._gauges.items()}

    def read(self, query: RunningQuery) -> list[Metadata]:
        """What was measured so far of a query's operators, inputs before consumers."""
        return [self._gauges[node].read() for node in query.physical.nodes if node in self._gauges]

    def place(self) -> None:
        """Measure the operators of the queries that are watched, and no others."""
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
