"""Meters: the last elements of windows, and of sources that windows do not show.

They serve the statistics of the cost model, and split times.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping

from midstream.operators.base.walk import Take
from midstream.operators.engine.running.base import Base
from midstream.operators.engine.running.log import Log
from midstream.operators.engine.running.planner import form
from midstream.operators.engine.running.queries import RunningQuery
from midstream.operators.engine.running.sharing import as_they_came, shown_by
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import has_ordered_ends, logical_node
from midstream.plans.values.streams import BEGINNING, END, Batch, Element, Time

RECENT = 4096
"""The number of last elements that a meter keeps."""


class Meter:
    """The last elements that a node gave, and the largest end of all; and a log, if one is requested.

    Cost     O(1) per element, in C loops, besides the log.
    """

    __slots__ = ("_has_ordered_ends", "_max_end", "log", "recent")

    def __init__(self, has_ordered_ends: bool) -> None:
        self._has_ordered_ends = has_ordered_ends
        self._max_end: Time = BEGINNING
        self.recent: deque[Element] = deque(maxlen=RECENT)
        self.log: Log | None = None
        """The elements that are still valid; None if no log is requested."""

    @property
    def see(self) -> Take:
        """The function that takes every batch."""
        if self.log is not None:
            return self._see_and_keep
        return self.recent.extend if self._has_ordered_ends else self._see

    def resume(self, recent: Iterable[Element], max_end: Time) -> None:
        """Continue from the last elements, and the largest end, before the meter began."""
        self.recent.extend(recent)
        self._max_end, self._has_ordered_ends = max_end, False

    def expect_any_order(self) -> None:
        """Allow ends to decrease from now on; `see` is another function then."""
        self._max_end = self.max_end
        self._has_ordered_ends = False

    def _see(self, batch: Batch) -> None:
        self.recent.extend(batch)
        self._max_end = max(self._max_end, *map(END, batch))

    def _see_and_keep(self, batch: Batch) -> None:
        assert self.log is not None
        self._see(batch)
        self.log.see(batch)

    @property
    def max_end(self) -> Time:
        """The largest end timestamp so far; BEGINNING before the first."""
        if not self._has_ordered_ends:
            return self._max_end
        return self.recent[-1][1] if self.recent else BEGINNING


class Meters(dict[Node, Meter]):
    """One meter at each window, and at each source whose elements windows do not show, while a query has it.

    A window's meter has a log while one of these queries requests it.

    Cost     O(windows and sources of the query) to use and to release.
    """

    def __init__(self, base: Base) -> None:
        self._base = base
        self._users: dict[Node, set[RunningQuery]] = {}
        self._logging: dict[Node, set[RunningQuery]] = {}
        """By window, the queries that request a log of it."""
        self._windows: dict[RunningQuery, list[Node]] = {}
        """The metered nodes by query."""

    def use(
        self,
        query: RunningQuery,
        windows: Iterable[Node],
        sources: Mapping[Node, Time],
        max_end: Callable[[Node], Time],
    ) -> None:
        """Meter these windows and sources of a query, and no others.

        If the query is logged, its windows get a log. `sources` are given with the largest end so far;
        `max_end` tells the largest end that a window can have given so far.
        """
        windows, before = list(windows), self._windows.get(query, [])
        logs = {
            node: Log(max_end(node))
            for node in windows
            if query.is_logged and form(node) == "intervals" and not self._logging.get(node)
        }
        self._windows[query] = metered = list(dict.fromkeys([*windows, *sources]))
        for node in metered:
            if node not in self:
                self[node] = self._begun(node, sources.get(node, BEGINNING))
                self._users[node], self._logging[node] = set(), set()
            self._users[node].add(query)
            if query.is_logged and node in windows:
                self._logging[node].add(query)
            if node in logs:
                self._keep(node, logs[node])
            self._base.tap(node, self[node])
        for node in before:
            if node not in metered:
                self._release(node, query)

    def of(self, query: RunningQuery) -> list[Node]:
        """The metered nodes of a query."""
        return self._windows.get(query, [])

    def _begun(self, node: Node, max_end: Time) -> Meter:
        """A new meter; for a source, it begins with the elements that a window above has shown."""
        meter = Meter(has_ordered_ends(node))
        if max_end != BEGINNING:
            above = (window for window in self if shown_by(logical_node(window)) == node)
            shown = next((self[window].recent for window in above), ())
            meter.resume(as_they_came(shown), max_end)
        return meter

    def release(self, query: RunningQuery) -> None:
        """Release the meters of a query that goes."""
        for node in self._windows.pop(query, []):
            self._release(node, query)

    def move(self, moved: Mapping[Node, Node]) -> None:
        """Take note that windows run over other inputs, so that their ends may decrease from now on.

        Their operators are about to be connected anew, with what their meters see then.
        """
        for new in self.rename(moved):
            self[new].expect_any_order()

    def rename(self, moved: Mapping[Node, Node]) -> list[Node]:
        """Take note that windows run under other nodes; returns the new ones."""
        changed = {old: new for old, new in moved.items() if new != old and old in self}
        for query in {query for old in changed for query in self._users[old]}:
            self._windows[query] = [changed.get(node, node) for node in self._windows[query]]
        self.update({new: self.pop(old) for old, new in changed.items()})
        for queries in (self._users, self._logging):
            queries |= {new: queries.pop(old) for old, new in changed.items()}
        return list(changed.values())

    def _release(self, node: Node, query: RunningQuery) -> None:
        self._users[node].discard(query)
        self._logging[node].discard(query)
        if not self._users[node]:
            del self[node], self._users[node], self._logging[node]
            self._base.tap(node, None)
        elif not self._logging[node] and self[node].log is not None:
            self._keep(node, None)

    def _keep(self, node: Node, log: Log | None) -> None:
        """Give a meter another log, which it sees by another function."""
        self._base.tap(node, None)
        self[node].log = log
        self._base.tap(node, self[node])
