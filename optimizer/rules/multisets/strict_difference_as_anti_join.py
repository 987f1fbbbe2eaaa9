"""Write a strict difference as an anti-join on all columns, or the reverse.

    strict difference(L, R)  =  anti-join(all columns are the same, L, R)

Why      Both keep the rows of L that R does not have, each as often as L has it.
Gain     Rules for one form can be used for the other: anti-joins change places with semi-joins, and move
         below joins and groupings.
Guard    Two unknown values are the same value, but an equality is not true for them: a row with one would be
         kept although R has it.
Source   ours, by (8.14) and (8.16)
"""

from __future__ import annotations

from midstream.optimizer.rules.multisets.same_rows import (
    Pairs,
    as_rows_of,
    match_comparing,
    tells_unknown,
    under_other_names,
)
from midstream.optimizer.rules.readings import second_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import AntiJoin, StrictDifference
from midstream.plans.algebra.plan import Node


def rewrite_as_anti_join(node: Node, right: Node) -> Node:
    """The anti-join with the right side under other names."""
    left = node.inputs[0]
    renamed, condition = under_other_names(left.schema, right)
    return Node(AntiJoin(condition), (left, renamed))


def rewrite_as_difference(node: Node, pairs: Pairs) -> Node:
    """The strict difference from the compared columns."""
    left, right = node.inputs
    return Node(StrictDifference(), (left, as_rows_of(left.schema, right, pairs)))


STRICT_AS_ANTI_JOIN = Rule(
    name="strict-as-anti-join",
    equation="strict difference(L, R) = anti-join(L, R)",
    shape=Shape(StrictDifference),
    match=second_input,
    rewrite=rewrite_as_anti_join,
)

ANTI_JOIN_AS_STRICT = Rule(
    name="anti-join-as-strict",
    equation="anti-join(L, R) = strict difference(L, R)",
    shape=Shape(AntiJoin),
    match=match_comparing,
    guards=(tells_unknown,),
    rewrite=rewrite_as_difference,
)
