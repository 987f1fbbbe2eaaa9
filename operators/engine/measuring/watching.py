"""Watches of streams: a watcher gets elements cell by cell of a grid of application time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from operator import add
from typing import Protocol

from midstream.operators.compile.inlets import FULL, Mark
from midstream.operators.engine.measuring.sampling import Ahead, by_step
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

        If the watcher `gathers`, it gets elements as they come, also those ahead of the next look: they start
        at `progress` or later. Other ones may follow before `progress` then.
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

    A watcher may put a look off: `put_off` is asked at its instant, and returns after how many instants to
    ask again; 0 to look. A cell lasts until the next look then.

    State    The elements that start from the last look on. If the watcher `gathers`, `FULL` of them, and as
             many as the last batch has.
    Cost     O(1) per batch while the next look is planned, else O(streams · log elements), which is also the
             cost of an instant; instants before the one to which a look is put off cost nothing.
    """

    def __init__(
        self,
        watcher: Watcher,
        streams: Iterable[str],
        step: int,
        idle: int = IDLE,
        put_off: Callable[[int], int] | None = None,
        *,
        gathers: bool = False,
    ) -> None:
        self.watcher = watcher
        self.marks: Mapping[str, Mark] = {stream: Mark(is_passed_on=gathers) for stream in streams}
        """The marks by stream."""
        self.next: Time = FOREVER
        """The next instant to look at; FOREVER while none is known."""
        self.step = step
        """The chronons between instants."""
        self._idle, self._put_off, self._gathers = idle, put_off, gathers
        self._passed_on = dict.fromkeys(self.marks, 0)
        """By stream, the number of elements that have been passed on since the last look, of its cell."""
        self._ahead: dict[str, Ahead[int]] = {stream: Ahead(add) for stream in self.marks}
        """By stream, the numbers of elements that have been passed on ahead of the next look, by step."""
        self._pause = 1
        """The number of instants from the last one that was looked at, or asked for, to the next."""
        self._asked: int | None = None
        """The number of that instant."""
        self._latest = 0
        """The last cell with elements before it."""
        self.is_planned = False
        """False before the first look, and after a silence: the next look depends on who comes first."""

    def reach(self, others: Time) -> Time:
        """The start before which elements of a stream need not wait, if all others have come so far.

        Where the next look is not planned, an element of another stream may still bring it forward.
        """
        if self.is_planned or others == FOREVER:
            return self.next
        if others == BEGINNING:
            return BEGINNING
        return min(self.next, self._instant(int(others // self.step) + 1))

    def note(self, stream: str, batch: Batch) -> None:
        """Note elements that are about to run or to wait."""
        mark = self.marks[stream]
        mark.elements += batch
        if mark.limit == BEGINNING:
            self._set_next()

    def relieve(self, stream: str) -> None:
        """Pass on the elements of a stream that have come so far, if its mark is full."""
        mark = self.marks[stream]
        if mark.is_passed_on and len(mark.elements) >= FULL:
            self._pass_on(stream)

    def pass_on(self) -> None:
        """Pass on all elements that have come so far, if the watcher gathers."""
        if self._gathers:
            for stream in self.marks:
                self._pass_on(stream)

    def _pass_on(self, stream: str) -> None:
        elements = self.marks[stream].first(len(self.marks[stream].elements))
        until = self.next if self.is_planned else BEGINNING
        for number, some in by_step(elements, until, self.step):
            if number is None:
                self._passed_on[stream] += len(some)
                self._latest = max(self._latest, int(some[-1][0] // self.step))
            else:
                self._ahead[stream].add(number, len(some))
        if elements:
            self.watcher.take(stream, elements, until)

    def look(self) -> None:
        """Pass on all elements that start before the next instant, and look there, or put the look off."""
        assert isinstance(self.next, int)
        now = self.next
        self._asked = now // self.step
        cuts = self._cuts(now)
        last = (self.marks[stream].elements[cut - 1][0] for stream, cut in cuts.items())
        ahead = (number for one in self._ahead.values() for number in one.cells if number < self._asked)
        self._latest = max([self._latest, *(int(start // self.step) for start in last), *ahead])
        self._pause = 1
        try:
            put_off = self._put_off(now) if self._put_off else 0
        except Exception:
            self._set_next()  # the next instant comes all the same
            raise
        self._pause = put_off or 1
        if put_off:
            self._set_next()
            return
        cells = {stream: self.marks[stream].first(cut) for stream, cut in cuts.items()}
        for stream, one in self._ahead.items():
            self._passed_on[stream] = 0
            one.first(self._asked)
        self._set_next()
        for stream, cell in cells.items():
            self.watcher.take(stream, cell, now)
        self.watcher.look(now)

    def finish(self) -> None:
        """Pass on the remaining elements without a look, as all streams have ended."""
        for stream, mark in self.marks.items():
            elements, at = mark.first(len(mark.elements)), 0
            while at < len(elements):
                # Looks that may be put off have cells of any number of steps.
                last = elements[at if self._put_off is None else -1]
                end = self._instant(int(last[0] // self.step) + 1)
                since, at = at, bisect_left(elements, end, at, key=START)
                self.watcher.take(stream, elements[since:at], end)
        self.next = FOREVER

    def came(self, until: int) -> dict[str, int]:
        """By stream, the number of elements from the last look on that start before an instant."""
        cuts, last = self._cuts(until), until // self.step
        return {
            stream: passed_on
            + cuts.get(stream, 0)
            + sum(count for number, count in self._ahead[stream].cells.items() if number < last)
            for stream, passed_on in self._passed_on.items()
        }

    def _cuts(self, until: int) -> dict[str, int]:
        """By stream, the number of elements in its mark that start before an instant, if any."""
        cuts = {stream: bisect_left(mark.elements, until, key=START) for stream, mark in self.marks.items()}
        return {stream: cut for stream, cut in cuts.items() if cut}

    def _set_next(self) -> None:
        asked = BEGINNING if self._asked is None else self._instant(self._asked)
        new = [
            int(mark.elements[at][0] // self.step)
            for mark in self.marks.values()
            if (at := bisect_left(mark.elements, asked, key=START)) < len(mark.elements)
        ]
        new += [number for one in self._ahead.values() if (number := one.next(self._asked)) is not None]
        coming = min(new, default=None)
        number = next_look(self._asked, self._latest, self._idle, coming, self._pause)
        self.next = FOREVER if number is None else self._instant(number)
        # Nobody who comes can bring it forward: it is the first instant behind the pause.
        self.is_planned = self._asked is not None and number == self._asked + self._pause
        for mark in self.marks.values():
            mark.limit = self.next if self.is_planned else BEGINNING

    def _instant(self, number: int) -> int:
        return number * self.step


def next_look(looked: int | None, latest: int, idle: int, coming: int | None, pause: int = 1) -> int | None:
    """The number of the next instant of a grid to look at; None where none is known.

    looked   the last one that was looked at
    latest   the last cell before it with elements
    idle     the number of instants that are looked at behind that cell
    coming   the next cell with elements
    pause    the number of instants from the last one to the next, at least

    >>> next_look(None, 0, 2, 5), next_look(6, 5, 2, None), next_look(7, 5, 2, 20), next_look(7, 5, 2, None)
    (6, 7, 21, None)
    """
    if looked is not None and looked + pause <= latest + idle:
        return looked + pause
    soonest = 0 if looked is None else looked + pause
    return None if coming is None else max(coming + 1, soonest)
