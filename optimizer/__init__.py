"""Which plan is best: transformation rules, enumeration, statistics, the cost model, and the choice."""

from midstream.optimizer.choice import Choice, optimize
from midstream.optimizer.cost import CostModel, Estimate, PlanCost, UnitCosts, price
from midstream.optimizer.enumeration import enumerate_plans
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
