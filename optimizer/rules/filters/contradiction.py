"""Write a condition that is never true as FALSE.

    filter(p and q, S)  =  filter(FALSE, S)        if p and q are not true of one row

Why      Neither FALSE nor a condition that is false or unknown for every row lets one pass.
Gain     It becomes visible that no row passes, and the conditions need not be evaluated.
Guard    A row that passes would be lost.
Source   ours
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from midstream.optimizer.rules.bounds import bound
from midstream.optimizer.rules.measures import conditions
from midstream.optimizer.rules.readings import condition_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.true_conditions import NEVER, true_conditions
from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import FALSE, Expression, conjuncts


def match(node: Node) -> Iterable[Expression]:
    """The condition, unless it is FALSE."""
    if condition_of(node) != FALSE:
        yield condition_of(node)


def is_never_true(node: Node, condition: Expression) -> bool:
    """True if two of the parts exclude each other, or a part and a condition that the input guarantees."""
    (below,) = node.inputs
    parts = {*conjuncts(condition), *true_conditions(below)}
    if parts & NEVER:
        return True
    bounds = [each for part in parts if (each := bound(part, below.schema)) is not None]
    return any(one.excludes(other) for one, other in combinations(bounds, 2))


def rewrite(node: Node, condition: Expression) -> Node:
    """A filter that lets nothing pass."""
    return Node(Filter(FALSE), node.inputs)


CONTRADICTION = Rule(
    name="contradiction",
    equation="filter(p and q, S) = filter(FALSE, S)",
    shape=Shape(Filter),
    match=match,
    guards=(is_never_true,),
    rewrite=rewrite,
    measure=conditions,
)
