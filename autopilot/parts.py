"""The parts of a query's autopilot: a decider, an advisor, statistics of streams, and accounts of costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite

from midstream.autopilot.accounts import Accounts, beside_of, counts, prices_of, unit_of
from midstream.autopilot.advice import Advice, Advisor
from midstream.autopilot.autopilot import Autopilot
from midstream.autopilot.budget import Efforts, Work
from midstream.autopilot.learning import Learning
from midstream.autopilot.looks import Looks
from midstream.autopilot.pricing import PricingAdvisor
from midstream.autopilot.settings import Settings
from midstream.optimizer import Statistics
from midstream.optimizer.statistics import StreamStatistics
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.arguments import require, wrong
from midstream.plans.values.errors import StatisticsError


@dataclass(frozen=True, slots=True)
class PilotParts:
    """The parts of a query's autopilot; without accounts, the cost of the query is only estimated."""

    decider: Autopilot[Plan]
    advisor: Advisor[Plan, Statistics]
    learning: Learning
    accounts: Accounts | None = None

    def cost(self) -> float:
        """The cost of all that the parts have done, in microseconds by their counted steps."""
        known = (self.learning, self.accounts, self.pricing)
        units = prices_of(self.advisor)
        return sum(one.efforts.cost(units) for one in known if one is not None)

    @property
    def pricing(self) -> PricingAdvisor | None:
        """The advisor if it prices plans: then it tells its efforts, and the work of the running plan."""
        return self.advisor if isinstance(self.advisor, PricingAdvisor) else None

    @property
    def work(self) -> Work:
        """The work of the running plan; a guess before the advisor knows, or if it does not tell."""
        return Work() if self.pricing is None else self.pricing.work

    def adjusted(self, plan: Plan | None) -> PilotParts:
        """The parts after the levers of a query have got other settings.

        They keep what was learned of streams, which settings do not change; costs are counted anew, as they
        tell little of other settings. So is what the decider knows of plans, but for None: amid a migration.
        """
        return replace(
            self,
            decider=self.decider if plan is None else self.decider.afresh(plan),
            accounts=None if self.accounts is None else self.accounts.afresh(),
        )

    def has_choice(self, plan: Plan) -> bool:
        """False if the advisor knows, by the plan alone, that there is no other."""
        return self.pricing is None or self.pricing.has_choice(plan)

    def advise(self, now: int) -> Advice[Plan] | None:
        """Advice on plans, with their recent costs; None where too little is known.

        Raises   ArgumentError for anything else.
        """
        known, running = self.learning.statistics(now), self.decider.running
        if known is None:
            return None
        advice: object = self.advisor.advise(running, known)
        if advice is None:
            return None
        if not isinstance(advice, Advice):
            raise wrong("advise", advice, "advice, or None where too little is known")
        for other in advice.others:
            require("advise: others", other.plan, Plan, "forecasts of plans")
        if self.pricing is not None and self.decider.may_pay(advice):
            advice = self._at_recent_rates(self.pricing, self.learning.at_recent_rates(now, known), advice)
        return advice if self.accounts is None else self.accounts.with_lately(now, running, advice)

    def _at_recent_rates(
        self, pricing: PricingAdvisor, recent: Statistics, advice: Advice[Plan]
    ) -> Advice[Plan]:
        """Lower each saving to that at the rates of the last window, where that is less.

        So a burst that has ended is not taken for the future, nor one that has hardly begun.
        """
        saving = [other.plan for other in advice.others if other.saving > 0]
        try:
            costs = pricing.costs([self.decider.running, *saving], recent)
        except StatisticsError:
            return advice
        lower = {
            plan: costs[0] - cost for plan, cost in zip(saving, costs[1:], strict=True) if isfinite(cost)
        }
        others = (
            replace(one, saving=min(one.saving, lower.get(one.plan, one.saving))) for one in advice.others
        )
        return replace(advice, others=tuple(others))


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
    fixed = fixed_cost(plan, advisor, settings)
    decider = Autopilot(plan, looks.window, settings, fixed=fixed)
    return PilotParts(decider, advisor, learning, accounts)


def fixed_cost(plan: Plan, advisor: object, settings: Settings) -> float:
    """The cost of any migration of a query, in the unit of an advisor, without the results that it makes.

    It is the time to find out what is possible, to prove, to prepare and to compile, unless deciding has no
    budget. For intermediate results it is one result, so that nobody moves for less. It is 0 where the unit
    is not known.
    """
    unit = unit_of(advisor)
    if unit is None:
        return 0.0
    is_paid = settings.budget is not None
    time = Efforts(moved=2 * len(plan.nodes)).cost(prices_of(advisor)) if is_paid else 0.0
    return unit.processing * time + unit.intermediate
