"""Choose the cheapest of all equivalent plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from midstream.optimizer.cost import CostModel, PlanCost
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.rules import RULES, Rule, Stage
from midstream.optimizer.search.enumeration import LIMIT, Derived, explore
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.verdicts import Answer, Equivalence


@dataclass(frozen=True)
class Choice:
    """The cheapest plan found, what it costs, and what the given plan costs.

    `considered` counts the plans that were priced; `is_complete` tells whether these were all there are.
    """

    plan: Plan
    cost: PlanCost
    given: Plan
    given_cost: PlanCost
    considered: int
    is_complete: bool
    rules: tuple[str, ...] = ()
    """The names of the rules that lead from the given plan to the chosen one."""

    @property
    def is_better(self) -> bool:
        """Whether another plan than the given one was chosen."""
        return self.plan != self.given

    @property
    def proof(self) -> Equivalence:
        """That the chosen plan means the same as the given one."""
        reason = f"derived by {', '.join(self.rules)}" if self.rules else "the plan as it was given"
        return Equivalence(Answer.PROVED, reason, plans=(self.given, self.plan))


def optimize(
    plan: Plan | Stream,
    statistics: Statistics,
    *,
    rules: Sequence[Rule | Stage] = RULES,
    limit: int = LIMIT,
    units: UnitCosts | None = None,
) -> Choice:
    """Price the plans that the rules make of one, at most `limit`, and choose the cheapest; the given one
    unless another costs less.

    Cost     O(plans × operators).
    Raises   StatisticsError where an input has no statistics.
    """
    plan = plan_of("optimize", plan)
    model = CostModel(statistics, units)
    given_cost = model.price(plan)
    best, best_cost, led = plan, given_cost, Derived(plan)
    considered = 0
    candidates = explore(plan, rules)
    for candidate in islice(candidates, limit):
        considered += 1
        cost = model.price(candidate.plan)
        # Rounding differs between plans that cost the same; a change of plan wants more than that.
        if cost.total < best_cost.total * (1 - 1e-9):
            best, best_cost, led = candidate.plan, cost, candidate
    is_complete = next(candidates, None) is None
    return Choice(best, best_cost, plan, given_cost, considered, is_complete, led.rules)
