"""Difference, strict difference, intersection and max-union: operators on multiplicities of equal rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import chain, islice

from midstream.operators.base.compaction import SPARE
from midstream.operators.base.expiry import Expiry
from midstream.operators.base.operator import Operator
from midstream.operators.base.port_order import PortElement, PortOrder
from midstream.operators.base.running import Running
from midstream.plans.algebra.implementations import rows as facts
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Payload, Time


class _Row:
    """A payload with its present multiplicities on both sides, and its open segments."""

    # There is no __init__, as rows are made often: few payloads are there when their next element comes.
    __slots__ = ("carriers", "first", "later", "open", "others", "payload")

    payload: Payload
    carriers: int
    others: int
    open: int
    """The number of open segments."""
    # There is hardly ever more than one, and a deque is large.
    first: int
    """The number of the oldest open segment, if there is one."""
    later: deque[int]
    """The numbers of the other open segments."""


_NONE_LATER: deque[int] = deque()
"""The empty queue of most rows; it is never filled."""


class Multisets(Operator):
    """Give each payload as often as a function of its multiplicities on two sides says.

        multisets(L, R)@t  =  { e, f(n, m) times | e is n times in L@t, m times in R@t }

    The operator sweeps over application time. One side carries the results: f(n, m) is at most the carrier's
    multiplicity, and as many segments of the payload are open. At the end of an instant, segments are opened
    where f has risen above their number, and closed, the oldest first, where it has fallen. A rise and a fall
    at the same instant cancel, except that every end of a carrying element closes a segment: otherwise rows
    that replace each other would keep one open for ever, and all results behind it.

    Segments are queued as they open, which is in order of their starts, and leave from the front when closed.

    Input    Two ports, each ordered by start; one may run ahead of the other.
    Output   Ordered by start. A result is no longer than the longest carrying element; it leaves when its end
             is known and no earlier segment is open.
    State    The valid elements; elements that start after the least progress; open segments and closed ones
             behind them.
    Cost     O(1) amortised per element where ends are ordered, else O(log n), however many rows are equal.
    Source   thesis, (8.6), (8.12) to (8.14); Algorithm 8 gives the same results, but scans the equal elements

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
        """From the multiplicities on the carrying side and the other one to the number of results."""
        self._carrier = carrier
        self._others_pass = others_pass
        """True if the other side's elements are results as well."""
        self._arrivals = PortOrder(2)
        self._rows: dict[Payload, _Row] = {}
        # The end and the row of each valid element: no object is made for it, and its row is known when it
        # ends. The sides have windows of their own, so each expires by itself.
        self._carriers: Expiry[_Row] = Expiry()
        self._others: Expiry[_Row] = Expiry()
        self._now: Time = BEGINNING
        self._touched: list[_Row] = []
        """The rows that have changed at this instant."""
        # Segments by number, in order of starts; an end is None while the segment is open.
        self._starts: list[Time] = []
        self._segment_ends: list[Time | None] = []
        self._payloads: list[Payload] = []
        self._first = 0
        """The place of the first segment that has not left."""
        self._gone = 0
        """The number of segments taken out before the first place."""

    def _process(self, port: int, batch: Batch) -> Batch:
        starts, ends, payloads = self._starts, self._segment_ends, self._payloads
        left, right = self.reached
        bound = left if left < right else right
        arrivals = self._arrivals.take(port, batch, bound)
        if bound > self._now or arrivals:
            self._sweep(arrivals, bound)
        first, count = self._first, len(ends)
        out: Batch = []
        while first < count and (end := ends[first]) is not None:
            out.append((starts[first], end, payloads[first]))
            first += 1
        if first and (first == count or 2 * first > count + SPARE):
            del starts[:first], ends[:first], payloads[:first]
            self._gone += first
            first = 0
        self._first = first
        return out

    def _sweep(self, arrivals: list[PortElement], bound: Time) -> None:
        """Process elements at their starts, and all ends of elements up to the bound, in order."""
        rows, touched = self._rows, self._touched
        ends, valid, late = self._carriers.ends, self._carriers.items, self._carriers.late
        other_ends, other_valid, other_late = self._others.ends, self._others.items, self._others.late
        carrier, others_pass = self._carrier, self._others_pass
        starts, segment_ends, payloads, gone = self._starts, self._segment_ends, self._payloads, self._gone
        now = self._now
        # No element arrives at the bound, but the loop must reach it.
        for start, side, element in [*arrivals, (bound, carrier, None)]:
            while True:
                instant = start
                if ends and ends[0] < instant:
                    instant = ends[0]
                if other_ends and other_ends[0] < instant:
                    instant = other_ends[0]
                if instant > now:
                    if touched:
                        self._finish_instant(now)
                        touched.clear()
                    now = instant
                while ends and ends[0] == instant:
                    ends.popleft()
                    row = valid.popleft()
                    if late and late[0][0] < ends[0]:
                        self._carriers.move_up()
                    row.carriers -= 1
                    if row.open:
                        segment_ends[row.first - gone] = instant
                        row.open -= 1
                        if row.open:
                            row.first = row.later.popleft()
                    if row.carriers or row.others:
                        touched.append(row)
                    else:
                        del rows[row.payload]
                while other_ends and other_ends[0] == instant:
                    other_ends.popleft()
                    row = other_valid.popleft()
                    if other_late and other_late[0][0] < other_ends[0]:
                        self._others.move_up()
                    row.others -= 1
                    if row.carriers or row.others:
                        touched.append(row)
                    else:
                        del rows[row.payload]
                if instant == start:
                    break
            if element is None:
                break
            _, end, payload = element
            if payload in rows:
                row = rows[payload]
            else:
                row = rows[payload] = _Row()
                row.payload, row.later = payload, _NONE_LATER
                row.carriers = row.others = row.open = 0
            touched.append(row)
            if side == carrier:
                row.carriers += 1
                if ends and end < ends[-1]:
                    self._carriers.add(end, row)
                else:
                    ends.append(end)
                    valid.append(row)
            else:
                row.others += 1
                if other_ends and end < other_ends[-1]:
                    self._others.add(end, row)
                else:
                    other_ends.append(end)
                    other_valid.append(row)
                if others_pass:
                    starts.append(start)
                    segment_ends.append(end)
                    payloads.append(payload)
        self._now = now

    def _finish_instant(self, now: Time) -> None:
        """Finish an instant: open segments where f has risen, and close those where it has fallen."""
        f = self._f
        starts, ends, payloads, gone = self._starts, self._segment_ends, self._payloads, self._gone
        for row in self._touched:
            rise = f(row.carriers, row.others) - row.open
            while rise > 0:
                number = gone + len(starts)
                starts.append(now)
                ends.append(None)
                payloads.append(row.payload)
                if not row.open:
                    row.first = number
                elif row.later:
                    row.later.append(number)
                else:
                    row.later = deque((number,))
                row.open += 1
                rise -= 1
            while rise < 0:
                ends[row.first - gone] = now
                row.open -= 1
                if row.open:
                    row.first = row.later.popleft()
                rise += 1

    def progress(self) -> Time:
        """The start of the first segment that has not left; the least progress if there is none."""
        return self._starts[self._first] if self._starts else min(self.reached)

    def size(self) -> int:
        """The number of valid elements, waiting elements, open segments, and closed ones that wait."""
        valid = len(self._carriers) + len(self._others)
        return valid + len(self._arrivals) + len(self._starts) - self._first

    def state(self) -> Iterable[Element]:
        """The valid elements, reduced to payload and end, the waiting elements, and the segments."""
        yield from ((self._now, end, row.payload) for end, row in chain(self._carriers, self._others))
        yield from self._arrivals
        segments = zip(self._starts, self._segment_ends, self._payloads, strict=True)
        for start, end, payload in islice(segments, self._first, None):
            # An open segment's end is not known yet; it lies ahead.
            yield start, FOREVER if end is None else end, payload


def surplus(n: int, m: int) -> int:
    """The number by which n exceeds m."""
    return n - m if n > m else 0


def alone(n: int, m: int) -> int:
    """The number n where m is zero, else 0."""
    return 0 if m else n


RUNNING: Running = {
    facts.DIFFERENCE: lambda node: Multisets(surplus),
    facts.STRICT_DIFFERENCE: lambda node: Multisets(alone),
    facts.INTERSECTION: lambda node: Multisets(min),
    # max(n, m) = n + (m - n, where that is positive): the left elements, and right minus left.
    facts.MAX_UNION: lambda node: Multisets(surplus, 1, others_pass=True),
}
