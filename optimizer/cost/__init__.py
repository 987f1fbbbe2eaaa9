"""What a plan costs: formulas, and what they need to know of columns and conditions.

Every operator names the formulas of its output, every implementation those of its cost and state; they are in
`outputs` and `work`, one function each.
"""

from midstream.optimizer.cost.model import CostModel, PlanCost, price

__all__ = ["CostModel", "PlanCost", "price"]
