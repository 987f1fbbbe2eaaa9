"""Elements of several ports in order of time, as operators on signed streams need them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import repeat
from operator import le, lt

from midstream.plans.values.streams import FOREVER, Batch, Element, Payload, Time

NetChanges = dict[Payload, int]
"""The change of the multiplicity of each payload at an instant; never 0."""


class Alignment:
    """Holds back the elements of ports that are ahead.

    A negative finds its positive in an operator's state only if both arrive in order of time, so the inputs
    are put in order, not the output.

    State    The elements behind the last bound.
    Cost     O(1) per element, O(log ports) where several ports have elements at once.
    Source   thesis, 14.3.4: priority queue placement

    >>> inputs = Alignment(2)
    >>> inputs.put(0, [(3, 1, "a"), (7, -1, "a")])
    >>> inputs.put(1, [(5, 1, "b"), (7, 1, "b"), (7, -1, "b")])
    >>> list(inputs.until(3))
    [(0, (3, 1, 'a'))]
    >>> list(inputs.instants(8))
    [(5, [{}, {'b': 1}]), (7, [{'a': -1}, {}])]
    """

    __slots__ = ("_queues",)

    def __init__(self, ports: int) -> None:
        self._queues: tuple[deque[Element], ...] = tuple(deque() for _ in range(ports))

    def put(self, port: int, batch: Batch) -> None:
        """Add elements that arrived on a port."""
        self._queues[port].extend(batch)

    def until(self, time: Time) -> Iterator[tuple[int, Element]]:
        """Take out the elements up to and including a time, each with its port."""
        return self._taken(le, time)

    def instants(self, before: Time) -> Iterator[tuple[Time, list[NetChanges]]]:
        """Take out the elements before a time: per instant, the net changes on each port."""
        ports = range(len(self._queues))
        now: Time | None = None
        changes: list[NetChanges] = []
        for port, (time, sign, payload) in self._taken(lt, before):
            if time != now:
                if now is not None:
                    yield now, changes
                now, changes = time, [{} for _ in ports]
            net = changes[port]
            change = net.get(payload, 0) + int(sign)
            if change:
                net[payload] = change
            else:
                del net[payload]
        if now is not None:
            yield now, changes

    def _taken(self, is_due: Callable[[Time, Time], bool], bound: Time) -> Iterator[tuple[int, Element]]:
        waiting = [
            zip(repeat(port), _popped(queue, is_due, bound))
            for port, queue in enumerate(self._queues)
            if queue and is_due(queue[0][0], bound)
        ]
        return waiting[0] if len(waiting) == 1 else merge(*waiting, key=lambda pair: pair[1][0])

    def waiting(self, port: int) -> int:
        """The number of waiting elements of a port."""
        return len(self._queues[port])

    def __len__(self) -> int:
        return sum(map(len, self._queues))

    def __iter__(self) -> Iterator[Element]:
        """The waiting elements, as intervals whose ends are not known."""
        for queue in self._queues:
            for time, _, payload in queue:
                yield time, FOREVER, payload


def _popped(queue: deque[Element], is_due: Callable[[Time, Time], bool], bound: Time) -> Iterable[Element]:
    if is_due(queue[-1][0], bound):
        due = list(queue)
        queue.clear()
        return due
    return _popped_singly(queue, is_due, bound)


def _popped_singly(
    queue: deque[Element], is_due: Callable[[Time, Time], bool], bound: Time
) -> Iterator[Element]:
    while is_due(queue[0][0], bound):
        yield queue.popleft()


def copies(time: Time, payload: Payload, change: int) -> Batch:
    """The signed elements of a net change.

    >>> copies(5, "a", -2)
    [(5, -1, 'a'), (5, -1, 'a')]
    """
    return [(time, 1 if change > 0 else -1, payload)] * abs(change)
