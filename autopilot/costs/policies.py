"""Policies that choose a plan from bucket to bucket, by what plans cost before, whatever a move costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from midstream.autopilot.costs.bill import Bill, Move, bill, migration
from midstream.autopilot.costs.series import Courses
from midstream.optimizer.charts.chart import Dimension
from midstream.optimizer.charts.ranges import LearnedRange, LearnedRanges

HALF_LIFE = 2
"""In windows: what a chart is asked with counts half after so long."""

NOTHING = 0.01
"""No cost at all counts as so much a window: logarithmic dimensions have no zero."""


class Policy(Protocol):
    """Chooses plans, by number. One object is for one replay."""

    def choose(self, costs: Sequence[float], running: int) -> int:
        """A bucket is over, in which each plan has cost so much, or would have: which plan is wanted now."""
        ...


@dataclass(frozen=True)
class Replayed:
    """What came of a policy.

    switches   how often it wanted another plan than before; not to each could be moved, as there is one
               migration at a time
    """

    bill: Bill
    switches: int


def replay(courses: Courses, policy: Policy, strategy: str = "genmig", start: int = 0) -> Replayed:
    """Let a policy choose at the start of each bucket but the first."""
    running, free, moves, wanted = start, courses.starts.start, list[Move](), [start]
    for number, at in enumerate(courses.starts[1:], 1):
        wanted.append(policy.choose([courses.bucket * rates[number - 1] for rates in courses.rates], running))
        if wanted[-1] != running and at >= free:
            moves.append(Move(at, wanted[-1], strategy))
            running, free = wanted[-1], migration(courses, running, moves[-1]).until
    switches = sum(one != other for one, other in pairwise(wanted))
    return Replayed(bill(courses, start, moves), switches)


class RepeatLastBest:
    """Wants what was best in the last so many buckets, asked when these are over; the running plan, if that
    is as good."""

    def __init__(self, buckets: int) -> None:
        self._buckets = buckets
        self._seen: list[Sequence[float]] = []
        self._wanted: int | None = None

    def choose(self, costs: Sequence[float], running: int) -> int:
        """The best one."""
        self._seen.append(costs)
        if len(self._seen) == self._buckets:
            totals = [math.fsum(of_plan) for of_plan in zip(*self._seen, strict=True)]
            self._seen = []
            best = min(range(len(totals)), key=totals.__getitem__)
            self._wanted = running if totals[running] <= totals[best] else best
        return running if self._wanted is None else self._wanted


class ByChart:
    """Wants what a chart has for what plans cost lately.

    A dimension is what a plan costs in a window, in k parts, each as many times as large as the one before,
    over a range that is learned on the way. So the plan is chosen whose part is the lowest, of plans in equal
    parts of unlike ranges that with the lower middle. The finer the parts, the sooner it moves.

    window   in buckets
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
