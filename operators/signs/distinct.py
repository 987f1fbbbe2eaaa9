"""Duplicate elimination over signed streams."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Running
from midstream.plans.algebra.implementations import signs as facts
from midstream.plans.values.streams import FOREVER, Batch, Element, Payload


class SignedDistinct(Operator):
    """Pass on the first positive of a payload, and the negative of the last.

        distinct(S)@t  =  { e | e in S@t }        (each once)

    State    Per valid payload, its multiplicity.
    Cost     O(1) per element.
    Source   thesis, 14.2.3

    >>> distinct = SignedDistinct()
    >>> distinct.push(0, [(5, 1, "a"), (9, 1, "a"), (10, -1, "a"), (12, -1, "a")])
    [(5, 1, 'a'), (12, -1, 'a')]
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[Payload, int] = {}

    def _process(self, port: int, batch: Batch) -> Batch:
        counts = self._counts
        out: Batch = []
        for element in batch:
            _, sign, payload = element
            before = counts.get(payload, 0)
            after = before + int(sign)
            if after:
                counts[payload] = after
            else:
                del counts[payload]
            if not before or not after:
                out.append(element)
        if self.reached[0] == FOREVER:
            # Valid payloads stay valid, and no element will ask for their multiplicities.
            counts.clear()
        return out

    def size(self) -> int:
        """The number of valid payloads."""
        return len(self._counts)

    def state(self) -> Iterable[Element]:
        """The valid payloads; their ends are not known."""
        return ((self.reached[0], FOREVER, payload) for payload in self._counts)


RUNNING: Running = {
    facts.SIGNED_DISTINCT: lambda node: SignedDistinct(),
}
