"""Who flies a query: who decides, who advises, who knows, and who counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from midstream.autopilot.advice import Advice, Advisor
from midstream.autopilot.autopilot import Later
from midstream.autopilot.decision import Decision
from midstream.operators.engine.counting import Counters
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.streams import Batch, Time

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class Decider(Protocol):
    """Decides by what an advisor tells, as an `Autopilot` does."""

    running: Plan

    def decide(
        self,
        now: float,
        advice: Advice[Plan] | None,
        until_split: float,
        strategies: Sequence[str],
        spent: float | Later | None,
    ) -> Decision[Plan]: ...

    def may_pay(self, advice: Advice[Plan]) -> bool:
        """Whether some move would pay if it cost nothing: only then it is found out by which strategies it
        can be carried out."""

    def begun(self, now: float, to: Plan, strategy: str, until_split: float) -> None: ...

    def ended(self, now: float, running: Plan) -> None: ...


class Knowledge(Protocol[S_co]):
    """Learns from what comes on streams; what it knows at an instant is what an advisor is asked with."""

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Something came (see `Watcher`)."""

    def known(self, now: int) -> S_co | None:
        """What is known at an instant, of what starts before it; None where that is too little to ask an
        advisor with."""


class Accountant(Protocol):
    """Keeps accounts in the advisor's unit: what each plan cost lately, by estimates, and what the query has
    cost, by what its operators gave. It is asked at looks at which there is advice, and the latter only when
    no migration is under way."""

    def with_lately(self, now: int, running: Plan, advice: Advice[Plan]) -> Advice[Plan]:
        """An advice, with what each of its plans cost lately."""

    def spent(self, now: int, running: Sequence[Plan], counted: Counters) -> float | Later | None:
        """What the query has cost since it was asked first, in all plans; "later" where that is not worth the
        effort at this look, None where too little is known.

        running   the plans that ran since it was asked last: two, where there was a migration
        counted   what operators have given so far
        """


@dataclass(frozen=True)
class Crew(Generic[S]):
    """Who flies a query. Without an accountant, what it costs is only estimated."""

    decider: Decider
    advisor: Advisor[Plan, S]
    knowledge: Knowledge[S]
    accountant: Accountant | None = None
