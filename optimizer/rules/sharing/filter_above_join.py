"""Pull a filter above the join whose input it is.

    join(filter(p, L), R)  =  filter(p, join(L, R))        if the join has the columns that p reads

Likewise for R.

Why      A pair has the values of its left half, so p has the same result for the pair and for the half.
Gain     None by itself, as more pairs are built; but if a join(L, R) runs already, p is only evaluated on
         its results.
Guard    The filter reads output columns of the join, and no others.
Source   thesis, section 10.4.3
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import pulled_up
from midstream.optimizer.rules.readings import condition_of, first_place, second_place
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Node


def gives_what_is_read(node: Node, place: int) -> bool:
    """True if the join returns the columns that the filter reads: above it there are no others."""
    return condition_of(node.inputs[place]).columns() <= set(node.schema.names)


FILTER_ABOVE_LEFT = Rule(
    name="filter-above-left",
    equation="join(filter(p, L), R) = filter(p, join(L, R))",
    shape=Shape(Join, Shape(Filter)),
    match=first_place,
    guards=(gives_what_is_read,),
    rewrite=pulled_up,
)

FILTER_ABOVE_RIGHT = Rule(
    name="filter-above-right",
    equation="join(L, filter(p, R)) = filter(p, join(L, R))",
    shape=Shape(Join, ANY, Shape(Filter)),
    match=second_place,
    guards=(gives_what_is_read,),
    rewrite=pulled_up,
)
