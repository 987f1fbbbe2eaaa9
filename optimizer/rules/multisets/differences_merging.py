"""Merge two differences into one over a union, or split it.

    op(op(S, L), R)  =  op(S, union(L, R))        for op a difference or a strict difference

Why      (n - l) - r = n - (l + r) if negative numbers count as 0; and neither l nor r is positive exactly if
         l + r is not.
Gain     Merged: the rows of S are kept once. Split: the order may change, and L may be shared.
Guard    A difference and a strict difference cannot be merged.
Source   ours, by (8.3), (8.6) and (8.14)
"""

from __future__ import annotations

from midstream.optimizer.rules.readings import first_input, second_input
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.optimizer.rules.successive import at_once, one_by_one
from midstream.plans.algebra.operators import Difference, StrictDifference, Union
from midstream.plans.algebra.plan import Node

DIFFERENCES = (Difference, StrictDifference)


def are_alike(node: Node, lower: Node) -> bool:
    """True if both are differences, or both strict ones: they count in different ways."""
    return lower.operator == node.operator


DIFFERENCES_MERGING = Rule(
    name="differences-merging",
    equation="op(op(S, L), R) = op(S, union(L, R))",
    shape=Shape(DIFFERENCES, Shape(DIFFERENCES)),
    match=first_input,
    guards=(are_alike,),
    rewrite=at_once,
)

DIFFERENCES_SPLITTING = Rule(
    name="differences-splitting",
    equation="op(S, union(L, R)) = op(op(S, L), R)",
    shape=Shape(DIFFERENCES, ANY, Shape(Union)),
    match=second_input,
    rewrite=one_by_one,
)
