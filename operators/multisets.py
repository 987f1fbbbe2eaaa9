"""Difference, strict difference, intersection and max-union: operators on multiplicities of equal rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from midstream.operators.arrivals import Arrival, Arrivals
from midstream.operators.expiry import Expiry
from midstream.operators.implementation import Implementation, Table
from midstream.operators.operator import Operator
from midstream.plans import logical
from midstream.plans.streams import BEGINNING, FOREVER, Batch, Element, Payload, Time

Segment = list[Any]
"""A result, `[start, end, payload]`. Its end is None while it is open."""


class _Row:
    """How often a payload is valid now on either side, and its open segments."""

    # Made without a call of Python: hardly any payload is there when its next element comes.
    __slots__ = ("carriers", "first", "open", "others", "payload", "rest")

    payload: Payload
    carriers: int
    others: int
    open: int
    """How many segments are open."""
    # Hardly ever is more than one, and a deque is large.
    first: Segment | None
    rest: deque[Segment] | None

    def add(self, segment: Segment) -> None:
        """A segment has been opened."""
        self.open += 1
        if self.first is None:
            self.first = segment
        elif self.rest is None:
            self.rest = deque((segment,))
        else:
            self.rest.append(segment)

    def close(self, end: Time) -> None:
        """Close the oldest open segment."""
        assert self.first is not None
        self.open -= 1
        self.first[1] = end
        self.first = self.rest.popleft() if self.rest else None


class Multisets(Operator):
    """Give each payload as often as its multiplicities on two sides say.

        multisets(L, R)@t  =  { e, f(n, m) times | e is n times in L@t, m times in R@t }

    The operator sweeps over application time. One side carries the results: f(n, m) is at most the carrier's
    multiplicity, and so many segments of the payload are open. When an instant is over, segments are opened
    where f has risen over it, and closed, the oldest first, where it has fallen. What rises and falls at the
    same instant cancels, except that every end of a carrying element closes a segment: otherwise rows that
    replace each other would keep one open for ever, and all results behind it.

    Segments are queued as they open, which is in order of their starts, and leave from the front when closed.

    Input    Two ports, each ordered by start; one may run ahead of the other.
    Output   Ordered by start. A result is no longer than the longest carrying element; it leaves when its end
             is known and no earlier segment is open.
    State    The valid elements; elements that start after the least progress; open segments and closed ones
             behind them.
    Cost     O(1) amortised per element where ends are ordered, else O(log n), however many rows are equal.
    Source   thesis, (8.6), (8.12) to (8.14); Algorithm 8 is agreed with, but it scans the equal elements

    >>> difference = Multisets(surplus)
    >>> difference.push(0, [(5, 11, "a"), (6, 14, "d"), (12, 17, "b")])
    []
    >>> difference.push(1, [(3, 9, "d"), (7, 15, "b")])       # nothing is known of what ends after 7
    []
    >>> difference.end(0) + difference.end(1)
    [(5, 11, 'a'), (9, 14, 'd'), (15, 17, 'b')]
    """

    ports = 2

    def __init__(self, f: Callable[[int, int], int], carrier: int = 0, *, others_pass: bool = False) -> None:
        super().__init__()
        self._f = f
        """From the multiplicities on the carrying side and on the other one to how many are to be open."""
        self._carrier = carrier
        self._others_pass = others_pass
        """Whether the other side's elements are results as well."""
        self._arrivals = Arrivals(2)
        # Of rows and payloads, what is in tuples only costs the garbage collector nothing.
        self._expiry: Expiry[tuple[Payload, bool]] = Expiry()
        self._rows: dict[Payload, _Row] = {}
        self._now: Time = BEGINNING
        self._touched: list[_Row] = []
        """What has changed at this instant."""
        self._segments: deque[Segment] = deque()

    def worker(self, port: int) -> Callable[[Batch], Batch]:
        """The work of a port, as a function that has at hand what it needs."""
        reached, segments, take, sweep = self.reached, self._segments, self._arrivals.take, self._sweep

        def work(batch: Batch) -> Batch:
            left, right = reached
            bound = left if left < right else right
            arrivals = take(port, batch, bound)
            if bound > self._now or arrivals:
                sweep(arrivals, bound)
            out: Batch = []
            while segments and segments[0][1] is not None:
                start, end, payload = segments.popleft()
                out.append((start, end, payload))
            return out

        return work

    def _process(self, port: int, batch: Batch) -> Batch:
        return self._workers[port](batch)

    def _sweep(self, arrivals: list[Arrival], bound: Time) -> None:
        """Go through elements at their starts, and on to the bound, by way of the instants at which elements
        end."""
        rows, touched, segments, f = self._rows, self._touched, self._segments, self._f
        expiry, carrier, others_pass = self._expiry, self._carrier, self._others_pass
        now = self._now
        # Nothing arrives at the bound, but it has to be reached.
        for start, side, element in [*arrivals, (bound, carrier, None)]:
            while True:
                upcoming = expiry.next
                instant = start if upcoming is None or start < upcoming else upcoming
                if instant > now:
                    for row in touched:
                        rise = f(row.carriers, row.others) - row.open
                        while rise > 0:
                            segment = [now, None, row.payload]
                            row.add(segment)
                            segments.append(segment)
                            rise -= 1
                        while rise < 0:
                            row.close(now)
                            rise += 1
                    touched.clear()
                    now = instant
                if upcoming != instant:
                    break
                end, (payload, is_carrier) = expiry.pop()
                row = rows[payload]
                if is_carrier:
                    row.carriers -= 1
                    if row.open:
                        row.close(end)
                else:
                    row.others -= 1
                if row.carriers or row.others:
                    touched.append(row)
                else:
                    del rows[payload]
            if element is None:
                break
            _, end, payload = element
            if payload in rows:
                row = rows[payload]
            else:
                row = rows[payload] = _Row()
                row.payload, row.first, row.rest = payload, None, None
                row.carriers = row.others = row.open = 0
            if side == carrier:
                row.carriers += 1
                expiry.add(end, (payload, True))
            else:
                row.others += 1
                expiry.add(end, (payload, False))
                if others_pass:
                    segments.append(list(element))
            touched.append(row)
        self._now = now

    def progress(self) -> Time:
        """The start of the first segment that has not left; the least progress where there is none."""
        return self._segments[0][0] if self._segments else min(self.reached)

    def size(self) -> int:
        """Valid elements, elements that wait, open segments, and closed ones that wait."""
        return len(self._expiry) + len(self._arrivals) + len(self._segments)

    def state(self) -> Iterable[Element]:
        """Valid elements, reduced to what is kept of them, elements that wait, and segments."""
        for end, (payload, _) in self._expiry:
            yield self._now, end, payload
        yield from self._arrivals
        for start, end, payload in self._segments:
            # An open segment's end is not known yet; it lies ahead.
            yield start, FOREVER if end is None else end, payload


def surplus(n: int, m: int) -> int:
    """By how much n exceeds m."""
    return n - m if n > m else 0


def alone(n: int, m: int) -> int:
    """n where m is zero."""
    return 0 if m else n


IMPLEMENTATIONS: Table = {
    logical.Difference: (Implementation("difference", lambda node: Multisets(surplus)),),
    logical.StrictDifference: (Implementation("strict-difference", lambda node: Multisets(alone)),),
    logical.Intersection: (Implementation("intersection", lambda node: Multisets(min)),),
    # max(n, m) = n + (m - n, where that is positive): the left elements, and right minus left.
    logical.MaxUnion: (Implementation("max-union", lambda node: Multisets(surplus, 1, others_pass=True)),),
}
