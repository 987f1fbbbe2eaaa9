"""The optimizer as an advisor: what it would run instead, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from midstream.migration.autopilot.advice import Advice, Forecast
from midstream.optimizer import PROCESSING, CostModel, Objective, Statistics, Steps, optimize
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.rules import RULES, Rule, Stage
from midstream.optimizer.search.budget import QUICK_STEPS
from midstream.optimizer.search.reach import Obstacle
from midstream.optimizer.statistics import deviation
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.arguments import require, require_callable
from midstream.plans.values.errors import ArgumentError, StatisticsError

MOST_PLANS = 6
"""So many plans are remembered, the running one among them."""
WORTH_A_LOOK = 0.02
"""How sure a saving is, is worked out where it is a larger share of what the running plan costs."""


class ByOptimizer:
    """Advises by the optimizer's search: the cheapest plan that can be reached, and the plans found before.

    What plans cost is told by the `objective`, by the statistics that it is asked with, and by `units`: the
    stored cost profile, not by how fast the machine is now. The deviation of a saving is that of the same
    saving by all elements but those of one group, where the statistics have such `replicates`.

    `obstacle` tells why a plan cannot take the place of the running one, such as `engine.obstacle`.

    Cost     A search of at most `steps`, a few prices of plans, and of each plan that saves something one for
             each group; nothing where it is asked the same again.
    """

    def __init__(
        self,
        objective: Objective = PROCESSING,
        *,
        rules: Sequence[Rule | Stage] = RULES,
        steps: int = QUICK_STEPS,
        obstacle: Obstacle | None = None,
        units: UnitCosts | None = None,
        most: int = MOST_PLANS,
    ) -> None:
        require("advisor: objective", objective, Objective, "an objective, such as PROCESSING")
        require("advisor: most", most, int, "a number of plans")
        if most < 2:
            raise ArgumentError(f"advisor: found most = {most}, expected 2 or more: the running plan is one")
        if obstacle is not None:
            require_callable("advisor: obstacle", obstacle, "a function of a plan, such as engine.obstacle")
        self._objective, self._rules, self._budget = objective, rules, Steps(steps)
        self._obstacle, self._units, self._most = obstacle, units, most
        self._plans: list[Plan] = []
        """Those that mean the same, the last found or run first."""
        self._last: tuple[Plan, Statistics, Advice[Plan] | None] | None = None

    def advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        """What the running plan costs, and what others would; None where nothing came yet."""
        require("advise", known, Statistics, "statistics, such as engine.statistics()")
        if self._last is None or self._last[0] != running or self._last[1] is not known:
            self._last = running, known, self._advise(running, known)
        return self._last[2]

    def _advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        try:
            costs = dict(self._costs([running], known))
            if not costs[running] > 0:
                return None
            found = self._search(running, known)
        except StatisticsError:
            return None
        self._remember(running, found)
        others = [plan for plan in self._plans if plan != running]
        costs |= dict(self._costs(others, known))
        savings = {plan: costs[running] - costs[plan] for plan in others}
        unsure = [plan for plan in others if savings[plan] > WORTH_A_LOOK * costs[running]]
        deviations = self._deviations(running, unsure, known)
        forecasts = [
            Forecast(plan, costs[plan], savings[plan], deviations.get(plan, 0.0))
            for plan in sorted(others, key=savings.__getitem__, reverse=True)
        ]
        return Advice(costs[running], tuple(forecasts), self._reason(len(others), known))

    def _search(self, running: Plan, known: Statistics) -> Plan:
        choice = optimize(
            running,
            known,
            rules=self._rules,
            budget=self._budget,
            objective=self._objective,
            units=self._units,
            obstacle=self._obstacle,
        )
        return choice.plan

    def _remember(self, running: Plan, found: Plan) -> None:
        """Plans that were found from one that is not known need not mean the same as it."""
        if running not in self._plans:
            self._plans = []
        kept = [plan for plan in self._plans if plan not in (running, found)]
        self._plans = [running, *([found] if found != running else []), *kept][: self._most]

    def _costs(self, plans: Sequence[Plan], known: Statistics) -> Iterator[tuple[Plan, float]]:
        model = CostModel(known, self._units)
        for plan in plans:
            yield plan, self._objective.of(model.price(plan))

    def _deviations(self, running: Plan, others: Sequence[Plan], known: Statistics) -> dict[Plan, float]:
        """How sure it is what other plans save."""
        if not others or not known.replicates:
            return {}
        without = [dict(self._costs([running, *others], replicate)) for replicate in known.replicates]
        return {plan: deviation(costs[running] - costs[plan] for costs in without) for plan in others}

    def _reason(self, others: int, known: Statistics) -> str:
        streams = ", ".join(sorted(str(node.operator).split(" ", 1)[-1] for node in known.streams))
        return f"by the optimizer, from statistics of {streams}; other plans compared: {others}"
