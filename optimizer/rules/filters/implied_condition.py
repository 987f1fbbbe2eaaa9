"""Leave out a condition that follows from other parts, or from conditions known of the input.

    filter(p and q, S)  =  filter(q, S)        if q, and the conditions that hold in S, imply p

Why      A row passes if all conditions are true, and where q is true, p is.
Gain     Fewer conditions to evaluate; a filter without conditions disappears.
Guard    A condition that does not follow excludes rows.
Source   ours
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.filters.filtered import filtered
from midstream.optimizer.rules.measures import conditions
from midstream.optimizer.rules.readings import condition_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.true_conditions import is_implied, is_known
from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import FALSE, Expression, conjuncts


def match(node: Node) -> Iterable[Expression]:
    """The first part that follows, else the first part; none for FALSE, which has no shorter form."""
    if condition_of(node) == FALSE:
        return
    parts = conjuncts(condition_of(node))
    yield next((part for part in parts if follows(node, part)), parts[0])


def follows(node: Node, part: Expression) -> bool:
    """True if the other parts, or the input, imply a part."""
    (below,) = node.inputs
    others = [other for other in conjuncts(condition_of(node)) if other != part]
    return is_implied(part, others, node.schema) or is_known(below, part)


def rewrite(node: Node, matched: Expression) -> Node:
    """The filter without the matched part."""
    rest = [part for part in conjuncts(condition_of(node)) if part != matched]
    return filtered(rest, node.inputs[0])


IMPLIED_CONDITION = Rule(
    name="implied-condition",
    equation="filter(p and q, S) = filter(q, S)",
    shape=Shape(Filter),
    match=match,
    guards=(follows,),
    rewrite=rewrite,
    measure=conditions,
)
