"""What decides, while a scenario runs, which plan is to run."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from midstream.scenarios.policies.case import Arrival
from midstream.scenarios.policies.policy import Now, Policy
from midstream.scenarios.simulator.joined_plans import Joined


class Wish(NamedTuple):
    """To move to a plan, by its name, with a strategy."""

    to: str
    strategy: str


class Steering(Protocol):
    """Decides for one run; made when the run begins."""

    start: str
    """The first plan."""

    def decide(self, time: int, spent: int) -> Wish | None:
        """Whether to move; asked when time comes to an instant at which something arrives, before that,
        unless a migration is under way. `spent` intermediate results there were so far."""
        ...


class ByPolicy:
    """A policy decides; it is told of all that arrived until it is asked."""

    def __init__(self, policy: Policy, joined: Joined) -> None:
        order = policy.begin(joined.case)
        self.start = joined.names[order]
        self._policy, self._joined, self._order = policy, joined, order
        self._instants: Iterator[tuple[int, list[Arrival]]] = joined.case.instants()
        self._next = next(self._instants, None)

    def decide(self, time: int, spent: int) -> Wish | None:
        """What the policy says, at an instant at which some plan joins what arrives."""
        while self._next is not None and self._next[0] < time:
            for arrival in self._next[1]:
                self._policy.observe(arrival)
            self._next = next(self._instants, None)
        # What all plans filter out tells a policy nothing, not even the time.
        if self._next is None or self._next[0] != time or time == self._joined.case.first:
            return None
        move = self._policy.decide(Now(time, self._order, spent))
        if move is None:
            return None
        self._order = move.to
        return Wish(self._joined.names[move.to], move.how)


class ByLastBucket:
    """Whenever a bucket is over, the plan that gave the fewest intermediate results in it, if it ran alone;
    the running one among equals.

    begun     by plan, how many it has given before an instant
    first     when the first bucket begins
    """

    def __init__(
        self, start: str, begun: Mapping[str, Callable[[int], int]], first: int, bucket: int, strategy: str
    ) -> None:
        self.start = self._running = start
        self._begun, self._bucket, self._until = begun, bucket, first + bucket
        self._strategy = strategy

    def decide(self, time: int, spent: int) -> Wish | None:
        """Of the bucket that was over last."""
        if time < self._until:
            return None
        passed = (time - self._until) // self._bucket
        over = self._until + passed * self._bucket
        self._until = over + self._bucket
        counts = {name: begun(over) - begun(over - self._bucket) for name, begun in self._begun.items()}
        best = min(counts, key=counts.__getitem__)
        if counts[best] == counts[self._running]:
            return None
        self._running = best
        return Wish(best, self._strategy)


def counted_before(times: Sequence[int], spent: Sequence[int]) -> Callable[[int], int]:
    """How many intermediate results there were before an instant; `spent` by arrivals at `times`."""

    def before(time: int) -> int:
        arrivals = bisect_left(times, time)
        return spent[arrivals - 1] if arrivals else 0

    return before
