"""The optimizer as an advisor: the plan that it would run, and how sure the saving is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import inf, isfinite

from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.budget import work_of
from midstream.autopilot.pricing import Beside, PricingAdvisor, deviation_of_saving, nothing_beside
from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer import PROCESSING, CostModel, Objective, Statistics, Steps, optimize
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.rules import RULES, Rule, Stage
from midstream.optimizer.search import QUICK_STEPS, Obstacle, Sides, enumerate_plans, link
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, logical_plan
from midstream.plans.values.arguments import require, require_callable
from midstream.plans.values.errors import ArgumentError, StatisticsError

MOST_PLANS = 6
"""The largest number of plans to remember, the running one included."""
WORTH_A_LOOK = 0.02
"""The least saving, as a share of the running plan's cost, for which a deviation is computed.

A plan that differs only in the sides of joins takes the place of another if it saves a larger share.
"""
MOST_SIDES = 64
"""The number of plans that differ only in the sides of joins from which on there may be others."""
SEARCH_EVERY = 4
"""The number of changes of the statistics between two searches; known plans are priced at every change."""


class ByOptimizer(PricingAdvisor):
    """Advises by the optimizer's search: the cheapest plan within reach, and the plans found before.

    Costs are computed by the `objective`, the statistics and `units`: the stored cost profile, not by the
    present speed of the machine. The deviation of a saving comes from the same saving without each group of
    elements, if the statistics have such `replicates`.

    `obstacle` tells why a plan cannot replace the running one, for example `engine.obstacle`. `beside` tells
    which operators other queries use as well: all plans are priced by what they add beside these, and for
    processing the search looks for plans that keep them.

    Plans that differ only in the sides of joins count as one.

    Cost     At each change of the statistics the prices of some plans. At every fourth change, and if other
             operators are shared, a search of at most `steps`, which takes three times as long beside shared
             joins; then, for each group, one more price of the plans that save something. Nothing if the same
             question is repeated.
    """

    def __init__(
        self,
        objective: Objective = PROCESSING,
        *,
        rules: Sequence[Rule | Stage] = RULES,
        steps: int = QUICK_STEPS,
        obstacle: Obstacle | None = None,
        units: UnitCosts | None = None,
        beside: Beside = nothing_beside,
        most: int = MOST_PLANS,
    ) -> None:
        require("advisor: objective", objective, Objective, "an objective, such as PROCESSING")
        require("advisor: most", most, int, "a number of plans")
        if most < 2:
            raise ArgumentError(f"advisor: found most = {most}, expected 2 or more: the running plan is one")
        if obstacle is not None:
            require_callable("advisor: obstacle", obstacle, "a function of a plan, such as engine.obstacle")
        require_callable("advisor: beside", beside, "a function that returns shared nodes")
        super().__init__(objective, units, beside)
        self._rules, self._budget, self._obstacle, self._most = rules, Steps(steps), obstacle, most
        self._plans: list[Plan] = []
        """Equivalent plans, the last found or run first."""
        self._sides = Sides()
        self._forms: dict[Plan, tuple[tuple[str, int], ...]] = {}
        self._found_beside: frozenset[Node] = frozenset()
        """The nodes that other queries used at the last search."""
        self._changes = 0
        """The number of changes of the statistics since the last search."""
        self._of: Plan | None = None
        self._deviations: dict[Plan, float] = {}
        """The deviations of savings beside the running plan, since the last search."""

    def _advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        model = CostModel(known, self.units)
        try:
            (running_cost,) = self.costs([running], model)
            if running_cost == 0 and self._shared:
                return Advice(0.0, reason="the running plan adds nothing beside other queries")
            if not 0 < running_cost < inf:
                return None
            self.work = work_of(running, model)
            self._look_for_plans(running, known, model)
        except StatisticsError:
            return None
        known_plans = [plan for plan in self._plans if plan != running]
        costs = dict(zip(known_plans, self.costs(known_plans, model), strict=True))
        others = [plan for plan in known_plans if costs[plan] < inf]
        others.sort(key=costs.__getitem__)
        cheaper = [plan for plan in others if running_cost - costs[plan] > WORTH_A_LOOK * running_cost]
        left_out = {plan for plan in cheaper if self._obstacle is not None and self._obstacle(plan)}
        unsure = [plan for plan in cheaper if plan not in left_out]
        self._learn_deviations(running, running_cost, unsure, known)
        left_out.update(plan for plan in unsure if self._deviations[plan] == inf)
        forecasts = tuple(
            Forecast(
                plan,
                costs[plan],
                running_cost - costs[plan],
                running_cost * self._deviations[plan] if plan in unsure else 0.0,
            )
            for plan in others
            if plan not in left_out
        )
        return Advice(running_cost, forecasts, self._reason(len(others), known))

    def _look_for_plans(self, running: Plan, known: Statistics, model: CostModel) -> None:
        """Remember the running plan, and the plan of a search if it is time for one."""
        if self._form(running) not in map(self._form, self._plans):
            self._plans, self._forms, self._sides = [], {}, Sides()  # these need not be equivalent
        if not self._plans or self._changes >= SEARCH_EVERY or self._shared != self._found_beside:
            self._remember(running)
            self._remember(self._remembered_form(self._search(running, known), model))
            self._changes, self._deviations, self._found_beside = 0, {}, self._shared
        self._remember(running)
        self._changes += 1

    def _remember(self, new: Plan) -> None:
        """Remember a plan in place of one that differs only in the sides of joins."""
        others = [plan for plan in self._plans if self._form(plan) != self._form(new)]
        self._plans = [new, *others][: self._most]
        self._forms = {plan: self._form(plan) for plan in self._plans}

    def _remembered_form(self, found: Plan, model: CostModel) -> Plan:
        """A remembered plan that differs from the new one only in sides, unless the new one costs less.

        The remembered one is preferred, because the errors learned for a plan are not known of another one.
        """
        alike = next((plan for plan in self._plans if self._form(plan) == self._form(found)), found)
        if alike == found:
            return found
        old, new = self.costs([alike, found], model)
        return found if new < (1 - WORTH_A_LOOK) * old else alike

    def _form(self, plan: Plan) -> tuple[tuple[str, int], ...]:
        """The form of a plan, without the sides of joins and the choice among equal columns."""
        if plan not in self._forms:
            self._forms[plan] = self._form_of(plan)
        return self._forms[plan]

    def _form_of(self, plan: Plan) -> tuple[tuple[str, int], ...]:
        outputs = logical_plan(plan).outputs.items()
        return tuple((name, self._sides.of(link(root)[0])) for name, root in outputs)

    def has_choice(self, plan: Plan) -> bool:
        """True if the rules lead to another plan, or to so many that this is not found out.

        Operators whose implementations are not those that the planner would choose are a choice, too.
        """
        if physical_plan(plan) != physical_plan(logical_plan(plan)):
            return True
        plans = iter(enumerate_plans(plan, self._rules))
        first = self._form_of(next(plans))
        if any(self._form_of(other) != first for other in islice(plans, MOST_SIDES)):
            return True
        return next(plans, None) is not None

    def _search(self, running: Plan, known: Statistics) -> Plan:
        choice = optimize(
            running,
            known,
            beside=self._worth_keeping(running),
            rules=self._rules,
            budget=self._budget,
            objective=self.objective,
            units=self.units,
            obstacle=self._obstacle,
        )
        self.efforts.searches += 1
        self.efforts.considered += choice.considered
        return choice.plan

    def _worth_keeping(self, running: Plan) -> dict[str, Plan]:
        """The shared operators for a search, which knows them for processing only.

        Windows alone are left out: nearly all plans keep them, and the search would take three times as long.
        """
        if self.objective != PROCESSING:
            return {}
        nodes = (node for node in logical_plan(running).nodes if node in self._shared)
        kept = [node for node in nodes if node.inputs and logical(node).is_snapshot_reducible]
        return {"other queries": Plan({str(i): node for i, node in enumerate(kept)})} if kept else {}

    def _learn_deviations(
        self, running: Plan, cost: float, others: Sequence[Plan], known: Statistics
    ) -> None:
        """Compute the deviations of what other plans save, as a share of the running plan's cost.

        Each is computed once between two searches, as it changes little. It is infinite if some plan has an
        infinite cost without one group of elements.
        """
        if self._of != running:
            self._of, self._deviations = running, {}
        new = [plan for plan in others if plan not in self._deviations]
        if not known.replicates:
            self._deviations |= dict.fromkeys(new, 0.0)
        elif new:
            samples = (of.sample for of in known.streams.values())
            self.efforts.rows += sum(len(sample.rows) for sample in samples if sample is not None)
            without = [self.costs([running, *new], replicate) for replicate in known.replicates]
            for number, plan in enumerate(new, 1):
                is_sure = all(isfinite(costs[0]) and isfinite(costs[number]) for costs in without)
                of_saving = deviation_of_saving(without, number) if is_sure else inf
                self._deviations[plan] = of_saving / cost

    def _reason(self, others: int, known: Statistics) -> str:
        streams = ", ".join(sorted(str(node.operator).split(" ", 1)[-1] for node in known.streams))
        return f"by the optimizer, from statistics of {streams}; other plans compared: {others}"
