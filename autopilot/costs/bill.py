"""Bills of taking turns among plans: that of some moves, and the cheapest one that can be had.

A migration has its split time inside a chronon. The old plan gives what starts before the end of that
chronon; the new one gives what is valid inside it, and what starts behind. So a bill is what an engine counts
that begins these migrations, where that is known (see `ExactCosts`, and `CostSeries` with counts).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from midstream.autopilot.costs.cheapest_way import Offer, cheapest_way
from midstream.plans.values.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Move:
    """To begin a migration.

    at            when
    to            the plan, by number
    until_split   after how many chronons the last element so far ends, −1 where that was before; None where
                  the costs know that
    following     when the next element starts, at that instant or behind it; None where the costs know that
    """

    at: int
    to: int
    strategy: str
    until_split: int | None = None
    following: int | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A migration: both plans run in [at, until); `meanwhile` is what the new one costs by then."""

    at: int
    until: int
    old: int
    new: int
    strategy: str
    meanwhile: float


@dataclass(frozen=True, slots=True)
class Bill:
    """The cost of beginning with a plan and of moving."""

    start: int
    total: float
    moves: tuple[Moved, ...] = ()


class Costs(Protocol):
    """The costs of several plans over time, the plans by number.

    instants   where a policy may move, in order; at the first one it begins
    end        where nothing costs anything any more
    totals     what each plan costs, if it runs all the time
    """

    @property
    def instants(self) -> Sequence[int]: ...
    @property
    def end(self) -> int: ...
    @property
    def totals(self) -> Sequence[float]: ...

    def spent(self, plan: int, since: int, until: int) -> float:
        """The cost of a plan in [since, until), if it runs by then for a window or longer."""
        ...

    def both_run(self, move: Move) -> tuple[int, float]:
        """The end of the time in which both plans of a migration run, and the cost of the new one by then."""
        ...


Spent = Callable[[int, int, int], float]
"""The cost of a plan in [since, until), if it runs alone. Policies ask for what is over only."""


def split_chronon(strategy: str, last: int, following: int | None) -> int | None:
    """The chronon inside which the split time of a migration lies; None where it has none, or where that is
    not known.

    last        the chronon in which the last element ends, or the one before the move where none is valid
    following   when the next element starts

    >>> split_chronon("genmig", last=107, following=102), split_chronon("moving-states", 107, 102)
    (107, 102)
    """
    if strategy == "moving-states":
        return following
    return last if strategy.startswith("genmig") else None


class Account:
    """A bill under way: it begins with a plan, and moves.

    Raises   ArgumentError for a plan that is none.
    """

    def __init__(self, costs: Costs, start: int) -> None:
        self._costs, self._start = costs, start
        self._require_plan(start)
        self.running = start
        """The plan that runs, or that is being moved to."""
        self.since = costs.instants[0] if costs.instants else costs.end
        """The instant from which that runs alone."""
        self._paid: float = 0
        self._moves: list[Moved] = []

    def spent(self, until: int) -> float:
        """The cost so far, before an instant at which one plan runs."""
        return self._paid + self._costs.spent(self.running, self.since, until)

    def move(self, move: Move) -> None:
        """Begin a migration. A move to the running plan is one to a plan that costs the same.

        Raises   ArgumentError for a plan that is none, and while another one is under way.
        """
        self._require_plan(move.to)
        if not self.since <= move.at < self._costs.end:
            expected = f"one from {self.since}, where the last one has ended, and before {self._costs.end}"
            raise ArgumentError(f"policies: found {move}, expected {expected}")
        until, meanwhile = self._costs.both_run(move)
        self._paid = self.spent(until) + meanwhile
        self._moves.append(Moved(move.at, until, self.running, move.to, move.strategy, meanwhile))
        self.running, self.since = move.to, until

    def close(self) -> Bill:
        """The bill. What goes on beyond the end has been paid for."""
        return Bill(self._start, self.spent(max(self.since, self._costs.end)), tuple(self._moves))

    def _require_plan(self, plan: int) -> None:
        plans = len(self._costs.totals)
        if not 0 <= plan < plans:
            raise ArgumentError(f"policies: found plan {plan}, expected one of 0 to {plans - 1}")


def bill(costs: Costs, start: int, moves: Sequence[Move] = ()) -> Bill:
    """Add up what it costs to begin with a plan and to make some moves.

    Raises   See `Account`.
    """
    account = Account(costs, start)
    for move in moves:
        account.move(move)
    return account.close()


def clairvoyant(costs: Costs, strategies: Sequence[str] = ("genmig",)) -> Bill:
    """The cheapest of all bills: a plan at first, and moves at instants but the first, one migration at a
    time.

    Cost     O(instants · plans² · strategies), and what the costs take to tell of each move.
    """
    numbers, instants = range(len(costs.totals)), costs.instants
    times = [*instants, costs.end]

    def alone(plan: int, number: int) -> float:
        return costs.spent(plan, times[number], times[number + 1])

    def offers(number: int) -> Iterator[Offer[int, Move]]:
        at = instants[number]
        for new, strategy in product(numbers, strategies if number else ()):
            move = Move(at, new, strategy)
            until, meanwhile = costs.both_run(move)
            # An instant at which the new plan runs alone; behind this one, as time does not stand still.
            after = min(max(number + 1, bisect_left(times, until)), len(instants))
            rest = meanwhile + costs.spent(new, until, times[after])
            for old in numbers:
                if old != new:
                    yield Offer(old, new, after, costs.spent(old, at, until) + rest, move)

    found = cheapest_way(numbers, len(instants), alone, offers)
    return bill(costs, found.start, [offer.move for offer in found.moves])


def best_fixed(costs: Costs) -> int:
    """The plan that costs least if it runs all the time; the first of equals."""
    return min(range(len(costs.totals)), key=costs.totals.__getitem__)


def hindsight(spent: Spent, plans: int, buckets: range) -> float:
    """The cost of the best of so many plans in each bucket, where moves are free; buckets by their starts.

    No lower bound: within a bucket a policy may move too.
    """
    return sum(min(spent(plan, at, at + buckets.step) for plan in range(plans)) for at in buckets)
