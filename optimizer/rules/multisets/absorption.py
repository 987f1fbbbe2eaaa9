"""Simplify a comparison of a stream with a part of itself.

    max union(L, part(L, R))      =  L
    intersection(L, part(L, R))   =  part(L, R)

for part a difference, a strict difference, an intersection, a semi-join or an anti-join.

Why      A part has no row more often than L: the larger number is that of L, the smaller that of the part.
Gain     One or two operators with state less.
Source   ours, by (8.12) and (8.13)
"""

from __future__ import annotations

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import as_matched, part_of_first
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import (
    AntiJoin,
    Difference,
    Intersection,
    MaxUnion,
    SemiJoin,
    StrictDifference,
)
from midstream.plans.algebra.plan import Node

PARTS = (Difference, StrictDifference, Intersection, SemiJoin, AntiJoin)


def rewrite_undivided(node: Node, part: Node) -> Node:
    """The left side."""
    return node.inputs[0]


MAX_UNION_WITH_PART = Rule(
    name="max-union-with-part",
    equation="max union(L, part(L, R)) = L",
    shape=Shape(MaxUnion, ANY, Shape(PARTS)),
    match=part_of_first,
    rewrite=rewrite_undivided,
    measure=operators,
)

INTERSECTION_WITH_PART = Rule(
    name="intersection-with-part",
    equation="intersection(L, part(L, R)) = part(L, R)",
    shape=Shape(Intersection, ANY, Shape(PARTS)),
    match=part_of_first,
    rewrite=as_matched,
    measure=operators,
)
