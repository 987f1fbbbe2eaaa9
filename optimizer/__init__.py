"""The optimizer: rules and their verification, statistics, the cost model, the search for the best plan."""

from midstream.optimizer.cost import CostModel, PlanCost, price
from midstream.optimizer.cost.estimate import Estimate
from midstream.optimizer.cost.objective import (
    INTERMEDIATE,
    LATENCY,
    MEMORY,
    OBJECTIVES,
    OUTPUT_RATE,
    PROCESSING,
    Objective,
    Terms,
    om,
)
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.search import (
    Budget,
    Choice,
    Milliseconds,
    Search,
    Steps,
    alternatives,
    enumerate_plans,
    equivalent,
    optimize,
)
from midstream.optimizer.statistics import Sample, Statistics, StreamStatistics
from midstream.optimizer.verification import RuleCheck, verify_rule

__all__ = [
    "INTERMEDIATE",
    "LATENCY",
    "MEMORY",
    "OBJECTIVES",
    "OUTPUT_RATE",
    "PROCESSING",
    "Budget",
    "Choice",
    "CostModel",
    "Estimate",
    "Milliseconds",
    "Objective",
    "PlanCost",
    "RuleCheck",
    "Sample",
    "Search",
    "Statistics",
    "Steps",
    "StreamStatistics",
    "Terms",
    "UnitCosts",
    "alternatives",
    "enumerate_plans",
    "equivalent",
    "om",
    "optimize",
    "price",
    "verify_rule",
]
