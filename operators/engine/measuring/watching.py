"""Watches of streams: a watcher gets elements cell by cell of a grid of application time."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from typing import Protocol

from midstream.operators.compile.inlets import Mark
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Batch, Time

IDLE = 64
"""The default number of instants that are still looked at behind the last element."""


class Watcher(Protocol):
    """An object that sees the elements of streams, and looks at instants of a grid of application time.

    At an instant it has got all elements of all streams that start before it, and no others. The elements
    that it gets, and when, depend neither on batch boundaries nor on how far one stream is ahead; nor does
    what has run by then, of streams that wait for looks (see `Feed.watch`).
    """

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Take elements of a stream, not none, by start, and within one cell of the grid.

        No other element comes before `progress`, the end of the cell. A cell may come in several pieces.
        """

    def look(self, now: int) -> None:
        """Look at `now`: all streams have come to it.

        Elements that start from then on have not run on the last of the streams, nor on those that wait
        for it. The queries may be changed.
        """


class Watch:
    """A watcher, its grid, and the elements that it has yet to get.

    Instants are multiples of `step`; cell n lasts from the n-th to the next. Behind the last element, only
    `idle` instants are looked at, so that silence costs nothing; then the first one behind the next element.

    State    The elements that start from the last look on.
    Cost     O(1) per batch within a cell; O(streams) per cell and look.
    """

    def __init__(self, watcher: Watcher, streams: Iterable[str], step: int, idle: int = IDLE) -> None:
        self.watcher = watcher
        self.marks: Mapping[str, Mark] = {stream: Mark() for stream in streams}
        """The marks by stream."""
        self.next: Time = FOREVER
        """The next instant to look at; FOREVER while none is known."""
        self._step, self._idle = step, idle
        self._cells: dict[str, deque[tuple[int, Batch]]] = {stream: deque() for stream in self.marks}
        """By stream, the elements that the watcher has yet to get, by the numbers of cells."""
        self._coming: list[int] = []
        """A heap of the cells with elements, from the last look on."""
        self._looked: int | None = None
        """The number of the last instant that was looked at."""
        self._latest = 0
        """The last cell with elements before it."""

    def note(self, stream: str, batch: Batch) -> None:
        """Note elements that are about to run, or some of them after others have been looked at."""
        mark = self.marks[stream]
        if batch[-1][0] < mark.end:
            mark.extend(batch)
            return
        at = 0
        while at < len(batch):
            if batch[at][0] >= mark.end:
                self._begin_cell(stream, mark, batch[at][0])
            end = bisect_left(batch, mark.end, at, key=START)
            mark.extend(batch[at:end])
            at = end
        self._set_next()

    def _begin_cell(self, stream: str, mark: Mark, start: Time) -> None:
        number = int(start // self._step)
        cell: Batch = []
        self._cells[stream].append((number, cell))
        heappush(self._coming, number)
        mark.end = self._instant(number + 1)
        mark.append, mark.extend = cell.append, cell.extend

    def look(self) -> None:
        """Pass on all elements that start before the next instant, and look there."""
        assert isinstance(self.next, int)
        now = self.next
        self._looked = now // self._step
        while self._coming and self._coming[0] < self._looked:
            self._latest = heappop(self._coming)
        self._set_next()
        self._tell(self._looked)
        self.watcher.look(now)

    def finish(self) -> None:
        """Pass on the remaining elements without a look, as all streams have ended."""
        self._tell(None)
        self._coming.clear()
        self.next = FOREVER

    def _tell(self, before: int | None) -> None:
        for stream, cells in self._cells.items():
            while cells and (before is None or cells[0][0] < before):
                number, cell = cells.popleft()
                self.watcher.take(stream, cell, self._instant(number + 1))

    def _set_next(self) -> None:
        coming = self._coming[0] if self._coming else None
        number = next_look(self._looked, self._latest, self._idle, coming)
        self.next = FOREVER if number is None else self._instant(number)
        for mark in self.marks.values():
            mark.limit = mark.end if mark.end <= self.next else BEGINNING  # else elements may have to wait

    def _instant(self, number: int) -> int:
        return number * self._step


def next_look(looked: int | None, latest: int, idle: int, coming: int | None) -> int | None:
    """The number of the next instant of a grid to look at; None where none is known.

    looked   the last one that was looked at
    latest   the last cell before it with elements
    idle     the number of instants that are looked at behind that cell
    coming   the next cell with elements

    >>> next_look(None, 0, 2, 5), next_look(6, 5, 2, None), next_look(7, 5, 2, 20), next_look(7, 5, 2, None)
    (6, 7, 21, None)
    """
    if looked is not None and looked < latest + idle:
        return looked + 1
    return None if coming is None else coming + 1
