"""Which plan is best: transformation rules, enumeration, statistics, the cost model, and the choice."""

from midstream.optimizer.cost import CostModel, PlanCost, price
from midstream.optimizer.cost.estimate import Estimate
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.search.choice import Choice, optimize
from midstream.optimizer.search.enumeration import enumerate_plans
from midstream.optimizer.statistics import Sample, Statistics, StreamStatistics

__all__ = [
    "Choice",
    "CostModel",
    "Estimate",
    "PlanCost",
    "Sample",
    "Statistics",
    "StreamStatistics",
    "UnitCosts",
    "enumerate_plans",
    "optimize",
    "price",
]
