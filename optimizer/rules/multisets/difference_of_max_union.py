"""Leave out a max-union whose second input is subtracted again.

    difference(max union(L, R), R)  =  difference(L, R)

Why      max(n, m) - m is n - m if that is positive, else 0.
Gain     One operator with state less.
Guard    The result may have no column that is nullable only because R's is.
Source   ours, by (8.6) and (8.13)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Difference, MaxUnion, StrictDifference
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[int]:
    """The side of the max-union that is not taken away."""
    max_union, taken = node.inputs
    return [1 - max_union.inputs.index(taken)] if taken in max_union.inputs else []


def keeps_columns(node: Node, place: int) -> bool:
    """True if the columns stay the same: those of a max-union may be unknown if those of a side may."""
    return node.inputs[0].inputs[place].schema == node.schema


def rewrite(node: Node, place: int) -> Node:
    """The difference of the two sides."""
    return node.with_inputs((node.inputs[0].inputs[place], node.inputs[1]))


DIFFERENCE_OF_MAX_UNION = Rule(
    name="difference-of-max-union",
    equation="difference(max union(L, R), R) = difference(L, R)",
    shape=Shape((Difference, StrictDifference), Shape(MaxUnion)),
    match=match,
    guards=(keeps_columns,),
    rewrite=rewrite,
    measure=operators,
)
