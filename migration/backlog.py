"""Backlog: collect the new plan's input and pass it on in larger batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from midstream.migration.fork import Fork
from midstream.operators.base.box import Box, driver
from midstream.plans.values.streams import BEGINNING, Batch, Element, Time

MOST_WAITING = 64
"""The largest number of elements per input that wait for the new plan.

While the old plan answers, nobody waits for the new plan's results, and processing many elements together
takes a fraction of the time of processing each alone.
"""


class Backlog:
    """A new plan whose input is collected, forked, and passed on in larger batches.

    Input    As the new plan. Elements given to `process` may wait until `catch_up`.
    Output   The new plan's results for its part of the input, later.
    State    The new plan's, and the waiting elements: fewer than `limit` per input.
    Cost     O(1) per element besides the new plan's own.
    Raises   What the new plan raises; the elements that waited are then lost to it.

    >>> from midstream.migration.fork import fork
    >>> from midstream.operators.engine.running.plan_box import PlanBox
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
        """The largest number of elements per input that wait; with 0 nothing waits."""
        self.is_behind = False
        """True while elements, or the new progress of an input, wait."""
        self._pending: list[Batch] = [[] for _ in forks]
        self._reached: list[Time] = [BEGINNING] * len(forks)
        self._announced: list[Time | None] = [None] * len(forks)
        """By port, the progress that the new plan was given last; None before the first."""
        self.adopt(box)

    @property
    def waiting(self) -> int:
        """The number of waiting elements."""
        return sum(map(len, self._pending))

    def adopt(self, box: Box) -> None:
        """Go on with another Box as the new plan."""
        self.box = box
        """The new plan."""
        self._driver = driver(box)

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """Take a batch, possibly empty, and the progress of its port behind it; both may wait."""
        return self.catch_up() if self.take(port, batch, progress) else [[] for _ in self.box.outputs]

    def take(self, port: int, batch: Batch, progress: Time) -> bool:
        """Let a batch and the progress behind it wait; returns True if it is time to catch up."""
        self._reached[port] = progress
        self.is_behind = True
        if not batch:
            return not self.limit
        pending = self._pending[port]
        pending += batch
        return len(pending) >= self.limit

    def catch_up(self) -> list[Batch]:
        """Pass all that waits on to the new plan."""
        results: list[Batch] = [[] for _ in self.box.outputs]
        self.is_behind = False
        for port, fork in enumerate(self.forks):
            pending, reached = self._pending[port], self._reached[port]
            progress = max(reached, fork.begins)
            if pending or progress != self._announced[port]:
                self._pending[port], self._announced[port] = [], progress
                append(results, self._driver.process(port, fork(pending, reached), progress))
        return results

    def size(self) -> int:
        """The number of elements in the new plan, and of those that wait."""
        return self.box.size() + self.waiting

    def state(self) -> Iterable[Element]:
        """The elements in the new plan, and those that wait."""
        return chain(self.box.state(), *self._pending)


def append(results: list[Batch], more: list[Batch]) -> list[Batch]:
    """Append more results to results, output by output."""
    for i, batch in enumerate(more):
        if batch:
            results[i] = results[i] + batch
    return results
