"""Group by fewer columns, if others depend on them.

    aggregate(by K and x, f(y), S)  =  aggregate(by K, min(x), f(y), S)        if K determines x

Why      Rows that agree on K agree on x: the groups are the same, and x is any of its values there.
Gain     Smaller keys; a grouping by K may exist already, or move below a join that has K only.
Guard    If x differs in a group of K, that group is several groups.
Source   ours, by (8.15)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.narrowed import chosen
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import determined
from midstream.plans.expressions.aggregates import min_


def match(node: Node) -> Iterable[str]:
    """Each key."""
    return operator_of(node, Aggregate).keys


def depends_on_others(node: Node, key: str) -> bool:
    """True if the other keys determine this key, so that the groups are the same without it."""
    return key in determined(node.inputs[0], _others(node, key))


def rewrite(node: Node, key: str) -> Node:
    """The grouping by the other keys, with the columns in their order."""
    grouping = operator_of(node, Aggregate)
    fewer = Node(Aggregate(_others(node, key), ((key, min_(key)), *grouping.calls)), node.inputs)
    return chosen(node.schema.names, fewer)


def _others(node: Node, key: str) -> tuple[str, ...]:
    return tuple(other for other in operator_of(node, Aggregate).keys if other != key)


FEWER_KEYS = Rule(
    name="fewer-keys",
    equation="aggregate(by K and x, f(y), S) = aggregate(by K, min(x), f(y), S)",
    shape=Shape(Aggregate),
    match=match,
    guards=(depends_on_others,),
    rewrite=rewrite,
)
