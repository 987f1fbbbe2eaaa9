"""The total cost of each plan had it run all the time, and a bound on our cost beyond the best.

    ours  >  (1 + share) · best + slack        only moves to the best plan, until
    ours  ≤  (1 + share / 2) · best + slack    and then again to all plans
    ours  >  (1 + share) · best + 2 · slack    a move to the best plan need not pay, if it saves at all

Two plans may take turns in being the best so far. So the best plan stays the best until it exceeds another
one by a share, too: the totals must grow by this share between two changes, so that there are few.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)


class Ledger(Generic[P]):
    """The estimated total cost of each known plan had it run all the time, and of ourselves.

    A plan that becomes known later counts with our own cost until then, and so does a plan in periods for
    which the advisor names no cost: there is nothing to regret.
    """

    def __init__(self, running: P, window: float) -> None:
        self.ours = 0.0
        self.dearest = 0.0
        """The largest cost within a window, migrations included, or at the rate of an instant."""
        self._window = window
        self._course: deque[tuple[float, float]] = deque()
        """The instants of the last window, each with our cost by then."""
        self._before: float | None = None
        self._ours: dict[P, float] = {running: 0.0}
        """By plan, our cost while the advisor named no cost of the plan."""
        self._told: dict[P, float] = {running: 0.0}
        """By plan, its forecast cost for the other periods."""

    def totals(self, factor: Callable[[P], float] = lambda plan: 1.0) -> dict[P, float]:
        """The total cost by plan, with the forecast part multiplied by the factor of the plan.

        So a plan whose forecast was low, and turned out wrong, does not stay the best one.
        """
        return {plan: ours + factor(plan) * self._told[plan] for plan, ours in self._ours.items()}

    def add(self, passed: float, running: float, rates: Mapping[P, float]) -> None:
        """Add a period, in chronons, with the rates of the running plan and of all plans that have one."""
        for plan in rates:
            if plan not in self._ours:
                self._ours[plan], self._told[plan] = self.ours, 0.0
        for plan in self._ours:
            if plan in rates:
                self._told[plan] += passed * rates[plan]
            else:
                self._ours[plan] += passed * running
        self.ours += passed * running
        self.dearest = max(self.dearest, self._window * running)

    def measure(self, spent: float) -> None:
        """Set our cost to a measured one, counted since any instant."""
        if self._before is None:
            self._before = spent - self.ours
        self.ours = spent - self._before

    def estimate(self) -> None:
        """Go on with estimates; measured costs count from the next measurement on."""
        self._before = None

    def see(self, now: float) -> None:
        """Record our cost at an instant, once all earlier periods have been added."""
        course = self._course
        while len(course) > 1 and course[1][0] <= now - self._window:
            course.popleft()
        if course:
            since, before = course[0]
            share = min(1.0, self._window / (now - since)) if now > since else 1.0
            self.dearest = max(self.dearest, share * (self.ours - before))
        course.append((now, self.ours))

    def pay(self, cost: float) -> None:
        """Add the cost of a migration beyond that of the running plan."""
        self.ours += cost


class Guard(Generic[P]):
    """Finds the only plan to which moves are allowed.

    share   of the best plan's total; half of it is enough to be released

    >>> guard = Guard(share=0.1)
    >>> guard.check(105, {"a": 100, "b": 130}, slack=0), guard.check(111, {"a": 100, "b": 130}, slack=0)
    (None, 'a')
    >>> guard.check(219, {"a": 206, "b": 200}, slack=0)                # a stays, with little more than b
    'a'
    >>> guard.check(209, {"a": 206, "b": 200}, slack=0)
    """

    SLACK = 2.0
    """The windows at the dearest rate so far that may be lost beyond the share: about two migrations."""

    STAYS = 0.1
    """The share by which the best plan may exceed a new best plan before that takes its place."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._only: P | None = None
        self.presses = False
        """True if the total is so far above the best one that a move to that plan need not pay."""

    def check(self, ours: float, totals: Mapping[P, float], slack: float) -> P | None:
        """The only plan to move to, by the total costs so far; None where all are allowed."""
        best = min(totals, key=totals.__getitem__)
        least = totals[best]
        self.presses = ours > (1 + self._share) * least + 2 * slack
        share = self._share if self._only is None else self._share / 2
        if ours <= (1 + share) * least + slack:
            self._only = None
        elif self._only is None or totals[self._only] > (1 + self.STAYS) * least:
            self._only = best
        return self._only
