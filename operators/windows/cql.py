"""CQL's Istream and Dstream: the rows that a stream gains, and those that it loses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from midstream.operators.base.expiry import Expiry
from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Running
from midstream.plans.algebra.implementations import windows as facts
from midstream.plans.values.streams import FOREVER, Batch, Element, Payload, Time


class _Ends(Operator):
    """The number of elements of each payload that end at an instant.

    An element that starts where an equal one ends takes its place: nothing changes at that instant. When an
    element arrives, all elements that end at its start are known, since they have started before.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ending: dict[tuple[Time, Payload], int] = {}
        self._expiry: Expiry[Payload] = Expiry()

    def _takes_place(self, start: Time, payload: Payload) -> bool:
        """True if a new element takes the place of one that ends."""
        count = self._ending.get((start, payload))
        if not count:
            return False
        self._ending[start, payload] = count - 1
        return True

    def _keep(self, end: Time, payload: Payload) -> None:
        if end == FOREVER:
            return
        count = self._ending.get((end, payload))
        self._ending[end, payload] = 1 if count is None else count + 1
        if count is None:
            self._expiry.add(end, payload)

    def _ended(self) -> Iterator[tuple[Time, Payload, int]]:
        """Take out the payloads that ended before the progress, with the number that nothing replaced."""
        for end, payload in self._expiry.expired(self.reached[0] - 1):
            yield end, payload, self._ending.pop((end, payload))

    def size(self) -> int:
        """The number of ends that lie ahead; equal ones of one payload are one."""
        return len(self._ending)

    def state(self) -> Iterable[Element]:
        """The ends that lie ahead, as elements that are valid until then."""
        reached = self.reached[0]
        return ((min(reached, end), end, payload) for end, payload in self._ending)


class Istream(_Ends):
    """Give every row for the chronon in which it appears.

        istream(S)@t  =  S@t - S@(t - 1)        (the difference of multisets)

    Input    One port, ordered by start, at integer instants.
    Output   Chronons, ordered by start, at once.
    State    Per payload and instant not before the progress, the number of elements that end then.
    Cost     O(1) amortised per element where ends are ordered, else O(log n).
    Source   thesis, (17.3) with erratum 6; Algorithm 22

    >>> Istream().push(0, [(1, 7, "b"), (3, 9, "d"), (7, 15, "b")])
    [(1, 2, 'b'), (3, 4, 'd')]
    """

    def _process(self, port: int, batch: Batch) -> Batch:
        out: Batch = []
        for start, end, payload in batch:
            if not self._takes_place(start, payload):
                out.append((start, start + 1, payload))
            self._keep(end, payload)
        for _ in self._ended():
            pass
        return out


class Dstream(_Ends):
    """Give every row that disappears for the first chronon in which it is gone.

        dstream(S)@t  =  S@(t - 1) - S@t        (the difference of multisets)

    Input    One port, ordered by start, at integer instants.
    Output   Chronons, ordered by start. One leaves when no element can start with it any more, which could
             take the row's place.
    State    Per payload and instant not before the progress, the number of elements that end then.
    Cost     O(1) amortised per element where ends are ordered, else O(log n).
    Source   thesis, (17.4) with erratum 6. Algorithm 23 gives the last chronon of a row instead, in which it
             is still there; here the definition counts

    >>> dstream = Dstream()
    >>> dstream.push(0, [(1, 7, "b"), (3, 9, "d"), (7, 15, "b"), (11, 12, "a")])
    [(9, 10, 'd')]
    >>> dstream.end(0)
    [(12, 13, 'a'), (15, 16, 'b')]
    """

    def _process(self, port: int, batch: Batch) -> Batch:
        for start, end, payload in batch:
            self._takes_place(start, payload)
            self._keep(end, payload)
        return [(end, end + 1, payload) for end, payload, count in self._ended() for _ in range(count)]

    def progress(self) -> Time:
        """The input's progress, if an element ends there; otherwise the next instant.

        All elements that are still to come end later.
        """
        reached = self.reached[0]
        return reached if self._expiry.next == reached else reached + 1


RUNNING: Running = {
    facts.ISTREAM: lambda node: Istream(),
    facts.DSTREAM: lambda node: Dstream(),
}
