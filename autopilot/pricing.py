"""Advisors that price plans by statistics, and by what they add beside other queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from midstream.autopilot.advice import Advice
from midstream.autopilot.budget import Efforts, Work
from midstream.optimizer import CostModel, Objective, Statistics
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.search import added_part
from midstream.optimizer.statistics import deviation
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.arguments import require

Beside = Callable[[], frozenset[Node]]
"""Returns the logical nodes of a query's running operators that other queries use now as well.

A migration leaves these operators running, so they cost the query nothing. Equal operators that run for other
queries alone do not count: a query that migrates runs operators of its own.
"""


def nothing_beside() -> frozenset[Node]:
    """No nodes: a query that shares nothing."""
    return frozenset()


class PricingAdvisor(ABC):
    """Prices plans by an objective and unit costs; the answer to the last question is cached.

    A plan costs what it adds `beside` other queries, if the objective adds up over operators: then shared
    operators cost nothing. Latency and rates do not add up, so for these the whole plan counts.
    """

    _last: tuple[Plan, Statistics, frozenset[Node], Advice[Plan] | None] | None = None
    _shared: frozenset[Node] = frozenset()
    """The nodes that other queries used at the last question."""

    def __init__(
        self, objective: Objective, units: UnitCosts | None = None, beside: Beside = nothing_beside
    ) -> None:
        self.objective, self.units = objective, units
        self.efforts = Efforts()
        self.work = Work()
        """The work of the running plan, by the last statistics."""
        self.beside = beside if objective.is_additive else nothing_beside

    def advise(self, running: Plan, statistics: Statistics) -> Advice[Plan] | None:
        """The cost of the running plan and of others; None where that is unknown or infinite."""
        require("advise", statistics, Statistics, "statistics, such as engine.statistics()")
        self._shared, last = self.beside(), self._last
        if last is None or last[0] != running or last[1] is not statistics or last[2] != self._shared:
            self._last = running, statistics, self._shared, self._advise(running, statistics)
        assert self._last is not None
        return self._last[3]

    @abstractmethod
    def _advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        """Compute the advice for other statistics, another plan, or other sharing than at the last call."""

    def has_choice(self, plan: Plan) -> bool:
        """False if it is known, by the plan alone, that there is no other."""
        return True

    def costs(self, plans: Sequence[Plan], by: Statistics | CostModel) -> list[float]:
        """The cost of what each plan adds beside the operators that other queries use."""
        model = by if isinstance(by, CostModel) else CostModel(by, self.units)
        self.efforts.price(plans)
        return [self.objective.of(added_part(model.price(plan), self._shared)) for plan in plans]


def deviation_of_saving(without: Sequence[Sequence[float]], number: int) -> float:
    """The deviation of a plan's saving beside the first plan; 0 without groups.

    `without` holds the costs of all plans without each group of elements.
    """
    return deviation(costs[0] - costs[number] for costs in without) if without else 0.0
