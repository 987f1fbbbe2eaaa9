"""The parts of a query's autopilot: a decider, an advisor, statistics of streams, and accounts of costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from midstream.autopilot.accounts import Accounts, beside_of, counts, prices_of, unit_of
from midstream.autopilot.advice import Advice, Advisor
from midstream.autopilot.autopilot import Autopilot
from midstream.autopilot.learning import Learning
from midstream.autopilot.looks import Looks
from midstream.autopilot.settings import Settings
from midstream.optimizer import Statistics
from midstream.optimizer.statistics import StreamStatistics
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.arguments import require, wrong


@dataclass(frozen=True, slots=True)
class PilotParts:
    """The parts of a query's autopilot; without accounts, the cost of the query is only estimated."""

    decider: Autopilot[Plan]
    advisor: Advisor[Plan, Statistics]
    learning: Learning
    accounts: Accounts | None = None

    def advise(self, now: int) -> Advice[Plan] | None:
        """Advice on plans, with their recent costs; None where too little is known.

        Raises   ArgumentError for anything else.
        """
        known, running = self.learning.statistics(now), self.decider.running
        advice: object = None if known is None else self.advisor.advise(running, known)
        if advice is None:
            return None
        if not isinstance(advice, Advice):
            raise wrong("advise", advice, "advice, or None where too little is known")
        for other in advice.others:
            require("advise: others", other.plan, Plan, "forecasts of plans")
        return advice if self.accounts is None else self.accounts.with_lately(now, running, advice)


def pilot_parts(
    plan: Plan,
    looks: Looks,
    advisor: Advisor[Plan, Statistics],
    settings: Settings,
    *,
    constant: Mapping[Node, StreamStatistics] | None = None,
    is_measured: bool = True,
) -> PilotParts:
    """The parts for a query that runs a plan first.

    `constant` are statistics of relations. With `is_measured`, the cost of the query is measured, if the
    advisor names its unit.
    """
    unit = unit_of(advisor) if is_measured else None
    is_counted = unit is not None and counts(unit)
    learning = Learning(plan, looks, settings.half_life, constant=constant, tells_lately=is_counted)
    accounts = None if unit is None else Accounts(unit, learning, prices_of(advisor), beside_of(advisor))
    return PilotParts(Autopilot(plan, looks.window, settings), advisor, learning, accounts)
