"""Write an intersection of a set as a semi-join on all columns, or the reverse.

    intersection(L, R)  =  semi-join(all columns are the same, L, R)        if L has no duplicates

Why      If L has a row once, the smaller number is 1 if R has the row, else 0.
Gain     Rules for one form can be used for the other: semi-joins change places with each other, and move
         below joins and groupings.
Guard    A row that L has twice and R once occurs twice in the semi-join. Two unknown values are the same
         value, but an equality is not true for them.
Source   ours, by (8.12) and erratum 5
"""

from __future__ import annotations

from midstream.optimizer.rules.duplicates import is_of_a_set
from midstream.optimizer.rules.multisets.same_rows import (
    Pairs,
    as_rows_of,
    match_comparing,
    tells_unknown,
    under_other_names,
)
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Intersection, SemiJoin
from midstream.plans.algebra.plan import Node


def rewrite_as_semi_join(node: Node, left: Node) -> Node:
    """The semi-join with the right side under other names."""
    renamed, condition = under_other_names(left.schema, node.inputs[1])
    return Node(SemiJoin(condition), (left, renamed))


def rewrite_as_intersection(node: Node, pairs: Pairs) -> Node:
    """The intersection with the compared columns."""
    left, right = node.inputs
    return Node(Intersection(), (left, as_rows_of(left.schema, right, pairs)))


INTERSECTION_AS_SEMI_JOIN = Rule(
    name="intersection-as-semi-join",
    equation="intersection(L, R) = semi-join(L, R)",
    shape=Shape(Intersection),
    match=first_input,
    guards=(is_of_a_set,),
    rewrite=rewrite_as_semi_join,
)

SEMI_JOIN_AS_INTERSECTION = Rule(
    name="semi-join-as-intersection",
    equation="semi-join(L, R) = intersection(L, R)",
    shape=Shape(SemiJoin),
    match=match_comparing,
    guards=(is_of_a_set, tells_unknown),
    rewrite=rewrite_as_intersection,
)
