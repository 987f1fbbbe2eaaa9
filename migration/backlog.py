"""Backlog: the new plan is given its input in larger batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from midstream.migration.fork import Fork
from midstream.operators.base.box import Box, driver
from midstream.plans.values.streams import BEGINNING, Batch, Element, Time

MOST_WAITING = 64
"""How many elements of an input wait until the new plan is given them. As long as the old plan answers nobody
waits for what the new one says, and it takes a fraction of the time for many that it takes for each."""


class Backlog:
    """Around the new plan: what comes waits until there is more of it, and is forked and given then.

    Input    As the new plan. On `process` elements may wait, until `catch_up`.
    Output   What the new plan makes of its part, later.
    State    That of the new plan, and what waits: fewer than `limit` elements an input.
    Cost     O(1) per element besides the new plan's own.
    Raises   What the new plan raises; then what waited is lost to it.

    >>> from midstream.migration.fork import fork
    >>> from midstream.operators.engine.plan_box import PlanBox
    >>> from midstream.plans.algebra.builder import stream
    >>> backlog = Backlog(PlanBox(stream("s", x="integer", intervals=True).plan()), [fork(4.5)], limit=2)
    >>> backlog.process(0, [(2, 9, "a")], 2), backlog.waiting
    ([[]], 1)
    >>> backlog.process(0, [(3, 4, "b")], 3), backlog.waiting
    ([[(4.5, 9, 'a')]], 0)
    """

    def __init__(self, box: Box, forks: Sequence[Fork], limit: int | None = None) -> None:
        self.forks = forks
        self.limit = MOST_WAITING if limit is None else limit
        """How many elements of an input wait at most; with 0 nothing waits."""
        self.is_behind = False
        """Whether anything waits: elements, or the news how far an input is."""
        self._pending: list[Batch] = [[] for _ in forks]
        self._reached: list[Time] = [BEGINNING] * len(forks)
        self._told: list[Time | None] = [None] * len(forks)
        """By port, how far the new plan knows it to be; None where it was told nothing."""
        self.adopt(box)

    @property
    def waiting(self) -> int:
        """How many elements wait."""
        return sum(map(len, self._pending))

    def adopt(self, box: Box) -> None:
        """Go on with another Box as the new plan."""
        self.box = box
        """The new plan."""
        self._driver = driver(box)

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """A batch, possibly empty, and the progress of its port behind it; both may wait."""
        return self.catch_up() if self.take(port, batch, progress) else [[] for _ in self.box.outputs]

    def take(self, port: int, batch: Batch, progress: Time) -> bool:
        """Let a batch and the progress behind it wait. Tells whether it is time to catch up."""
        self._reached[port] = progress
        self.is_behind = True
        if not batch:
            return not self.limit
        pending = self._pending[port]
        pending += batch
        return len(pending) >= self.limit

    def catch_up(self) -> list[Batch]:
        """Give the new plan all that waits."""
        results: list[Batch] = [[] for _ in self.box.outputs]
        self.is_behind = False
        for port, fork in enumerate(self.forks):
            pending, reached = self._pending[port], self._reached[port]
            told = max(reached, fork.begins)
            if pending or told != self._told[port]:
                self._pending[port], self._told[port] = [], told
                append(results, self._driver.process(port, fork(pending, reached), told))
        return results

    def size(self) -> int:
        """Elements in the new plan, and those that wait."""
        return self.box.size() + self.waiting

    def state(self) -> Iterable[Element]:
        """The same elements."""
        return chain(self.box.state(), *self._pending)


def append(results: list[Batch], more: list[Batch]) -> list[Batch]:
    """Put results behind others, output by output."""
    for i, batch in enumerate(more):
        if batch:
            results[i] = results[i] + batch
    return results
