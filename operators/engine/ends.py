"""Until when what running nodes gave may be valid: what split times and replacements have to wait for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from heapq import heappop, heappush

from midstream.operators.base.operator import Operator
from midstream.operators.engine.meters import Meters
from midstream.operators.engine.planner import form
from midstream.operators.engine.queries import RunningQuery, lowest
from midstream.operators.engine.relations import Relations
from midstream.operators.signs.converters import IntervalsToSigns
from midstream.plans.algebra.operators import Relation
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import latest_end
from midstream.plans.values.streams import BEGINNING, FOREVER, Time


class Ends:
    """The largest end timestamps of what running nodes gave.

    Windows tell them by their meters; what is made of windows lasts no longer than they do. A window that a
    query does not have any more may have given what lasts longer than all that are there: that is remembered
    as long as the query runs.
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
        """A heap of how long, negated, what came through windows that are gone may be valid, by query."""

    def largest(self, node: Node) -> Time:
        """The largest end timestamp that a running node can have given."""
        lasting = self._last()
        if form(node) == "signs":
            # A meter takes signs for ends.
            operator = self._running.get(node)
            if isinstance(operator, IntervalsToSigns):
                return max(lasting, operator.last_end)
            return FOREVER if operator is not None and operator.emitted else lasting
        if node in self._meters:
            return max(lasting, self._meters[node].max_end)
        # What is made of windows lasts no longer than they do; where one is not metered, than all that are.
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
        """Windows of a query go; what they gave does not go at once."""
        lasting = max(map(self.largest, windows), default=BEGINNING)
        if lasting > query.lasting:
            query.lasting = lasting
            self.remember(query)

    def remember(self, query: RunningQuery) -> None:
        """A query has another name, or what came through windows that it had lasts longer."""
        if query.lasting != BEGINNING:
            heappush(self._lasting, (-query.lasting, query.name))

    def _last(self) -> Time:
        """Until when what came through windows that are gone may be valid."""
        heap, queries = self._lasting, self._queries
        while heap and (heap[0][1] not in queries or queries[heap[0][1]].lasting != -heap[0][0]):
            heappop(heap)
        return -heap[0][0] if heap else BEGINNING

    @cached_property
    def _of_relations(self) -> dict[str, Time]:
        """By relation, until when a row of it is valid."""
        return {
            name: max((end for _, end, _ in rows), default=BEGINNING)
            for name, rows in self._relations.items()
        }
