"""Duplicate elimination over interval streams."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.operators.expiry import Expiry
from midstream.operators.implementation import Implementation, Table
from midstream.operators.operator import Operator
from midstream.operators.output import OrderedOutput
from midstream.plans import logical
from midstream.plans.streams import Batch, Element, Payload, Time


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
        for end, payload in expiry.expired(progress):
            # An entry that was extended since has a later expiry of its own.
            if covered.get(payload) == end:
                del covered[payload]
        return self._output.release(fresh, progress)

    def size(self) -> int:
        """Payloads that are covered, and parts that wait."""
        return len(self._covered) + len(self._output)

    def state(self) -> Iterable[Element]:
        """Payloads that are covered, each until its end, and parts that wait."""
        progress = self.reached[0]
        yield from ((min(progress, end), end, payload) for payload, end in self._covered.items())
        yield from self._output


IMPLEMENTATIONS: Table = {
    logical.Distinct: (Implementation("distinct", lambda node: Distinct()),),
}
