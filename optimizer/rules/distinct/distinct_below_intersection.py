"""Let duplicate elimination change places with an intersection or a max-union.

    distinct(op(L, R))  =  op(distinct(L), distinct(R))        for op an intersection or a max-union

Why      The smaller of two numbers is positive if both are, the larger one if either is.
Gain     Below: each row is compared once. Above: one duplicate elimination instead of two.
Source   ours, by (8.5), (8.12) and (8.13)
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import above_each, below_each
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, Intersection, MaxUnion

COMPARES = (Intersection, MaxUnion)


DISTINCT_BELOW_INTERSECTION = Rule(
    name="distinct-below-intersection",
    equation="distinct(op(L, R)) = op(distinct(L), distinct(R))",
    shape=Shape(Distinct, Shape(COMPARES)),
    match=first_input,
    rewrite=below_each,
)

DISTINCT_ABOVE_INTERSECTION = Rule(
    name="distinct-above-intersection",
    equation="op(distinct(L), distinct(R)) = distinct(op(L, R))",
    shape=Shape(COMPARES, each=Shape(Distinct)),
    match=first_input,
    rewrite=above_each,
)
