"""An advisor over a fixed set of plans."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.pricing import PricingAdvisor, deviation_of_saving
from midstream.optimizer import INTERMEDIATE, PROCESSING, Objective, Statistics
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import StatisticsError


class AmongPlans(PricingAdvisor):
    """Prices the plans of a fixed set; it searches for no others.

    Cost     The prices of the plans where statistics have changed; where some plan saves something, the same
             once more for each group of elements from which a deviation is computed.
    """

    def __init__(self, plans: Sequence[Plan], objective: Objective) -> None:
        super().__init__(objective)
        self._plans = plans

    def _advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        others = [plan for plan in self._plans if plan != running]
        try:
            cost, *costs = self.costs([running, *others], known)
            replicates = known.replicates if min(costs) < cost else ()
            without = [self.costs([running, *others], replicate) for replicate in replicates]
        except StatisticsError:
            return None
        forecasts = tuple(
            Forecast(plan, costs[i], cost - costs[i], deviation_of_saving(without, i + 1))
            for i, plan in enumerate(others)
        )
        return Advice(cost, forecasts, "by the cost model, from statistics of what came")


def objective_among(plans: Sequence[Plan]) -> Objective:
    """The objective for comparing plans: intermediate results with several joins, else processing."""
    joins = max(sum(isinstance(logical(node), Join) for node in plan.nodes) for plan in plans)
    return INTERMEDIATE if joins > 1 else PROCESSING
