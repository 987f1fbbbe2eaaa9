"""The meters at the windows of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from midstream.operators.engine.base import Base
from midstream.operators.engine.log import Log
from midstream.operators.engine.meter import Meter
from midstream.operators.engine.planner import form
from midstream.operators.engine.queries import RunningQuery
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import has_ordered_ends
from midstream.plans.values.streams import Time


class Meters(Mapping[Node, Meter]):
    """One meter at each window, as long as a query has it; with a log, as long as one of these wants one.

    Cost     O(windows of the query) to use and to release.
    """

    def __init__(self, base: Base) -> None:
        self._base = base
        self._meters: dict[Node, Meter] = {}
        self._users: dict[Node, set[str]] = {}
        self._logging: dict[Node, set[str]] = {}
        """By window, the queries that want a log of it."""
        self._windows: dict[str, list[Node]] = {}
        """By query."""

    def use(self, query: RunningQuery, windows: Iterable[Node], max_end: Callable[[Node], Time]) -> None:
        """A query has some windows, and no others, and may want a log of them. `max_end` tells
        how long what a window gave so far may be valid."""
        windows, before = list(windows), self._windows.get(query.name, [])
        logs = {
            node: Log(max_end(node))
            for node in windows
            if query.is_logged and form(node) == "intervals" and not self._logging.get(node)
        }
        self._windows[query.name] = windows
        for node in windows:
            if node not in self._meters:
                self._meters[node] = Meter(has_ordered_ends(node))
                self._users[node], self._logging[node] = set(), set()
            self._users[node].add(query.name)
            if query.is_logged:
                self._logging[node].add(query.name)
            if node in logs:
                self._keep(node, logs[node])
            self._base.tap(node, self._meters[node])
        for node in before:
            if node not in windows:
                self._release(node, query.name)

    def release(self, query: RunningQuery) -> None:
        """A query goes."""
        for node in self._windows.pop(query.name, []):
            self._release(node, query.name)

    def move(self, moved: Mapping[Node, Node]) -> None:
        """Windows run under other nodes, and their ends may decrease from now on, as those of a window that
        is made smaller."""
        changed = {old: new for old, new in moved.items() if new != old and old in self._meters}
        for name in {name for old in changed for name in self._users[old]}:
            self._windows[name] = [changed.get(node, node) for node in self._windows[name]]
        self._meters |= {new: self._meters.pop(old) for old, new in changed.items()}
        for queries in (self._users, self._logging):
            queries |= {new: queries.pop(old) for old, new in changed.items()}
        for new in changed.values():
            self._meters[new].expect_any_order()

    def _release(self, node: Node, query: str) -> None:
        self._users[node].discard(query)
        self._logging[node].discard(query)
        if not self._users[node]:
            del self._meters[node], self._users[node], self._logging[node]
            self._base.tap(node, None)
        elif not self._logging[node] and self._meters[node].log is not None:
            self._keep(node, None)

    def _keep(self, node: Node, log: Log | None) -> None:
        """A meter with another log sees by another function."""
        self._base.tap(node, None)
        self._meters[node].log = log
        self._base.tap(node, self._meters[node])

    def __getitem__(self, node: Node) -> Meter:
        return self._meters[node]

    def __iter__(self) -> Iterator[Node]:
        return iter(self._meters)

    def __len__(self) -> int:
        return len(self._meters)
