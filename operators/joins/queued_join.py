"""Joins that wait at the input instead of the output."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from heapq import merge
from itertools import chain, groupby
from operator import itemgetter

from midstream.operators.joins.sweep_join import Areas, Probes, SweepJoin
from midstream.plans.values.streams import Batch, Element, Time


class QueuedJoin(SweepJoin):
    """Join the elements of both ports in order of their starts, so that pairs come in order by themselves.

        join(L, R)@t  =  { l ∘ r | l in L@t, r in R@t, condition(l, r) }

    Each port is in order, so a queue per port and a merge of the two replace the priority queue.

    Input    As HashJoin.
    Output   Ordered by start.
    State    The elements that start after the least progress; per port, those joined already that end after
             the first element of the other port to be joined.
    Cost     As HashJoin or NestedLoopsJoin, but a pair is never held nor sorted.
    Source   thesis, 14.3.4, with Algorithm 6

    >>> from midstream.operators.base.pairing import Pairing
    >>> from midstream.operators.joins.probes import SIDES, scan
    >>> from midstream.operators.joins.list_sweepareas import FifoListSweepArea
    >>> areas = (FifoListSweepArea(), FifoListSweepArea())
    >>> join = QueuedJoin(areas, tuple(scan(side, Pairing(), is_fifo=True) for side in SIDES))
    >>> join.push(0, [(0, 9, ("a",)), (5, 9, ("b",))]), join.size()
    ([], 2)
    >>> join.push(1, [(3, 8, ("c",))])          # a is joined, b waits
    [(3, 8, ('a', 'c'))]
    >>> join.end(1)
    [(5, 8, ('b', 'c'))]
    """

    def __init__(self, areas: Areas, probes: Probes) -> None:
        super().__init__(areas, probes)
        self._queues: tuple[deque[Element], deque[Element]] = (deque(), deque())

    def _process(self, port: int, batch: Batch) -> Batch:
        self._queues[port].extend(batch)
        bound = min(self.reached)
        due = [_take(queue, bound) for queue in self._queues]
        since = [
            queue[0][0] if queue else time for queue, time in zip(self._queues, self.reached, strict=True)
        ]
        out: Batch = []
        for side, elements in _runs(due):
            out += self._probes[side](elements, self._areas[1 - side].index)
            self._areas[side].insert(elements, elements[0][0])
        for side in (0, 1):
            self._areas[1 - side].purge(since[side])
        return out

    def retained(self, port: int) -> Iterable[Element]:
        """The elements of a port as `SweepJoin.retained`, and those that wait to be joined."""
        return chain(self._areas[port], self._queues[port])

    def size(self) -> int:
        """The number of waiting elements, and of elements on both sides."""
        return sum(map(len, self._queues)) + len(self._areas[0]) + len(self._areas[1])

    def state(self) -> Iterable[Element]:
        """The waiting elements, and the elements on both sides."""
        return chain(*self._queues, *self._areas)


def _take(queue: deque[Element], bound: Time) -> Batch:
    taken: Batch = []
    while queue and queue[0][0] <= bound:
        taken.append(queue.popleft())
    return taken


def _runs(due: list[Batch]) -> Iterable[tuple[int, Batch]]:
    """The elements of both ports in order of start, as long runs of one port each."""
    if not (due[0] and due[1]):
        return [(side, elements) for side, elements in enumerate(due) if elements]
    numbered = ([(element[0], side, element) for element in elements] for side, elements in enumerate(due))
    merged = merge(*numbered, key=itemgetter(0, 1))
    return ((side, [entry[2] for entry in run]) for side, run in groupby(merged, key=itemgetter(1)))
