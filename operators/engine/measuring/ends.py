"""The latest end timestamp that each running node may have produced.

Split times and replacements wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from heapq import heapify, heappop, heappush

from midstream.operators.base.operator import Operator
from midstream.operators.engine.input.relations import Relations
from midstream.operators.engine.measuring.meters import Meters
from midstream.operators.engine.running.planner import form
from midstream.operators.engine.running.queries import RunningQuery, lowest
from midstream.operators.signs.converters import IntervalsToSigns
from midstream.plans.algebra.operators import Relation
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import latest_end
from midstream.plans.values.streams import BEGINNING, FOREVER, Time

FEW = 16
"""Ends besides two for each query from which on those that are out of date are dropped."""


class Ends:
    """The largest end timestamps of elements that running nodes gave.

    The meters of windows tell them; results of windows last no longer than the windows' elements. Elements of
    a window that a query has dropped may last longer than those of all present windows, so their end is
    remembered while the query runs.
    """

    def __init__(
        self,
        queries: Mapping[str, RunningQuery],
        running: Mapping[Node, Operator],
        meters: Meters,
        relations: Relations,
    ) -> None:
        self._queries = queries
        self._running = running
        self._meters = meters
        self._relations = relations
        self._lasting: list[tuple[Time, str]] = []
        """A heap of the ends, negated, of elements that passed windows of a query that are gone."""

    def largest(self, node: Node) -> Time:
        """The largest end timestamp that a running node can have given."""
        lasting = self._last()
        if form(node) == "signs":
            # A meter would take signs for ends.
            operator = self._running.get(node)
            if isinstance(operator, IntervalsToSigns):
                return max(lasting, operator.last_end)
            return FOREVER if operator is not None and operator.emitted else lasting
        if node in self._meters:
            return max(lasting, self._meters[node].max_end)
        # Results end with the windows' elements; without a meter, with those of all metered windows.
        windows = lowest(Plan(node))
        if all(below in self._meters for below in windows):
            ends = {below: self.largest(below) for below in windows}
        else:
            ends = dict.fromkeys(windows, max(map(self.largest, self._meters), default=BEGINNING))
        for leaf in node.walk():
            if isinstance(leaf.operator, Relation):
                ends[leaf] = self._of_relations[leaf.operator.relation]
        return max(lasting, latest_end(node, ends))

    def outlast(self, query: RunningQuery, windows: Iterable[Node]) -> None:
        """Remember the ends of a query's windows that go."""
        lasting = max(map(self.largest, windows), default=BEGINNING)
        if lasting > query.lasting:
            query.lasting = lasting
            self.remember(query)

    def remember(self, query: RunningQuery) -> None:
        """Remember the end of a query again, as its name or the end has changed."""
        if query.lasting != BEGINNING:
            if len(self._lasting) > 2 * len(self._queries) + FEW:
                self._lasting = [one for one in self._lasting if self._is_known(*one)]
                heapify(self._lasting)
            heappush(self._lasting, (-query.lasting, query.name))

    def _is_known(self, lasting: Time, name: str) -> bool:
        return name in self._queries and self._queries[name].lasting == -lasting

    def _last(self) -> Time:
        """The largest end of elements that passed windows that are gone."""
        heap = self._lasting
        while heap and not self._is_known(*heap[0]):
            heappop(heap)
        return -heap[0][0] if heap else BEGINNING

    @cached_property
    def _of_relations(self) -> dict[str, Time]:
        """By relation, the largest end of a row."""
        return {
            name: max((end for _, end, _ in rows), default=BEGINNING)
            for name, rows in self._relations.items()
        }
