"""Ready-made policies: one order all the time, the best one of the last bucket, and moves that are given."""

from __future__ import annotations

from collections import defaultdict, deque

from midstream.scenarios.policies.case import Arrival, Case, Key, Order
from midstream.scenarios.policies.policy import How, Move, Now
from midstream.scenarios.policies.replay import Bill


class Fixed:
    """One order all the time."""

    def __init__(self, order: Order) -> None:
        self._order = order

    def begin(self, case: Case) -> Order:
        """The one."""
        return self._order

    def observe(self, arrival: Arrival) -> None:
        """Nothing is of interest."""

    def decide(self, now: Now) -> Move | None:
        """Never."""
        return None


class RepeatLastBest:
    """At the end of each bucket, the order that was the best one in it; the running one among equals.

    start   the first order; by default the first one of the case
    """

    def __init__(self, start: Order | None = None, how: How = "genmig") -> None:
        self._start, self._how = start, how

    def begin(self, case: Case) -> Order:
        """The first order."""
        self._counter = PairCounter(case)
        self._bucket, self._until = case.bucket, 0
        return self._start or case.orders[0]

    def observe(self, arrival: Arrival) -> None:
        """Count pairs by their later start."""
        self._until = self._until or arrival[0] + self._bucket
        self._counter.take(arrival)

    def decide(self, now: Now) -> Move | None:
        """When a bucket is over; if several are, what was in the last one."""
        if now.time < self._until:
            return None
        counts = self._counter.counts
        passed = (now.time - self._until) // self._bucket
        self._until += (passed + 1) * self._bucket
        self._counter.counts = dict.fromkeys(counts, 0)
        if passed:  # nothing was in the last one
            return None
        best = min(counts, key=counts.__getitem__)
        return None if counts[best] == counts[now.running] else Move(best, self._how)


class Planned:
    """The moves of a bill, each at its instant, or as soon as it can be after it."""

    def __init__(self, bill: Bill) -> None:
        self._start = bill.start
        self._moves = deque(bill.moves)

    def begin(self, case: Case) -> Order:
        """That of the bill."""
        return self._start

    def observe(self, arrival: Arrival) -> None:
        """Nothing is of interest."""

    def decide(self, now: Now) -> Move | None:
        """The next move, if it is due."""
        if not self._moves or self._moves[0].at > now.time:
            return None
        moved = self._moves.popleft()
        return Move(moved.new, moved.how)


class PairCounter:
    """Counts the pairs of each order exactly, as elements arrive."""

    def __init__(self, case: Case) -> None:
        self.counts: dict[Order, int] = dict.fromkeys(case.orders, 0)
        self._case = case
        self._alive: dict[tuple[Order, int, Key], deque[int]] = defaultdict(deque)

    def take(self, arrival: Arrival) -> None:
        """Count the pairs that an element makes with those that are valid."""
        time, stream, row = arrival
        for order in self.counts:
            if stream in order:
                side = order.index(stream)
                key = self._case.key(order, side, row)
                partners = self._alive[order, 1 - side, key]
                while partners and partners[0] <= time - self._case.window:
                    partners.popleft()
                self.counts[order] += len(partners)
                self._alive[order, side, key].append(time)
