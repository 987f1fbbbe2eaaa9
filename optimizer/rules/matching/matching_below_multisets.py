"""Let a semi-join or an anti-join change places with a union, or an operator that compares equal rows.

    op(p, set(L, R), S)  =  set(op(p, L, S), op(p, R, S))
    op(p, set(L, R), S)  =  set(op(p, L, S), R)

for set a difference, a strict difference or an intersection; in the first line also a union or a max-union.

Why      Equal rows are all kept or none, on either side: their numbers stay, or are 0 on both. If set only
         has rows of L, it does not matter which rows of R are kept.
Gain     Below: less to keep above. Above: S is looked into once.
Guard    An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   ours, by (8.3), (8.6), (8.12) to (8.14), (8.16) and erratum 5
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import above_each, below_each, match_same, swapped
from midstream.optimizer.rules.faithful import asks_equal_rows_alike
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import (
    Difference,
    Intersection,
    Matching,
    MaxUnion,
    StrictDifference,
    Union,
)
from midstream.plans.algebra.plan import Node

OF_BOTH = (Union, MaxUnion)
OF_THE_FIRST = (Difference, StrictDifference, Intersection)


def tells_no_equal_rows_apart(node: Node, matched: Node) -> bool:
    """True for a union, or if the conditions do not distinguish equal rows, which are counted together."""
    both = (node, matched)
    return any(isinstance(each.operator, Union) for each in both) or all(map(asks_equal_rows_alike, both))


MATCHING_BELOW_EACH = Rule(
    name="matching-below-each",
    equation="op(set(L, R), S) = set(op(L, S), op(R, S))",
    shape=Shape(Matching, Shape((*OF_BOTH, *OF_THE_FIRST))),
    match=first_input,
    guards=(tells_no_equal_rows_apart,),
    rewrite=below_each,
)

MATCHING_ABOVE_EACH = Rule(
    name="matching-above-each",
    equation="set(op(L, S), op(R, S)) = op(set(L, R), S)",
    shape=Shape((*OF_BOTH, *OF_THE_FIRST), each=Shape(Matching)),
    match=match_same,
    guards=(tells_no_equal_rows_apart,),
    rewrite=above_each,
)

MATCHING_BELOW_FIRST = Rule(
    name="matching-below-first",
    equation="op(set(L, R), S) = set(op(L, S), R)",
    shape=Shape(Matching, Shape(OF_THE_FIRST)),
    match=first_input,
    rewrite=swapped,
)

MATCHING_ABOVE_FIRST = Rule(
    name="matching-above-first",
    equation="set(op(L, S), R) = op(set(L, R), S)",
    shape=Shape(OF_THE_FIRST, Shape(Matching)),
    match=first_input,
    rewrite=swapped,
)
