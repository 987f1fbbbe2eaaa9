"""The autopilot of one query: the sequence from a look to a migration, for engines and replays alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Generic, TypeVar

from midstream.autopilot.advice import Advice, P
from midstream.autopilot.autopilot import Autopilot, Later
from midstream.autopilot.decision import Decision
from midstream.plans.values.errors import ArgumentError

T = TypeVar("T", bound=float)
"""The type of instants: chronons, or parts of them."""


class QueryPilot(ABC, Generic[P, T]):
    """Looks, asks for advice, drops plans that cannot be reached, decides, and carries that out.

    An owner calls `look`, and fills in the steps: the advice, the cost of the query, the strategies, and the
    begin of a migration. It reports by `begun` and `ended` when a migration is under way.
    """

    decider: Autopilot[P]
    is_migrating = False
    """True from a migration's begin to the look at which its end is seen."""
    unasked: Sequence[str] = ("genmig",)
    """The strategies to weigh without asking which ones are possible, as no move may pay."""

    def look(self, now: T) -> None:
        """Decide at an instant, and begin the chosen migration."""
        try:
            advice = self.advise(now)
            spent = None if advice is None or self.is_migrating else self.spent(now)
        except Exception as failure:
            self.fail(now, failure)
            return
        strategies, until_split = self.unasked, 0.0
        try:
            if advice is not None and self.is_free and self.decider.may_pay(advice):
                advice, strategies = self._within_reach(advice)
            if advice is not None and advice.others:
                until_split = self.until_split(now)
            decision = self.decider.decide(now, advice, until_split, strategies, spent)
        except (ArithmeticError, ArgumentError) as failure:  # its numbers are too large to be weighed
            self.fail(now, failure)
            return
        self.carry_out(now, decision, advice, until_split)

    def begun(self, now: T, to: P, strategy: str, until_split: float) -> None:
        """Take note that a migration has begun, decided here or elsewhere."""
        self.decider.begun(now, to, strategy, until_split)
        self.is_migrating = True

    def ended(self, now: T, running: P) -> None:
        """Take note that a migration has ended, and this plan runs."""
        self.decider.ended(now, running)
        self.is_migrating = False

    @property
    def is_free(self) -> bool:
        """True where a migration could begin now."""
        return not self.is_migrating

    @abstractmethod
    def advise(self, now: T) -> Advice[P] | None:
        """The advice by what started before an instant; None where too little is known."""

    @abstractmethod
    def spent(self, now: T) -> float | Later | None:
        """The cost of the query so far (see `Autopilot.decide`).

        It is not asked for without advice, or during a migration.
        """

    @abstractmethod
    def until_split(self, now: T) -> float:
        """The number of chronons after which all that is valid now has expired."""

    def strategies(self, plan: P) -> Sequence[str]:
        """The strategies that can move the query to a plan now; by default all that are weighed unasked."""
        return self.unasked

    @abstractmethod
    def carry_out(self, now: T, decision: Decision[P], advice: Advice[P] | None, until_split: float) -> None:
        """Begin the chosen migration, if there is one and it can begin; and keep records."""

    def fail(self, now: T, failure: Exception) -> None:
        """Handle an exception of the advisor or of the costs, or numbers that cannot be weighed."""
        raise failure

    def _within_reach(self, advice: Advice[P]) -> tuple[Advice[P], Sequence[str]]:
        """Drop the best plans that cannot be reached; returns strategies for the best of the others."""
        others, strategies = list(advice.others), self.unasked
        while others:
            best = max(others, key=attrgetter("saving"))
            strategies = self.strategies(best.plan) if best.saving > 0 else self.unasked
            if strategies:
                break
            others.remove(best)
        return replace(advice, others=tuple(others)), strategies or self.unasked
