"""Write a stream without its difference as an intersection.

    difference(L, difference(L, R))  =  intersection(L, R)

Why      n - (n - m) is m if m is smaller, else n.
Gain     One operator instead of two.
Source   ours, by (8.6) and (8.12)

Strict differences would keep the rows of L that R has, each as often as L has it.
"""

from __future__ import annotations

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import part_of_first
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import Difference, Intersection
from midstream.plans.algebra.plan import Node


def rewrite(node: Node, lower: Node) -> Node:
    """The intersection of both sides of the lower one."""
    return Node(Intersection(), lower.inputs)


INTERSECTION_FROM_DIFFERENCES = Rule(
    name="intersection-from-differences",
    equation="difference(L, difference(L, R)) = intersection(L, R)",
    shape=Shape(Difference, ANY, Shape(Difference)),
    match=part_of_first,
    rewrite=rewrite,
    measure=operators,
)
