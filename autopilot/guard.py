"""What each plan would have cost had it run all the time, and a bound on what we may cost beyond the best.

    ours  >  (1 + share) · best + slack        only moves to the best plan, until
    ours  ≤  (1 + share / 2) · best + slack    and then again to all plans
    ours  >  (1 + share) · best + 2 · slack    a move to the best plan need not pay, if it saves at all

Two plans may take turns in being the best so far. What is the best is therefore kept until it exceeds another
one by a share, too: the totals must grow by this share between two changes, so that there are few.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)


class Ledger(Generic[P]):
    """The estimated cost so far of each known plan had it run all the time, and of ourselves.

    A plan that becomes known later is taken to have cost what we did until then, as is one that the advisor
    does not tell of now: of them there is nothing to regret.
    """

    def __init__(self, running: P, window: float) -> None:
        self.ours = 0.0
        self.dearest = 0.0
        """The most that we have cost within a window, migrations included, or at the rate of an instant."""
        self._window = window
        self._course: deque[tuple[float, float]] = deque()
        """Instants of the last window, and what we had cost by then."""
        self._before: float | None = None
        self._ours: dict[P, float] = {running: 0.0}
        """By plan, what we cost while it was not told of."""
        self._told: dict[P, float] = {running: 0.0}
        """By plan, what it would have cost while it was."""

    def totals(self, factor: Callable[[P], float] = lambda plan: 1.0) -> dict[P, float]:
        """By plan; what was told of it is off by a factor, as far as is known by now. So a plan that was told
        to be cheap, and has turned out not to be, does not stay the best one."""
        return {plan: ours + factor(plan) * self._told[plan] for plan, ours in self._ours.items()}

    def add(self, passed: float, running: float, rates: Mapping[P, float]) -> None:
        """What happened in a time, in chronons, at a cost of the running plan and of all that are known."""
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
        """What we have cost in truth, since any instant."""
        if self._before is None:
            self._before = spent - self.ours
        self.ours = spent - self._before

    def estimate(self) -> None:
        """What is measured does not count now, nor what has been measured by the next time."""
        self._before = None

    def see(self, now: float) -> None:
        """How things stand at an instant, of which all has been told."""
        course = self._course
        while len(course) > 1 and course[1][0] <= now - self._window:
            course.popleft()
        if course:
            since, before = course[0]
            share = min(1.0, self._window / (now - since)) if now > since else 1.0
            self.dearest = max(self.dearest, share * (self.ours - before))
        course.append((now, self.ours))

    def pay(self, cost: float) -> None:
        """A migration, beyond what the running plan costs."""
        self.ours += cost


class Guard(Generic[P]):
    """Tells the only plan to which moves may go.

    share   of the best plan's total; half of it is enough to be released

    >>> guard = Guard(share=0.1)
    >>> guard.check(105, {"a": 100, "b": 130}, slack=0), guard.check(111, {"a": 100, "b": 130}, slack=0)
    (None, 'a')
    >>> guard.check(219, {"a": 206, "b": 200}, slack=0)                # a stays, with little more than b
    'a'
    >>> guard.check(209, {"a": 206, "b": 200}, slack=0)
    """

    SLACK = 2.0
    """So many windows at the dearest rate so far may be lost beyond the share: about two migrations."""

    STAYS = 0.1
    """The share by which a plan that was the best one may exceed the best one now."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._only: P | None = None
        self.presses = False
        """Whether the total is so far above the best one that a move to that plan need not pay."""

    def check(self, ours: float, totals: Mapping[P, float], slack: float) -> P | None:
        """The only plan to move to, by what all cost so far; None where all are allowed."""
        best = min(totals, key=totals.__getitem__)
        least = totals[best]
        self.presses = ours > (1 + self._share) * least + 2 * slack
        share = self._share if self._only is None else self._share / 2
        if ours <= (1 + share) * least + slack:
            self._only = None
        elif self._only is None or totals[self._only] > (1 + self.STAYS) * least:
            self._only = best
        return self._only
