"""The optimizer: rules and their verification, statistics, the cost model, the search for the best plan.

rules         Rule, Shape; verify_rule, with a RuleCheck as its result
statistics    Statistics, StreamStatistics, Sample
costs         price, PlanCost; CostModel, Estimate, UnitCosts
objectives    Objective, Terms, om; in OBJECTIVES, by the names that commands use, are INTERMEDIATE, LATENCY,
              MEMORY, OUTPUT_RATE, PROCESSING
search        optimize, with a Choice as its result; alternatives, enumerate_plans, equivalent; Search, which
              goes on while a query runs
budgets       Budget: Steps, Milliseconds
resources     fit, with a BudgetForecast as its result: settings of levers within memory and processor
"""

from midstream.optimizer.allocation.forecast import BudgetForecast, fit
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
from midstream.optimizer.rules import Rule, Shape
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
    "BudgetForecast",
    "Choice",
    "CostModel",
    "Estimate",
    "Milliseconds",
    "Objective",
    "PlanCost",
    "Rule",
    "RuleCheck",
    "Sample",
    "Search",
    "Shape",
    "Statistics",
    "Steps",
    "StreamStatistics",
    "Terms",
    "UnitCosts",
    "alternatives",
    "enumerate_plans",
    "equivalent",
    "fit",
    "om",
    "optimize",
    "price",
    "verify_rule",
]
