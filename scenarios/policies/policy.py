"""What decides which plan is to run, and how it is asked.

The arrivals of a case are told in order of time. When time comes to an instant, before what arrives at it,
a policy is asked whether to move, unless a migration is under way. It has seen all that came before, and
nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

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
    spent: int


class Policy(Protocol):
    """Decides which order is to run. One object is for one run."""

    def begin(self, case: Case) -> Order:
        """The first order. Of the case, it may read all but `streams` and what follows from them."""
        ...

    def observe(self, arrival: Arrival) -> None:
        """Something arrived; also told while a migration is under way."""
        ...

    def decide(self, now: Now) -> Move | None:
        """Whether to move, asked when time comes to `now.time`, before what arrives at it."""
        ...
