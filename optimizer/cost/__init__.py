"""The cost model: formulas for the cost and the output of each operator, and statistics of columns.

Every operator names the formulas of its output, every implementation names the formulas of its cost and
state. They are in `outputs` and `work`, one function each.
"""

from midstream.optimizer.cost.model import CostModel, PlanCost, price

__all__ = ["CostModel", "PlanCost", "price"]
