"""Move parts of a join's condition into a filter above the join.

    join(p and c, L, R)  =  filter(p, join(c, L, R))        if the join has the columns that p reads

Why      A pair satisfies both conditions if the join finds it and the filter lets it pass.
Gain     None by itself, as more pairs are built; but if a join(c, L, R) runs already, p is only evaluated
         on its results.
Guard    The filter reads output columns of the join, and no others.
Source   thesis, section 10.4.3
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.filters.filtered import Parts
from midstream.optimizer.rules.readings import condition_of, operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.sharing.parts import some_of
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import conjunction, conjuncts


def match(node: Node) -> Iterable[Parts]:
    """Nonempty subsets of the parts of the join's condition."""
    return some_of((part for part in conjuncts(condition_of(node)) if part.columns()), are_all=True)


def gives_what_is_read(node: Node, matched: Parts) -> bool:
    """True if the join returns the columns that the parts read: a filter above it has no others."""
    return all(part.columns() <= set(node.schema.names) for part in matched)


def rewrite(node: Node, matched: Parts) -> Node:
    """The filter above the join with the remaining conditions."""
    join = operator_of(node, Join)
    rest = conjunction(part for part in conjuncts(join.condition) if part not in matched)
    return Node(Filter(conjunction(matched)), (Node(Join(rest, join.columns), node.inputs),))


FILTER_OUT_OF_JOIN = Rule(
    name="filter-out-of-join",
    equation="join(p and c, L, R) = filter(p, join(c, L, R))",
    shape=Shape(Join),
    match=match,
    guards=(gives_what_is_read,),
    rewrite=rewrite,
)
