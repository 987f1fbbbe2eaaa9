"""Cross products: joins under no condition that reads both sides."""

from __future__ import annotations

from midstream.optimizer.search.join_graph import FEW, Products
from midstream.optimizer.search.memo import Group, Memo
from midstream.optimizer.search.trees import Choices
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import conjuncts
from midstream.plans.values.arguments import wrong

PRODUCTS = ("auto", "needed", "all")


def require_products(who: str, products: object) -> None:
    """Raise ArgumentError unless `products` is one of PRODUCTS."""
    if products not in PRODUCTS:
        raise wrong(f"{who}: products", products, " or ".join(map(repr, PRODUCTS)))


def is_product(node: Node) -> bool:
    """True for a join without a condition that reads both sides."""
    if not isinstance(node.operator, Join):
        return False
    left, right = ({*side.schema.names} for side in node.inputs)
    parts = (part.columns() for part in conjuncts(node.operator.condition))
    return not any(names & left and names & right for names in parts)


def inputs_that_meet(plan: Plan) -> int:
    """The greatest number of inputs of adjacent joins in a plan."""
    meet: dict[Node, int] = {}
    for node in plan.nodes:
        is_join = isinstance(node.operator, Join)
        meet[node] = sum(meet[child] for child in node.inputs) if is_join else 1
    return max(meet.values())


def wanted_expressions(memo: Memo, products: Products, plan: Plan) -> Choices:
    """A function from a group to the expressions that plans may use."""
    if products == "all" or (products == "auto" and inputs_that_meet(plan) <= FEW):
        return lambda group: group.expressions
    least = _least(memo)
    return lambda group: [e for e in group.expressions if _products(e, memo, least) == least[group]]


def _least(memo: Memo) -> dict[Group, float]:
    """By group, the number of products in its plan with the fewest."""
    groups = memo.groups()
    least = dict.fromkeys(groups, float("inf"))
    is_changing = True
    while is_changing:
        is_changing = False
        for group in groups:
            number = min(_products(expression, memo, least) for expression in group.expressions)
            if number < least[group]:
                least[group], is_changing = number, True
    return least


def _products(expression: Node, memo: Memo, least: dict[Group, float]) -> float:
    return is_product(expression) + sum(least[memo.group(child)] for child in expression.inputs)
