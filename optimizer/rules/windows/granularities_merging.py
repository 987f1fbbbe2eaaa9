"""Leave out a granularity below a coarser one.

    granularity(b, granularity(a, S))  =  granularity(b, S)

Why      The upper one looks at the multiples of b only, which are multiples of a: at these the lower one
         shows the rows of S.
Gain     One operator less.
Source   ours; the plan requires that a divides b (thesis, 20.5)

Granularities with bounds stay, as their granule can change while they run.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Granularity
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[Node]:
    """The lower granularity, if both granules are fixed."""
    lower = node.inputs[0]
    if all(operator_of(each, Granularity).bounds is None for each in (node, lower)):
        yield lower


def rewrite(node: Node, lower: Node) -> Node:
    """The upper granularity alone."""
    return Node(node.operator, lower.inputs)


GRANULARITIES_MERGING = Rule(
    name="granularities-merging",
    equation="granularity(b, granularity(a, S)) = granularity(b, S)",
    shape=Shape(Granularity, Shape(Granularity)),
    match=match,
    rewrite=rewrite,
    measure=operators,
)
