"""Pull a filter above the join that it is an input of.

    join(filter(p, L), R)  =  filter(p, join(L, R))        if the join gives the columns that p reads

Likewise for R.

Why      A pair keeps the left half's values, so p says the same of the pair and of the half.
Gain     None by itself, as more pairs are built; but where a join(L, R) runs already, p is only asked of its
         results.
Guard    The filter sees the columns that the join gives, and no others.
Source   thesis, section 10.4.3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Node


def match_in(side: int) -> Callable[[Node], Iterable[Filter]]:
    """The filter on one side."""

    def match(node: Node) -> Iterable[Filter]:
        matched = node.inputs[side].operator
        assert isinstance(matched, Filter)
        return [matched]

    return match


def gives_what_is_read(node: Node, matched: Filter) -> bool:
    """Whether the join gives the columns that the filter reads: above it there are no others."""
    return matched.condition.columns() <= set(node.schema.names)


def rewrite_above(side: int) -> Callable[[Node, Filter], Node]:
    """Put the filter of one side above the join."""

    def rewrite(node: Node, matched: Filter) -> Node:
        sides = list(node.inputs)
        sides[side] = sides[side].inputs[0]
        return Node(matched, (Node(node.operator, tuple(sides)),))

    return rewrite


FILTER_ABOVE_LEFT = Rule(
    name="filter-above-left",
    equation="join(filter(p, L), R) = filter(p, join(L, R))",
    shape=Shape(Join, Shape(Filter)),
    match=match_in(0),
    guards=(gives_what_is_read,),
    rewrite=rewrite_above(0),
)

FILTER_ABOVE_RIGHT = Rule(
    name="filter-above-right",
    equation="join(L, filter(p, R)) = filter(p, join(L, R))",
    shape=Shape(Join, ANY, Shape(Filter)),
    match=match_in(1),
    guards=(gives_what_is_read,),
    rewrite=rewrite_above(1),
)
