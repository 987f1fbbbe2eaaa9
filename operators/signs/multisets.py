"""Operators on multiplicities in two signed streams: difference, intersection, max-union."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import ClassVar

from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Running
from midstream.operators.signs.alignment import Alignment, NetChanges, copies
from midstream.plans.algebra.implementations import signs as facts
from midstream.plans.values.streams import FOREVER, Batch, Element, Payload, Time

Combine = Callable[[int, int], int]
"""A function from the multiplicities of a payload in both inputs to the one in the output."""


class SignedMultisets(Operator):
    """Combine the multiplicities of each payload.

        (L op R)@t  =  { e combine(n, m) times | e in L@t n times, in R@t m times }

    Input    Two ports; elements of a port that is ahead wait, so that elements meet in order of time.
    Output   Net changes, when their instant is over.
    State    Per payload that is valid on either side, its multiplicities; and the elements that wait.
    Cost     O(1) per element, and one result for each change of the output's multiplicity.
    Source   thesis, 14.2.4; (8.6), (8.12) to (8.14)

    >>> difference = SignedMultisets(lambda n, m: max(n - m, 0))
    >>> difference.push(0, [(1, 1, "c"), (4, 1, "a"), (8, -1, "c")])
    []
    >>> difference.push(1, [(4, 1, "a"), (5, 1, "c"), (8, -1, "c"), (9, -1, "a")])
    [(1, 1, 'c'), (5, -1, 'c')]
    >>> difference.end(0), difference.end(1)
    ([], [(9, 1, 'a')])
    """

    ports: ClassVar[int] = 2

    def __init__(self, combine: Combine) -> None:
        super().__init__()
        self._combine = combine
        self._inputs = Alignment(2)
        self._counts: dict[Payload, tuple[int, int]] = {}

    def _process(self, port: int, batch: Batch) -> Batch:
        self._inputs.put(port, batch)
        out: Batch = []
        reached = min(self.reached)
        for time, (left, right) in self._inputs.instants(reached):
            self._apply(time, left, right, out)
        if reached == FOREVER:
            self._counts.clear()
        return out

    def _apply(self, time: Time, left: NetChanges, right: NetChanges, out: Batch) -> None:
        counts, combine = self._counts, self._combine
        for payload in left | right:
            n, m = counts.get(payload, (0, 0))
            before = combine(n, m)
            n += left.get(payload, 0)
            m += right.get(payload, 0)
            if n or m:
                counts[payload] = (n, m)
            else:
                del counts[payload]
            out += copies(time, payload, combine(n, m) - before)

    def size(self) -> int:
        """The number of valid payloads, and of waiting elements."""
        return len(self._counts) + len(self._inputs)

    def state(self) -> Iterable[Element]:
        """The valid payloads, whose ends are not known, and the waiting elements."""
        now = min(self.reached)
        return chain(((now, FOREVER, payload) for payload in self._counts), self._inputs)


RUNNING: Running = {
    facts.SIGNED_DIFFERENCE: lambda node: SignedMultisets(lambda n, m: max(n - m, 0)),
    facts.SIGNED_STRICT_DIFFERENCE: lambda node: SignedMultisets(lambda n, m: 0 if m else n),
    facts.SIGNED_INTERSECTION: lambda node: SignedMultisets(min),
    facts.SIGNED_MAX_UNION: lambda node: SignedMultisets(max),
}
