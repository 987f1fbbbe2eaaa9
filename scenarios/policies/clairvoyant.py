"""What could not be known beforehand: the best plan of each bucket, and the cheapest way through all time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from midstream.scenarios.policies.case import Case, Order
from midstream.scenarios.policies.policy import How, Move
from midstream.scenarios.policies.replay import Bill, Moved, move


def hindsight(case: Case) -> int:
    """The intermediate results of the best order of each bucket, where moves are free.

    No lower bound: within a bucket a policy may move too.
    """
    return sum(min(counts) for counts in _by_bucket(case))


def best_fixed(case: Case) -> Order:
    """The order that gives the fewest intermediate results if it runs all the time; the first of equals."""
    return min(case.orders, key=lambda order: len(case.traces[order]))


def _by_bucket(case: Case) -> list[list[int]]:
    return [
        [trace.begun(since, since + case.bucket) for trace in case.traces.values()]
        for since in range(case.first, case.beyond, case.bucket)
    ]


@dataclass(slots=True)
class _Way:
    """The cheapest way to an instant: what it cost, by how many moves, and its last step."""

    cost: float
    moves: int = 0
    before: tuple[int, Order] | None = None
    moved: Moved | None = None

    def is_better(self, other: _Way) -> bool:
        """Of equal costs, fewer moves are better."""
        return (self.cost, self.moves) < (other.cost, other.moves)


def clairvoyant(case: Case, how: Sequence[How] = ("genmig",)) -> Bill:
    """The cheapest of all policies that may move whenever something arrives, one migration at a time.

    A dynamic program over instants: at each of them an order runs on, or a migration begins, which is paid
    for and over at the first instant behind its split time. The first order is free.

    Cost     O(instants * orders^2 * the intermediate results within a window)
    """
    instants = [time for time, _ in case.instants()]
    times = [*instants, case.beyond]
    end, orders, traces = len(times) - 1, case.orders, case.traces
    ways = {order: [_Way(0), *(_Way(float("inf")) for _ in instants)] for order in orders}

    def offer(order: Order, at: int, way: _Way) -> None:
        if way.is_better(ways[order][at]):
            ways[order][at] = way

    for i, now in enumerate(instants):
        for new, one in product(orders, how if i else ()):
            moved = move(case, now, instants[i - 1], new, Move(new, one))
            after = min(bisect_left(times, moved.until), end)
            rest = traces[new].begun(moved.until, times[after])
            for old in orders:
                if old != new:
                    before = ways[old][i]
                    doubled = traces[old].begun(now, moved.until) + moved.meanwhile
                    offer(new, after, _Way(before.cost + doubled + rest, before.moves + 1, (i, old), moved))
        for order in orders:
            way = ways[order][i]
            alone = traces[order].begun(now, times[i + 1])
            offer(order, i + 1, _Way(way.cost + alone, way.moves, (i, order)))
    return _bill(ways, end)


def _bill(ways: dict[Order, list[_Way]], end: int) -> Bill:
    order = min(ways, key=lambda one: (ways[one][end].cost, ways[one][end].moves))
    total, at, moves = ways[order][end].cost, end, list[Moved]()
    while (way := ways[order][at]).before is not None:
        at, before = way.before
        if way.moved is not None:
            moves.append(replace(way.moved, old=before))
        order = before
    return Bill(order, int(total), tuple(reversed(moves)))
