"""Joins of signed streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import ClassVar

from midstream.operators.base.facts import equi_pairing, loop_pairing
from midstream.operators.base.keys import key_function
from midstream.operators.base.operator import Operator
from midstream.operators.base.pairing import Pairing
from midstream.operators.base.running import Running
from midstream.operators.compile.generated import define
from midstream.operators.signs.alignment import Alignment
from midstream.operators.signs.buckets import Buckets, Counts
from midstream.plans.algebra.implementations import signs as facts
from midstream.plans.values.streams import FOREVER, Batch, Element, Payload, Time

SignedProbe = Callable[[Time, Time, Payload, Counts, Batch], None]
"""A function that adds the pairs of a payload with those of a bucket to a batch."""


class SignedJoin(Operator):
    """Pair payloads that begin or end on one side with valid payloads of the other.

        join(L, R)@t  =  { l ∘ r | l in L@t, r in R@t, key(l) = key(r), condition(l, r) }

    A positive makes positive pairs, a negative takes them back. Without keys, all payloads of the other side
    are probed: a nested-loops join.

    Input    Two ports; elements of a port that is ahead wait, so that elements meet in order of time.
    Output   A pair begins and ends when its later half arrives: no other input can change it.
    State    The valid payloads of both sides, those of one no longer when the other has ended; and the
             elements that wait.
    Cost     O(1 + payloads of equal key) per element, of which there are two for each interval.
    Source   thesis, 14.2.3 and 14.3.2

    >>> join = SignedJoin(left=[0], right=[0])
    >>> join.push(0, [(0, 1, ("a", 1)), (10, -1, ("a", 1))])
    []
    >>> join.push(1, [(4, 1, ("a", 2)), (5, 1, ("b", 3)), (6, -1, ("a", 2))])
    [(4, 1, ('a', 1, 'a', 2)), (6, -1, ('a', 1, 'a', 2))]
    """

    ports: ClassVar[int] = 2

    def __init__(self, left: Sequence[int], right: Sequence[int], pairing: Pairing | None = None) -> None:
        super().__init__()
        self._inputs = Alignment(2)
        self._keys = (key_function(left), key_function(right))
        self._sides = (Buckets(), Buckets())
        self._is_met = [True, True]
        """By side, True if the other one may still bring elements, if only negatives."""
        pairs = pairing or Pairing()
        self._probes = (_probe("left", "right", pairs), _probe("right", "left", pairs))

    def _process(self, port: int, batch: Batch) -> Batch:
        self._inputs.put(port, batch)
        keys, sides, probes = self._keys, self._sides, self._probes
        out: Batch = []
        for side, (time, sign, payload) in self._inputs.until(min(self.reached)):
            key = keys[side](payload)
            if key is not None:
                if bucket := sides[1 - side].of(key):
                    probes[side](time, sign, payload, bucket, out)
                if self._is_met[side]:
                    sides[side].change(key, payload, int(sign))
        for side in (0, 1):
            if self.reached[1 - side] == FOREVER and not self._inputs.waiting(1 - side):
                self._is_met[side] = False
                sides[side].clear()
        return out

    def size(self) -> int:
        """The number of valid payloads, and of waiting elements."""
        return len(self._sides[0]) + len(self._sides[1]) + len(self._inputs)

    def state(self) -> Iterable[Element]:
        """The valid payloads, whose ends are not known, and the waiting elements."""
        now = min(self.reached)
        valid = ((now, FOREVER, payload) for payload in chain(*self._sides))
        return chain(valid, self._inputs)


_PROBE = """
def probe(time, sign, {mine}, bucket, out):
    for {other}, count in bucket.items():
        if {condition}:
            element = (time, sign, {payload})
            if count == 1:
                out.append(element)
            else:
                out += [element] * count
"""


def _probe(mine: str, other: str, pairing: Pairing) -> SignedProbe:
    source = _PROBE.format(mine=mine, other=other, condition=pairing.condition, payload=pairing.payload)
    probe: SignedProbe = define(source, "probe", dict(pairing.names), "probe")
    return probe


RUNNING: Running = {
    facts.SIGNED_HASH_JOIN: lambda node: SignedJoin(*equi_pairing(node)),
    facts.SIGNED_NESTED_LOOPS_JOIN: lambda node: SignedJoin([], [], loop_pairing(node)),
}
