"""Write a stream without the results of a semi-join as an anti-join, and the reverse.

    minus(L, semi-join(p, L, R))  =  anti-join(p, L, R)
    minus(L, anti-join(p, L, R))  =  semi-join(p, L, R)        for minus a difference or a strict difference

Why      A semi-join keeps all rows of a kind that L has, or none; the anti-join keeps the others.
Gain     One operator with state instead of two.
Source   thesis, (8.16)
"""

from __future__ import annotations

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.multisets.differences_merging import DIFFERENCES
from midstream.optimizer.rules.readings import condition_of, part_of_first
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import AntiJoin, SemiJoin
from midstream.plans.algebra.plan import Node


def rewrite(node: Node, taken: Node) -> Node:
    """The rows that it does not keep."""
    other = AntiJoin if isinstance(taken.operator, SemiJoin) else SemiJoin
    return Node(other(condition_of(taken)), taken.inputs)


DIFFERENCE_FROM_MATCHING = Rule(
    name="difference-from-matching",
    equation="minus(L, semi-join(L, R)) = anti-join(L, R)",
    shape=Shape(DIFFERENCES, ANY, Shape((SemiJoin, AntiJoin))),
    match=part_of_first,
    rewrite=rewrite,
    measure=operators,
)
