"""Write the difference from a set as a strict difference, or the reverse.

    difference(L, R)  =  strict difference(L, R)        if L has no duplicates

Why      If L has a row once, a single row of R cancels it completely.
Gain     The strict difference only checks if R has a row; and rules for one form can be used for the other.
Guard    Of a row that L has twice and R once, only the difference keeps one.
Source   ours, by (8.6) and (8.14)
"""

from __future__ import annotations

from midstream.optimizer.rules.duplicates import is_of_a_set
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Difference, StrictDifference
from midstream.plans.algebra.plan import Node


def rewrite_as_strict(node: Node, left: Node) -> Node:
    """The strict difference."""
    return Node(StrictDifference(), node.inputs)


def rewrite_as_difference(node: Node, left: Node) -> Node:
    """The difference."""
    return Node(Difference(), node.inputs)


DIFFERENCE_AS_STRICT = Rule(
    name="difference-as-strict",
    equation="difference(L, R) = strict difference(L, R)",
    shape=Shape(Difference),
    match=first_input,
    guards=(is_of_a_set,),
    rewrite=rewrite_as_strict,
)

STRICT_AS_DIFFERENCE = Rule(
    name="strict-as-difference",
    equation="strict difference(L, R) = difference(L, R)",
    shape=Shape(StrictDifference),
    match=first_input,
    guards=(is_of_a_set,),
    rewrite=rewrite_as_difference,
)
