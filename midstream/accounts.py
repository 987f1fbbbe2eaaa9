"""What plans cost that an engine runs or could run, in the unit of an objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from midstream.migration.autopilot.advice import Advice
from midstream.migration.autopilot.spending import Spent
from midstream.optimizer import CostModel, Objective, Statistics
from midstream.optimizer.cost.model import PlanCost
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.errors import StatisticsError

PRICED_EVERY = 4
"""So many times in the time that statistics of the last window remember, plans are priced by them."""


class Lately(Protocol):
    """Statistics of the last window or so; those before it weigh 1 / e."""

    memory: float
    """How long that is, in chronons."""

    def lately(self, now: int) -> Statistics: ...


class Accounts:
    """Prices plans by what came lately; where it was counted what operators gave, with that.

    So what a query has cost is told in the unit of the objective, whichever that is, such as microseconds:
    what each operator takes for the elements that it got and the results that it gave, by the stored
    profile. The clock is not read. Intermediate results need no prices: they have been counted.

    Cost     Where results are counted, the price of all plans that the advice names, four times a window;
             else at each look that of what runs.
    """

    def __init__(self, objective: Objective, known: Lately, units: UnitCosts | None = None) -> None:
        self._objective, self._known, self._units = objective, known, units
        self._is_counted = objective == replace(Objective(), intermediate=objective.intermediate)
        self._prices: dict[Plan, float] = {}
        """Per chronon, of plans at the instant `_priced`."""
        self._priced: int | None = None
        self._spent = 0.0
        self._looked: int | None = None
        self._before: Spent | None = None
        """What operators had given at the last look; None where that is not known."""

    def with_lately(self, now: int, running: Plan, advice: Advice[Plan]) -> Advice[Plan]:
        """An advice, with what each of its plans cost lately, unless it tells that itself. Only of what is
        counted: prices may be off for all plans alike, which beside counts would look like a loss.

        Where nothing was looked at for longer than the statistics remember, nothing came before that.
        """
        if advice.lately is not None or not self._is_counted:
            return advice
        passed = 0 if self._looked is None else now - self._looked
        share = min(1.0, self._known.memory / passed) if passed else 1.0
        plans = [running, *(other.plan for other in advice.others)]
        try:
            self._look_at_prices(now, plans)
        except StatisticsError:
            return advice
        others = (replace(other, lately=share * self._prices[other.plan]) for other in advice.others)
        return replace(advice, lately=share * self._prices[running], others=tuple(others))

    def _look_at_prices(self, now: int, plans: Sequence[Plan]) -> None:
        due = self._priced is None or now - self._priced >= self._known.memory / PRICED_EVERY
        if due or any(plan not in self._prices for plan in plans):
            model = CostModel(self._known.lately(now), self._units)
            self._prices = {plan: self._objective.of(model.price(plan)) for plan in plans}
            self._priced = now

    def spent(self, now: int, running: Sequence[Plan], counted: Spent | None) -> float | None:
        """What the query has cost since it was asked first; None where too little is known."""
        if self._looked is not None and now > self._looked:
            try:
                self._spent += self._since(self._looked, now, running, counted)
            except StatisticsError:
                return None
        self._looked, self._before = now, counted
        return self._spent

    def _since(self, since: int, now: int, running: Sequence[Plan], counted: Spent | None) -> float:
        """What has been spent since the last look, in all plans."""
        before, passed, rates = self._before, now - since, dict[Node, float]()
        if before is not None and counted is not None:
            if self._is_counted:
                return self._objective.intermediate * (counted.intermediate - before.intermediate)
            rates = {node: (n - before.results.get(node, 0)) / passed for node, n in counted.results.items()}
        model = CostModel(self._known.lately(now), self._units, rates)
        # What two plans have in common runs once.
        operators = {node: of for plan in running for node, of in model.price(plan).operators.items()}
        return passed * self._objective.of(PlanCost(operators))


def accounts_of(advisor: object, known: Lately) -> Accounts | None:
    """Accounts in an advisor's unit; None where it does not tell the `objective` that it prices plans by."""
    objective = getattr(advisor, "objective", None)
    units = getattr(advisor, "units", None)
    if not isinstance(objective, Objective):
        return None
    return Accounts(objective, known, units if isinstance(units, UnitCosts) else None)
