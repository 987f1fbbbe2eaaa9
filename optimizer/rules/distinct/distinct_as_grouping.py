"""Write duplicate elimination as grouping without functions, or the reverse.

    distinct(S)  =  aggregate(by all columns of S, S)
    aggregate(by K, S)  =  distinct(project(K, S))

Why      A group consists of equal rows, and has one result. Unknown values agree with each other in both.
Gain     Rules for one form can be used for the other; the costs decide which is cheaper.
Source   ours, by (8.5) and (8.15)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.narrowed import chosen
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, Distinct
from midstream.plans.algebra.plan import Node

Names = tuple[str, ...]


def match_distinct(node: Node) -> Iterable[Names]:
    """All columns, if there are any."""
    return [node.schema.names] if node.schema.names else []


def rewrite_as_grouping(node: Node, names: Names) -> Node:
    """A grouping by them."""
    return Node(Aggregate(names, ()), node.inputs)


def match_grouping(node: Node) -> Iterable[Names]:
    """The keys of a grouping without functions."""
    grouping = operator_of(node, Aggregate)
    return [] if grouping.calls else [grouping.keys]


def rewrite_as_distinct(node: Node, names: Names) -> Node:
    """The duplicate elimination over a projection to the keys, if there are other columns."""
    return distinct(chosen(names, node.inputs[0]))


DISTINCT_AS_GROUPING = Rule(
    name="distinct-as-grouping",
    equation="distinct(S) = aggregate(by all columns, S)",
    shape=Shape(Distinct),
    match=match_distinct,
    rewrite=rewrite_as_grouping,
)

GROUPING_AS_DISTINCT = Rule(
    name="grouping-as-distinct",
    equation="aggregate(by K, S) = distinct(project(K, S))",
    shape=Shape(Aggregate),
    match=match_grouping,
    rewrite=rewrite_as_distinct,
)
