"""Split a filter into two, of which the lower one may exist for another query.

    filter(p and q, S)  =  filter(q, filter(p, S))

Why      A row satisfies both conditions if both filters let it pass.
Gain     None by itself; but if a filter(p, S) runs already, q is only evaluated on its results.
Source   thesis, section 10.4.3
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.filters.filtered import Parts, parts_of, without
from midstream.optimizer.rules.readings import condition_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.sharing.parts import some_of
from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import conjunction, conjuncts


def match(node: Node) -> Iterable[Parts]:
    """Subsets of the parts of the condition, for the lower filter."""
    return some_of(conjuncts(condition_of(node)), are_all=False)


def rewrite(node: Node, matched: Parts) -> Node:
    """A filter with the remaining parts above one with these parts."""
    lower = Node(Filter(conjunction(matched)), node.inputs)
    return Node(Filter(conjunction(without(parts_of(node), matched))), (lower,))


FILTER_SPLITTING = Rule(
    name="filter-splitting",
    equation="filter(p and q, S) = filter(q, filter(p, S))",
    shape=Shape(Filter),
    match=match,
    rewrite=rewrite,
)
