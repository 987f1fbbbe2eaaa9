"""Policies that decide which plan to run, and their replay over costs.

A policy is asked at instants, before the elements that arrive there, unless a migration is under way. It
knows only the time before that instant. The same policy may decide for an engine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from midstream.autopilot.costs.bill import Account, Bill, Costs, Move, Moved, Spent
from midstream.optimizer.charts.chart import Dimension
from midstream.optimizer.charts.ranges import LearnedRange, LearnedRanges
from midstream.plans.values.errors import ArgumentError

HALF_LIFE = 2
"""The number of windows after which a cost counts half in the point of a chart."""

NOTHING = 0.01
"""The least cost per window, which counts for no cost: logarithmic dimensions have no zero."""


@dataclass(frozen=True, slots=True)
class Now:
    """The input of a policy at an instant.

    time      the instant: no element that is still to come starts before it
    running   the plan that runs, by number
    spent     the cost so far, of all plans that ran
    """

    time: int
    running: int
    spent: float


class Policy(Protocol):
    """Decides which plan to run; one object is for one run."""

    def decide(self, now: Now) -> Move | None:
        """The move to make, or None."""
        ...


def replay(costs: Costs, policy: Policy, start: int = 0) -> Bill:
    """The bill of a policy, from a first plan on; the policy is asked at each instant but the first.

    Cost     O(instants), and the calls of policy and costs.
    Raises   See `Account`; ArgumentError where the policy names the running plan.
    """
    account = Account(costs, start)
    for at in costs.instants[1:]:
        if at >= account.since:
            move = policy.decide(Now(at, account.running, account.spent(at)))
            if move is not None:
                if move.to == account.running:
                    raise ArgumentError(
                        f"policies: found a move at {at} to plan {move.to}, which runs already"
                    )
                account.move(move)
    return account.close()


class Planned:
    """The moves of a bill, each at its instant or as soon as possible after it.

    Without moves, one plan runs all the time.
    """

    def __init__(self, moves: Sequence[Moved]) -> None:
        self._moves = deque(moves)

    def decide(self, now: Now) -> Move | None:
        """The next move, if it is due."""
        if not self._moves or self._moves[0].at > now.time:
            return None
        moved = self._moves.popleft()
        return Move(now.time, moved.new, moved.strategy)


class Choice(Protocol):
    """Chooses a plan, by number, at the end of each period."""

    def choose(self, costs: Sequence[float], running: int) -> int:
        """The plan to run, by the cost of each plan in the period, measured or computed."""
        ...


class Periodic:
    """Moves to the plan of a choice, as soon as possible.

    spent      the cost of plans that run alone
    plans      the number of plans
    begin      the instant at which the first period begins
    """

    def __init__(
        self, choice: Choice, spent: Spent, plans: int, begin: int, period: int, strategy: str = "genmig"
    ) -> None:
        self._choice, self._spent, self._plans = choice, spent, range(plans)
        self._since, self._period, self._strategy = begin, period, strategy
        self._wanted: int | None = None
        self.switches = 0
        """The number of times that the choice changed."""

    def decide(self, now: Now) -> Move | None:
        """The move to the plan that was chosen for the last period, if that does not run."""
        while (over := self._since + self._period) <= now.time:
            before = now.running if self._wanted is None else self._wanted
            costs = [self._spent(plan, self._since, over) for plan in self._plans]
            self._wanted, self._since = self._choice.choose(costs, now.running), over
            self.switches += self._wanted != before
        if self._wanted is None or self._wanted == now.running:
            return None
        return Move(now.time, self._wanted, self._strategy)


class LastBest:
    """Chooses the cheapest plan of the last period, or the running plan if that is as cheap."""

    def choose(self, costs: Sequence[float], running: int) -> int:
        """The cheapest plan."""
        best = min(range(len(costs)), key=costs.__getitem__)
        return running if costs[running] <= costs[best] else best


class ChartChoice:
    """Chooses the plan that a chart has for the recent costs of plans.

    A dimension is the cost of a plan per window, in k parts. Each part is larger than the one before by the
    same factor, and the range is learned on the way. The chosen plan is the one whose part is the lowest;
    among plans in equal parts of different ranges, the one with the lower middle. With finer parts it moves
    sooner.

    window   in periods
    """

    def __init__(self, plans: int, k: int, window: float) -> None:
        names = [f"plan {number}" for number in range(plans)]
        self._ranges = LearnedRanges(names, k, [LearnedRange(0.0, is_logarithmic=True) for _ in names])
        self._decay, self._window = 0.5 ** (1 / (HALF_LIFE * window)), window
        self._costs, self._weight = [0.0] * plans, 0.0
        self._dimensions: tuple[Dimension, ...] | None = None

    def choose(self, costs: Sequence[float], running: int) -> int:
        """The chart's plan, as soon as there are ranges."""
        self._weight = self._weight * self._decay + 1
        self._costs = [so_far * self._decay + cost for so_far, cost in zip(self._costs, costs, strict=True)]
        point = [max(NOTHING, cost / self._weight * self._window) for cost in self._costs]
        if self._ranges.see(point):
            self._dimensions = self._ranges.dimensions
        if self._dimensions is None:
            return running
        middles = [axis.middle(axis.part(value)) for axis, value in zip(self._dimensions, point, strict=True)]
        return min(range(len(middles)), key=middles.__getitem__)
