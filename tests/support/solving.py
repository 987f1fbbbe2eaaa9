"""The search for join orders, without a pause."""

from __future__ import annotations

from midstream.optimizer.search.join_graph import Products
from midstream.optimizer.search.join_orders import BUDGET, JoinOrders, order_joins
from midstream.optimizer.search.join_problem import JoinProblem


def solve(joins: JoinProblem, budget: int = BUDGET, products: Products = "auto") -> JoinOrders:
    """What the search ends with."""
    search = order_joins(joins, budget, products)
    while True:
        try:
            next(search)
        except StopIteration as end:
            orders: JoinOrders = end.value
            return orders
