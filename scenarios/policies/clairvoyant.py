"""What could not be known beforehand: the best plan of each bucket, and the cheapest way through all time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from midstream.autopilot.costs.cheapest_way import Offer, cheapest_way
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


def clairvoyant(case: Case, how: Sequence[How] = ("genmig",)) -> Bill:
    """The cheapest of all policies that may move whenever something arrives, one migration at a time.

    A dynamic program over instants: at each of them an order runs on, or a migration begins, which is paid
    for and over at the first instant behind its split time. The first order is free.

    Cost     O(instants * orders^2 * the intermediate results within a window)
    """
    instants = [time for time, _ in case.instants()]
    times = [*instants, case.beyond]
    end, traces = len(times) - 1, case.traces

    def alone(order: Order, i: int) -> int:
        return traces[order].begun(times[i], times[i + 1])

    def offers(i: int) -> Iterator[Offer[Order, Moved]]:
        """At the first instant there is nothing to move from."""
        now = instants[i]
        for new, one in product(case.orders, how if i else ()):
            moved = move(case, now, instants[i - 1], new, Move(new, one))
            after = min(bisect_left(times, moved.until), end)
            rest = moved.meanwhile + traces[new].begun(moved.until, times[after])
            for old in case.orders:
                if old != new:
                    yield Offer(old, new, after, traces[old].begun(now, moved.until) + rest, moved)

    found = cheapest_way(case.orders, end, alone, offers)
    moves = tuple(replace(offer.move, old=offer.old) for offer in found.moves)
    return Bill(found.start, int(found.cost), moves)
