"""Duplicate elimination over interval streams."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from midstream.operators.base.compaction import SPARE
from midstream.operators.base.expiry import Expiry
from midstream.operators.base.operator import Operator
from midstream.operators.base.output import OrderedOutput
from midstream.operators.base.running import Running
from midstream.plans.algebra.implementations import rows as facts
from midstream.plans.algebra.properties import has_ordered_ends
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Payload, Time

Covered = tuple[Time, Payload, Time | None]
"""The end up to which a payload has been given out, the payload, and the end of its next part if known."""

_NOTHING = object()
"""A payload that stands for no element."""


class Distinct(Operator):
    """Give every valid payload once.

        distinct(S)@t  =  { e | e in S@t }        (each once)

    Only the part by which an element outlives the equal elements before it is new. That part may start later
    than elements still to come, and then it waits.

    State    Per payload, the end up to which it has been given out, while that lies ahead; and the parts that
             wait.
    Cost     O(1) amortised per element where ends are ordered, else O(log n).
    Source   thesis, Algorithm 7, with erratum 1: the kept part is the one that the new element adds

    >>> distinct = Distinct()
    >>> distinct.push(0, [(5, 11, "a"), (6, 14, "d"), (9, 10, "a"), (10, 12, "a")])
    [(5, 11, 'a'), (6, 14, 'd')]
    >>> distinct.end(0)
    [(11, 12, 'a')]
    """

    def __init__(self) -> None:
        super().__init__()
        self._covered: dict[Payload, Time] = {}
        self._expiry: Expiry[Payload] = Expiry()
        self._output = OrderedOutput()

    def _process(self, port: int, batch: Batch) -> Batch:
        covered, expiry = self._covered, self._expiry
        fresh: Batch = []
        for element in batch:
            start, end, payload = element
            until = covered.get(payload)
            if until is None or until <= start:
                fresh.append(element)
            elif until < end:
                fresh.append((until, end, payload))
            else:
                continue
            covered[payload] = end
            expiry.add(end, payload)
        progress = self.reached[0]
        for end, payload in expiry.expired(progress):
            # An entry that was extended since has a later expiry of its own.
            if covered.get(payload) == end:
                del covered[payload]
        return self._output.release(fresh, progress)

    def resume(self, covered: Iterable[Covered]) -> None:
        """Continue with payloads given out so far, and with parts that wait."""
        for end, payload, following in covered:
            if following is None:
                self._covered[payload] = end
                self._expiry.add(end, payload)
            else:
                self._output.release([(end, following, payload)], self.reached[0])

    def size(self) -> int:
        """The number of covered payloads, and of waiting parts."""
        return len(self._covered) + len(self._output)

    def state(self) -> Iterable[Element]:
        """The covered payloads, each until its end, and the waiting parts."""
        progress = self.reached[0]
        yield from ((min(progress, end), end, payload) for payload, end in self._covered.items())
        yield from self._output


class FifoDistinct(Operator):
    """Give every valid payload once, where ends never decrease.

    Then expiry is a queue, and a waiting part is kept with the part that it follows, so that parts come out
    in order by themselves. Should an end decrease all the same, because a window has been made smaller, the
    operator goes on as Distinct.

    >>> distinct = FifoDistinct()
    >>> distinct.push(0, [(5, 11, "a"), (6, 14, "d"), (10, 15, "a")])
    [(5, 11, 'a'), (6, 14, 'd')]
    >>> distinct.end(0)
    [(11, 15, 'a')]
    """

    def __init__(self) -> None:
        super().__init__()
        # The end up to which each payload has been given out, the payload, and the end of its next part once
        # known: in columns, which are read in order of time, and allocate no objects.
        self._ends: list[Time] = []
        self._payloads: list[Payload] = []
        self._nexts: list[Time | None] = []
        self._first = 0
        """The place of the first entry that has not ended."""
        self._gone = 0
        """The number of entries taken out before the first place."""
        self._last: dict[Payload, int] = {}
        """By payload, the number of its last entry, counted from the beginning; the entry may have gone."""
        self._general: Distinct | None = None

    def _process(self, port: int, batch: Batch) -> Batch:
        reached, last, find = self.reached, self._last, self._last.get
        ends, payloads, nexts = self._ends, self._payloads, self._nexts
        if self._general is not None:
            return self._general.process(0, batch, reached[0])
        out: Batch = []
        first, gone, count = self._first, self._gone, len(ends)
        latest = ends[-1] if ends else BEGINNING
        # No element arrives at the progress, but the loop must reach it.
        elements = iter([*batch, (reached[0], FOREVER, _NOTHING)])
        for element in elements:
            start, end, payload = element
            while first < count and ends[first] <= start:
                following = nexts[first]
                if following is not None:
                    out.append((ends[first], following, payloads[first]))
                first += 1
            if payload is _NOTHING:
                break
            if end < latest:
                self._first = first
                *remaining, _ = element, *elements
                return out + self._generalise(remaining)
            place = find(payload, -1) - gone
            if place < first:
                out.append(element)
            elif latest < end or ends[place] < end:
                nexts[place] = end
            else:
                continue
            last[payload] = gone + count
            ends.append(end)
            payloads.append(payload)
            nexts.append(None)
            latest = end
            count += 1
        self._first = first
        if first == count or 2 * first > count + SPARE:
            self._forget()
        return out

    def _forget(self) -> None:
        """Forget the entries that have ended."""
        first, last = self._first, self._last
        del self._ends[:first], self._payloads[:first], self._nexts[:first]
        self._gone += first
        self._first = 0
        if not self._ends:
            last.clear()
        elif len(last) > 2 * len(self._ends) + SPARE:
            kept = {payload: number for payload, number in last.items() if number >= self._gone}
            last.clear()
            last.update(kept)

    def _generalise(self, batch: Batch) -> Batch:
        """Continue from a batch on as where ends are not ordered."""
        self._general = Distinct()
        self._general.resume(self._kept())
        for column in (self._ends, self._payloads, self._nexts, self._last):
            column.clear()
        self._first = 0
        return self._general.process(0, batch, self.reached[0])

    def _kept(self) -> Iterable[Covered]:
        columns = self._ends, self._payloads, self._nexts
        return zip(*(islice(column, self._first, None) for column in columns), strict=True)

    def size(self) -> int:
        """The number of covered payloads, and of waiting parts."""
        return len(self._ends) - self._first if self._general is None else self._general.size()

    def state(self) -> Iterable[Element]:
        """The covered payloads, each until its end, and the waiting parts."""
        if self._general is not None:
            return self._general.state()
        progress = self.reached[0]
        return (
            (min(progress, end), end, payload) if following is None else (end, following, payload)
            for end, payload, following in self._kept()
        )


RUNNING: Running = {
    facts.DISTINCT: lambda node: FifoDistinct() if has_ordered_ends(node.inputs[0]) else Distinct(),
}
