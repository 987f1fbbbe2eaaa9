"""Split and coalesce: validity cut into pieces, and put together again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any

from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Running, operator_of
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import windows as facts
from midstream.plans.values.errors import IntervalError
from midstream.plans.values.streams import FOREVER, Batch, Element, Payload, Time, chronon_end

MOST_PIECES = 2_000_000
"""The largest number of pieces that are cut at once.

A row that is valid for a day, in milliseconds, has 86 million chronons: its pieces would fill the memory
before the first result is seen.
"""


class Split(Operator):
    """Cut validity into pieces of `length` chronons, the last of which may be shorter.

        split(l, S)@t  =  S@t

    Each element is cut from its own start on. An element that starts inside a chronon, because a migration
    has cut it there, is cut at the end of that chronon and from there on. So its first piece fits together
    with the last piece of the part before the migration, which ends inside the same chronon, and both are not
    too long.

    An element without an end is cut as long as the stream lasts. When the stream has ended, the rest is one
    piece. That piece is no chronon, so an element without an end cannot be cut into chronons.

    Input    One port, ordered by start.
    Output   Ordered by start. A piece leaves when the progress has reached its start.
    State    The elements that are longer than their pieces so far.
    Cost     O(1) per piece, and O(log n) per instant at which there are pieces to cut.
    Raises   IntervalError where pieces must be chronons and an element never ends; then nothing of the batch
             is taken. IntervalError where there are more than `MOST_PIECES` to cut at once.
    Source   thesis, Algorithm 15, which does not say where to cut inside a chronon

    >>> split = Split(2)
    >>> split.push(0, [(1, 6, "c"), (4, 5, "a")])
    [(1, 3, 'c'), (3, 5, 'c'), (4, 5, 'a')]
    >>> split.advance(0, 5)
    [(5, 6, 'c')]
    """

    def __init__(self, length: int = 1) -> None:
        super().__init__()
        self._length = length
        self._due: dict[Time, list[tuple[Time, Payload]]] = {}
        """By instant, the ends and payloads of pieces that start there."""
        self._instants: list[Time] = []
        """A heap of these instants."""
        self._held = 0

    def process(self, port: int, batch: Batch, progress: Time) -> Batch:
        """Process as every operator, but refuse elements without an end where pieces are chronons."""
        if self._length == 1 and batch:
            self._refuse_endless(batch)
        return super().process(port, batch, progress)

    def _refuse_endless(self, batch: Batch) -> None:
        for element in batch:
            if element[1] == FOREVER:
                raise IntervalError(
                    f"{self.name}, port 0: found {element!r}, which is valid for ever, expected an end: it "
                    "cannot be cut into chronons",
                    operator=self.name,
                    element=element,
                )

    def _process(self, port: int, batch: Batch) -> Batch:
        out: Batch = []
        for start, end, payload in batch:
            self._release(start, out)
            self._cut(start, end, payload, out)
        self._release(self.reached[0], out)
        return out

    def _release(self, time: Time, out: Batch) -> None:
        """Cut off the pieces that start up to a time."""
        instants = self._instants
        while instants and instants[0] <= time:
            if len(out) >= MOST_PIECES:
                raise IntervalError(
                    f"{self.name}, port 0: found more than {MOST_PIECES:,} pieces to cut at once, up to "
                    f"{time}; count time in a coarser unit, or look at it in a coarser granularity",
                    operator=self.name,
                )
            start = heappop(instants)
            rests = self._due.pop(start)
            self._held -= len(rests)
            for end, payload in rests:
                if end == time == FOREVER:
                    out.append((start, end, payload))
                else:
                    self._cut(start, end, payload, out)

    def _cut(self, start: Time, end: Time, payload: Payload, out: Batch) -> None:
        """Give out the first piece and keep the rest."""
        until: Time = chronon_end(start)
        if until == start:
            until += self._length
        if end <= until:
            out.append((start, end, payload))
            return
        out.append((start, until, payload))
        rests = self._due.get(until)
        if rests is None:
            rests = self._due[until] = []
            heappush(self._instants, until)
        rests.append((end, payload))
        self._held += 1

    def size(self) -> int:
        """The number of elements with pieces still to come."""
        return self._held

    def state(self) -> Iterable[Element]:
        """The rests of these elements."""
        for start, rests in self._due.items():
            yield from ((start, end, payload) for end, payload in rests)


class Coalesce(Operator):
    """Merge elements of one payload whose intervals meet, up to a length of `longest` chronons.

        coalesce(l, S)@t  =  S@t

    An element is extended by another one of equal payload that starts at its end; if several end there, the
    one kept last is extended. It is given out when it has become `longest` chronons long, or when no element
    can start at its end any more. It waits for those that start before it, so an output is delayed by
    `longest` chronons at most.

    Input    One port, ordered by start.
    Output   Ordered by start.
    State    The elements that may be extended, and those that wait behind them.
    Cost     O(1) amortised per element.
    Source   thesis, Algorithm 17

    >>> coalesce = Coalesce(20)
    >>> coalesce.push(0, [(1, 7, "b"), (3, 9, "d"), (7, 15, "b")])
    []
    >>> coalesce.progress()
    1
    >>> coalesce.advance(0, 16)
    [(1, 15, 'b'), (3, 9, 'd')]
    """

    def __init__(self, longest: int) -> None:
        super().__init__()
        self._longest = longest
        self._waiting: deque[list[Any]] = deque()
        """`[start, end, payload]` in order of start."""
        self._open: dict[tuple[Time, Payload], list[list[Any]]] = {}
        """The elements that may be extended, by end and payload."""

    def _process(self, port: int, batch: Batch) -> Batch:
        waiting, open_, longest = self._waiting, self._open, self._longest
        for start, end, payload in batch:
            before = open_.get((start, payload))
            if before is None:
                grown = [start, end, payload]
                waiting.append(grown)
            else:
                grown = before.pop()
                grown[1] = end
                if not before:
                    del open_[start, payload]
            if end < grown[0] + longest:
                open_.setdefault((end, payload), []).append(grown)
        return self._leave()

    def _leave(self) -> Batch:
        waiting, progress = self._waiting, self.reached[0]
        out: Batch = []
        while waiting:
            start, end, payload = waiting[0]
            if end < start + self._longest:
                if end >= progress:
                    break
                # No other element with this end and payload can be extended either.
                self._open.pop((end, payload), None)
            waiting.popleft()
            out.append((start, end, payload))
        return out

    def progress(self) -> Time:
        """The start of the first waiting element; the progress of the input if none waits."""
        return self._waiting[0][0] if self._waiting else self.reached[0]

    def size(self) -> int:
        """The number of elements that may be extended, and of those behind them."""
        return len(self._waiting)

    def state(self) -> Iterable[Element]:
        """The elements that may be extended, and those behind them."""
        return ((start, end, payload) for start, end, payload in self._waiting)


RUNNING: Running = {
    facts.SPLIT: lambda node: Split(operator_of(node, logical.Split).length),
    facts.COALESCE: lambda node: Coalesce(operator_of(node, logical.Coalesce).longest),
}
