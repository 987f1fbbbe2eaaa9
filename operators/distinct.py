"""Duplicate elimination over interval streams."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from midstream.operators.expiry import Expiry
from midstream.operators.implementation import Implementation, Table
from midstream.operators.operator import Operator
from midstream.operators.output import OrderedOutput
from midstream.plans import logical
from midstream.plans.properties import has_ordered_ends
from midstream.plans.streams import Batch, Element, Payload, Time

Cover = list[Any]
"""`[end, payload, part]`: until when a payload has been given out, and the part that follows, once known."""


class Distinct(Operator):
    """Give every valid payload once.

        distinct(S)@t  =  { e | e in S@t }        (each once)

    Of an element only the part is new by which it outlives the equal elements before it. That part may start
    later than elements still to come, and then it waits.

    State    Per payload, until when it has been given out, while that lies ahead; and the parts that wait.
    Cost     O(1) amortised per element where ends are ordered, else O(log n).
    Source   thesis, Algorithm 7, with erratum 1: what is kept is the part that the new element adds

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
        if expiry.next is not None and expiry.next <= progress:
            for end, payload in expiry.expired(progress):
                # An entry that was extended since has a later expiry of its own.
                if covered.get(payload) == end:
                    del covered[payload]
        return self._output.release(fresh, progress)

    def cover(self, covers: Iterable[Cover]) -> None:
        """Go on with what has been given out so far, and with parts that wait."""
        for end, payload, part in covers:
            if part is None:
                self._covered[payload] = end
                self._expiry.add(end, payload)
            else:
                self._output.release([part], self.reached[0])

    def size(self) -> int:
        """Payloads that are covered, and parts that wait."""
        return len(self._covered) + len(self._output)

    def state(self) -> Iterable[Element]:
        """Payloads that are covered, each until its end, and parts that wait."""
        progress = self.reached[0]
        yield from ((min(progress, end), end, payload) for payload, end in self._covered.items())
        yield from self._output


class FifoDistinct(Operator):
    """The same where ends never decrease: what expires is a queue, and a part that waits does so with what it
    follows, so that parts come out in order by themselves.

    Should an end decrease all the same, because a window has been made smaller, it goes on as Distinct.

    >>> distinct = FifoDistinct()
    >>> distinct.push(0, [(5, 11, "a"), (6, 14, "d"), (10, 15, "a")])
    [(5, 11, 'a'), (6, 14, 'd')]
    >>> distinct.end(0)
    [(11, 15, 'a')]
    """

    def __init__(self) -> None:
        super().__init__()
        self._covers: deque[Cover] = deque()
        self._last: dict[Payload, Cover] = {}
        self._general: Distinct | None = None
        self._work = self.worker(0)

    def worker(self, port: int) -> Callable[[Batch], Batch]:
        """The work, as a function that has at hand what it needs."""
        reached, covers, last = self.reached, self._covers, self._last
        find, append, popleft = last.get, covers.append, covers.popleft

        def work(batch: Batch) -> Batch:
            out: Batch = []
            for element in batch:
                start, end, payload = element
                while covers and covers[0][0] <= start:
                    _, ended, part = popleft()
                    if part is None:
                        del last[ended]
                    else:
                        out.append(part)
                cover = find(payload)
                if cover is None:
                    out.append(element)
                elif cover[0] < end:
                    cover[2] = (cover[0], end, payload)
                else:
                    continue
                last[payload] = cover = [end, payload, None]
                append(cover)
            progress = reached[0]
            while covers and covers[0][0] <= progress:
                _, ended, part = popleft()
                if part is None:
                    del last[ended]
                else:
                    out.append(part)
            return out

        def careful(batch: Batch) -> Batch:
            if self._general is None and not _is_ordered(batch, covers):
                self._generalise()
            return work(batch) if self._general is None else self._general.process(0, batch, reached[0])

        return careful

    def _generalise(self) -> None:
        self._general = Distinct()
        self._general.cover(self._covers)
        self._covers.clear()
        self._last.clear()

    def _process(self, port: int, batch: Batch) -> Batch:
        return self._work(batch)

    def size(self) -> int:
        """Payloads that are covered, and parts that wait."""
        return len(self._covers) if self._general is None else self._general.size()

    def state(self) -> Iterable[Element]:
        """Payloads that are covered, each until its end, and parts that wait."""
        if self._general is not None:
            return self._general.state()
        progress = self.reached[0]
        return (part or (min(progress, end), end, payload) for end, payload, part in self._covers)


def _is_ordered(batch: Batch, covers: deque[Cover]) -> bool:
    """Whether no end is before an earlier one."""
    latest = covers[-1][0] if covers else None
    for _, end, _ in batch:
        if latest is not None and end < latest:
            return False
        latest = end
    return True


IMPLEMENTATIONS: Table = {
    logical.Distinct: (
        Implementation(
            "distinct",
            lambda node: FifoDistinct() if has_ordered_ends(node.inputs[0]) else Distinct(),
        ),
    ),
}
