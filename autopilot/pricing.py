"""Advisors that price plans by statistics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from midstream.autopilot.advice import Advice
from midstream.optimizer import CostModel, Objective, Statistics
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.statistics import deviation
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.arguments import require


class PricingAdvisor(ABC):
    """Prices plans by an objective and unit costs; the answer to the last question is cached."""

    _last: tuple[Plan, Statistics, Advice[Plan] | None] | None = None

    def __init__(self, objective: Objective, units: UnitCosts | None = None) -> None:
        self.objective, self.units = objective, units

    def advise(self, running: Plan, statistics: Statistics) -> Advice[Plan] | None:
        """The cost of the running plan and of others; None where that is unknown or infinite."""
        require("advise", statistics, Statistics, "statistics, such as engine.statistics()")
        if self._last is None or self._last[0] != running or self._last[1] is not statistics:
            self._last = running, statistics, self._advise(running, statistics)
        return self._last[2]

    @abstractmethod
    def _advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        """Compute the advice for other statistics, or another plan, than those of the last call."""

    def _costs(self, plans: Sequence[Plan], known: Statistics | CostModel) -> list[float]:
        model = known if isinstance(known, CostModel) else CostModel(known, self.units)
        return [self.objective.of(model.price(plan)) for plan in plans]


def deviation_of_saving(without: Sequence[Sequence[float]], number: int) -> float:
    """The deviation of a plan's saving beside the first plan; 0 without groups.

    `without` holds the costs of all plans without each group of elements.
    """
    return deviation(costs[0] - costs[number] for costs in without) if without else 0.0
