"""Policies that decide by what arrives: they are told of each arrival, in order of time.

They have seen all that came before the instant at which they are asked, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from midstream.autopilot.costs.bill import Move as NumberedMove
from midstream.autopilot.costs.policies import Now as NumberedNow
from midstream.scenarios.policies.case import Arrival, Case, Order

How = Literal["genmig", "moving-states"]
"""The strategies of migration that can be priced offline."""


@dataclass(frozen=True, slots=True)
class Move:
    """To migrate to another order."""

    to: Order
    how: How = "genmig"


@dataclass(frozen=True, slots=True)
class Now:
    """How things stand when a policy is asked.

    time        no element that is still to come starts before it
    running     the order that runs
    spent       intermediate results so far, of all plans that ran
    """

    time: int
    running: Order
    spent: float


class Observer(Protocol):
    """Decides which order is to run, by what arrives. One object is for one run."""

    def begin(self, case: Case) -> Order:
        """The first order. Of the case, it may read all but `streams` and what follows from them."""
        ...

    def observe(self, arrival: Arrival) -> None:
        """Something arrived; also told while a migration is under way."""
        ...

    def decide(self, now: Now) -> Move | None:
        """Whether to move, asked when time comes to `now.time`, before what arrives at it."""
        ...


class Observing:
    """A policy (see `midstream.autopilot.costs.policies`) that tells an observer of a case what arrived
    before it is asked."""

    def __init__(self, case: Case, observer: Observer) -> None:
        self.start = case.orders.index(observer.begin(case))
        self._orders, self._observer = case.orders, observer
        self._arrivals = iter(case.arrivals)
        self._next = next(self._arrivals, None)

    def decide(self, now: NumberedNow) -> NumberedMove | None:
        """What the observer says."""
        while self._next is not None and self._next[0] < now.time:
            self._observer.observe(self._next)
            self._next = next(self._arrivals, None)
        move = self._observer.decide(Now(now.time, self._orders[now.running], now.spent))
        return None if move is None else NumberedMove(now.time, self._orders.index(move.to), move.how)
