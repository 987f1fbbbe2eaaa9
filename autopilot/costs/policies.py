"""Policies that decide which plan is to run, and their replay over costs.

A policy is asked at instants, before what arrives there, unless a migration is under way. It knows what lies
before that instant, and nothing else. The same policy may decide for an engine.
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
"""In windows: what a chart is asked with counts half after so long."""

NOTHING = 0.01
"""No cost at all counts as so much a window: logarithmic dimensions have no zero."""


@dataclass(frozen=True, slots=True)
class Now:
    """The state of things when a policy is asked.

    time      no element that is still to come starts before it
    running   the plan that runs, by number
    spent     the cost so far, of all plans that ran
    """

    time: int
    running: int
    spent: float


class Policy(Protocol):
    """Decides which plan is to run. One object is for one run."""

    def decide(self, now: Now) -> Move | None:
        """The move to make, or None."""
        ...


def replay(costs: Costs, policy: Policy, start: int = 0) -> Bill:
    """The bill of a policy from a plan on: it is asked at each instant but the first.

    Cost     O(instants), and what policy and costs take.
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
    """The moves of a bill, each at its instant, or as soon as it can be after it; without moves, one plan all
    the time."""

    def __init__(self, moves: Sequence[Moved]) -> None:
        self._moves = deque(moves)

    def decide(self, now: Now) -> Move | None:
        """The next move, if it is due."""
        if not self._moves or self._moves[0].at > now.time:
            return None
        moved = self._moves.popleft()
        return Move(now.time, moved.new, moved.strategy)


class Choice(Protocol):
    """Chooses a plan, by number, whenever a period is over."""

    def choose(self, costs: Sequence[float], running: int) -> int:
        """The plan that is wanted, by what each plan has cost in the period, or would have."""
        ...


class Periodic:
    """Moves to what a choice wants, as soon as it can.

    spent      what plans cost, if they run alone
    plans      how many there are
    begin      when the first period begins
    """

    def __init__(
        self, choice: Choice, spent: Spent, plans: int, begin: int, period: int, strategy: str = "genmig"
    ) -> None:
        self._choice, self._spent, self._plans = choice, spent, range(plans)
        self._since, self._period, self._strategy = begin, period, strategy
        self._wanted: int | None = None
        self.switches = 0
        """The number of times that it wanted another plan than before."""

    def decide(self, now: Now) -> Move | None:
        """The plan that is wanted by the periods that are over."""
        while (over := self._since + self._period) <= now.time:
            before = now.running if self._wanted is None else self._wanted
            costs = [self._spent(plan, self._since, over) for plan in self._plans]
            self._wanted, self._since = self._choice.choose(costs, now.running), over
            self.switches += self._wanted != before
        if self._wanted is None or self._wanted == now.running:
            return None
        return Move(now.time, self._wanted, self._strategy)


class LastBest:
    """Wants what was best in the last period; the running plan, if that is as good."""

    def choose(self, costs: Sequence[float], running: int) -> int:
        """The best one."""
        best = min(range(len(costs)), key=costs.__getitem__)
        return running if costs[running] <= costs[best] else best


class ByChart:
    """Wants what a chart has for what plans cost lately.

    A dimension is what a plan costs in a window, in k parts, each as many times as large as the one before,
    over a range that is learned on the way. So the plan is chosen whose part is the lowest, of plans in equal
    parts of unlike ranges that with the lower middle. The finer the parts, the sooner it moves.

    window   in periods
    """

    def __init__(self, plans: int, k: int, window: float) -> None:
        names = [f"plan {number}" for number in range(plans)]
        self._ranges = LearnedRanges(names, k, [LearnedRange(0.0, is_logarithmic=True) for _ in names])
        self._kept, self._window = 0.5 ** (1 / (HALF_LIFE * window)), window
        self._costs, self._weight = [0.0] * plans, 0.0
        self._dimensions: tuple[Dimension, ...] | None = None

    def choose(self, costs: Sequence[float], running: int) -> int:
        """The chart's plan, as soon as there are ranges."""
        self._weight = self._weight * self._kept + 1
        self._costs = [so_far * self._kept + cost for so_far, cost in zip(self._costs, costs, strict=True)]
        point = [max(NOTHING, cost / self._weight * self._window) for cost in self._costs]
        if self._ranges.see(point):
            self._dimensions = self._ranges.dimensions
        if self._dimensions is None:
            return running
        middles = [one.middle(one.part(value)) for one, value in zip(self._dimensions, point, strict=True)]
        return min(range(len(middles)), key=middles.__getitem__)
