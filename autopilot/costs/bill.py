"""Bills of running plans in turn: the bill of given moves, and the cheapest possible one.

A migration has its split time inside a chronon. The old plan gives the results that start before the end of
that chronon; the new one gives those that are valid inside it, and those that start behind it. So a bill
equals the count of an engine that begins these migrations, if the costs at the split time are known (see
`ExactCosts`, and `CostSeries` with counts).
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
    """A request to begin a migration.

    at            the instant
    to            the plan, by number
    until_split   the chronons until the last element so far ends, −1 if it ended before; None if the costs
    know it
    """

    at: int
    to: int
    strategy: str
    until_split: int | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A migration: both plans run in [at, until); `meanwhile` is the cost of the new one in that time."""

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
    """The costs of several plans over time, with the plans by number.

    instants   the instants in order at which a policy may move; it begins at the first one
    end        the instant from which nothing costs anything
    totals     the cost of each plan, if it runs all the time
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
"""The cost of a plan in [since, until), if it runs alone; policies ask only for the past."""


def split_chronon(strategy: str, at: int, until_split: int) -> int | None:
    """The chronon that contains the split time of a migration that begins at an instant; None if it has none.

    All streams have come to the instant, and no element that starts there or later has run. So moving states
    splits in the chronon of that instant. GenMig splits in the chronon in which the last element ends.

    at            the instant: that of a look, or of an arrival before which a policy moves
    until_split   the chronons until the last element so far ends; −1 if it ended before

    >>> split_chronon("genmig", at=100, until_split=7), split_chronon("moving-states", 100, 7)
    (107, 100)
    """
    if strategy == "moving-states":
        return at
    return at + until_split if strategy.startswith("genmig") else None


class Account:
    """An open bill: it begins with a plan, and moves are added.

    Raises   ArgumentError for an unknown plan.
    """

    def __init__(self, costs: Costs, start: int) -> None:
        self._costs, self._start = costs, start
        self._require_plan(start)
        self.running = start
        """The plan that runs, or that is being moved to."""
        self.since = costs.instants[0] if costs.instants else costs.end
        """The instant from which this plan runs alone."""
        self._paid: float = 0
        self._moves: list[Moved] = []

    def spent(self, until: int) -> float:
        """The cost so far, before an instant at which one plan runs."""
        return self._paid + self._costs.spent(self.running, self.since, until)

    def move(self, move: Move) -> None:
        """Begin a migration; a move to the running plan counts as one to a plan of equal cost.

        Raises   ArgumentError for an unknown plan, and while another migration is under way.
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
        """The bill; a migration that goes on beyond the end has been paid for."""
        return Bill(self._start, self.spent(max(self.since, self._costs.end)), tuple(self._moves))

    def _require_plan(self, plan: int) -> None:
        plans = len(self._costs.totals)
        if not 0 <= plan < plans:
            raise ArgumentError(f"policies: found plan {plan}, expected one of 0 to {plans - 1}")


def bill(costs: Costs, start: int, moves: Sequence[Move] = ()) -> Bill:
    """The bill of beginning with a plan and of making some moves.

    Raises   See `Account`.
    """
    account = Account(costs, start)
    for move in moves:
        account.move(move)
    return account.close()


def clairvoyant(costs: Costs, strategies: Sequence[str] = ("genmig",)) -> Bill:
    """The cheapest of all bills, with a free choice of the first plan and of moves.

    Moves begin at instants but the first, one migration at a time.

    Cost     O(instants · plans² · strategies), and the calls of `both_run` and `spent`.
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
            # The first instant at which the new plan runs alone; later than this one, so that time moves on.
            after = min(max(number + 1, bisect_left(times, until)), len(instants))
            new_cost = meanwhile + costs.spent(new, until, times[after])
            for old in numbers:
                if old != new:
                    yield Offer(old, new, after, costs.spent(old, at, until) + new_cost, move)

    cheapest = cheapest_way(numbers, len(instants), alone, offers)
    return bill(costs, cheapest.start, [offer.move for offer in cheapest.moves])


def best_fixed(costs: Costs) -> int:
    """The plan that costs least if it runs all the time; the first of equals."""
    return min(range(len(costs.totals)), key=costs.totals.__getitem__)


def hindsight(spent: Spent, plans: int, buckets: range) -> float:
    """The cost of the cheapest plan in each bucket, if moves are free; `buckets` are their starts.

    It is no lower bound: within a bucket a policy may move too.
    """
    return sum(min(spent(plan, at, at + buckets.step) for plan in range(plans)) for at in buckets)
