"""Write the distinct rows of a union as a max-union of sets, or the reverse.

    distinct(union(L, R))  =  max union(distinct(L), distinct(R))

Why      A row that either side has occurs once: the larger of 0 or 1 and 0 or 1.
Gain     Which form keeps less depends on the number of duplicates on either side.
Source   ours, by (8.3), (8.5) and (8.13)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.readings import itself
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, MaxUnion, Union
from midstream.plans.algebra.plan import Node


def match_union(node: Node) -> Iterable[Node]:
    """The union, if it is of two."""
    return [union for union in node.inputs if len(union.inputs) == 2]


def rewrite_as_max_union(node: Node, union: Node) -> Node:
    """The max-union of its inputs without duplicates."""
    return Node(MaxUnion(), tuple(map(distinct, union.inputs)))


def rewrite_as_distinct(node: Node, matched: Node) -> Node:
    """The union, without duplicates."""
    return distinct(Node(Union(), tuple(child.inputs[0] for child in node.inputs)))


DISTINCT_AS_MAX_UNION = Rule(
    name="distinct-as-max-union",
    equation="distinct(union(L, R)) = max union(distinct(L), distinct(R))",
    shape=Shape(Distinct, Shape(Union)),
    match=match_union,
    rewrite=rewrite_as_max_union,
)

MAX_UNION_AS_DISTINCT = Rule(
    name="max-union-as-distinct",
    equation="max union(distinct(L), distinct(R)) = distinct(union(L, R))",
    shape=Shape(MaxUnion, each=Shape(Distinct)),
    match=itself,
    rewrite=rewrite_as_distinct,
)
