"""Make one filter of two.

    filter(p, filter(q, S))  =  filter(p and q, S)

Why      A row passes both filters if both conditions are true for it, that is, if their conjunction is.
Gain     One operator less; the upper filter's parts can move below the input of the lower one.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from midstream.optimizer.rules.filters.filtered import Parts, filtered, parts_of
from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node


def rewrite(node: Node, matched: Parts) -> Node:
    """The lower filter with both conditions."""
    return filtered(matched, node.inputs[0])


FILTER_MERGING = Rule(
    name="filter-merging",
    equation="filter(p, filter(q, S)) = filter(p and q, S)",
    shape=Shape(Filter, Shape(Filter)),
    match=lambda node: [parts_of(node)],
    rewrite=rewrite,
    measure=operators,
)
