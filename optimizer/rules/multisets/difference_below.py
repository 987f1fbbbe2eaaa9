"""Let a difference change places with a union, a max-union or an intersection.

    minus(op(L, R), S)  =  op(minus(L, S), minus(R, S))

for op a max-union or an intersection, and, if minus is a strict difference, a union.

Why      The larger number stays larger when the same is subtracted from both. A strict difference keeps all
         rows of a kind or none, from either input.
Gain     Below: less to keep above. Above: S is read once.
Guard    A difference subtracts a row of S once from a union; below the union, once from each side.
Source   ours, by (8.3), (8.6) and (8.12) to (8.14)
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import above_each, below_each, match_same
from midstream.optimizer.rules.multisets.differences_merging import DIFFERENCES
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Difference, Intersection, MaxUnion, Union
from midstream.plans.algebra.plan import Node

TOGETHER = (Union, MaxUnion, Intersection)


def takes_from_each(node: Node, matched: Node) -> bool:
    """True unless a difference meets a union: above it takes a row once, below it once from each side."""
    return {type(node.operator), type(matched.operator)} != {Difference, Union}


DIFFERENCE_BELOW = Rule(
    name="difference-below",
    equation="minus(op(L, R), S) = op(minus(L, S), minus(R, S))",
    shape=Shape(DIFFERENCES, Shape(TOGETHER)),
    match=first_input,
    guards=(takes_from_each,),
    rewrite=below_each,
)

DIFFERENCE_ABOVE = Rule(
    name="difference-above",
    equation="op(minus(L, S), minus(R, S)) = minus(op(L, R), S)",
    shape=Shape(TOGETHER, each=Shape(DIFFERENCES)),
    match=match_same,
    guards=(takes_from_each,),
    rewrite=above_each,
)
