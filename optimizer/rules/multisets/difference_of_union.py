"""Leave out an input that a union adds and a difference subtracts again.

    difference(union(L, R), R)  =  L
    difference(union(L, S), union(R, S))  =  difference(L, R)

Why      n + m - m = n, and (n + k) - (m + k) = n - m.
Gain     Less to read and to keep; often R is not needed at all.
Guard    The result may have no column that is nullable only because R's is.
Source   ours, by (8.3) and (8.6)

A strict difference also drops the equal rows of L.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators, paths
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Difference, Union
from midstream.plans.algebra.plan import Node

Places = tuple[int, int]


def match_one(node: Node) -> Iterable[int]:
    """The position of the right side among the inputs of the union."""
    union, right = node.inputs
    return [union.inputs.index(right)] if right in union.inputs else []


def keeps_columns(node: Node, place: int) -> bool:
    """True if the columns stay the same: those of a union may be unknown if those of an input may."""
    return rewrite_one(node, place).schema == node.schema


def rewrite_one(node: Node, place: int) -> Node:
    """The union without that input."""
    return _without(node.inputs[0], place)


def match_both(node: Node) -> Iterable[Places]:
    """The positions of a common input in both unions."""
    left, right = (union.inputs for union in node.inputs)
    common = [child for child in left if child in right]
    return [(left.index(child), right.index(child)) for child in common[:1]]


def keep_columns(node: Node, places: Places) -> bool:
    """True if the columns stay the same: those of a union may be unknown if those of an input may."""
    return _without(node.inputs[0], places[0]).schema == node.schema


def rewrite_both(node: Node, places: Places) -> Node:
    """The difference of both unions without the common input."""
    return node.with_inputs(tuple(map(_without, node.inputs, places)))


def _without(union: Node, place: int) -> Node:
    rest = (*union.inputs[:place], *union.inputs[place + 1 :])
    return Node(Union(), rest) if len(rest) > 1 else rest[0]


DIFFERENCE_OF_UNION = Rule(
    name="difference-of-union",
    equation="difference(union(L, R), R) = L",
    shape=Shape(Difference, Shape(Union)),
    match=match_one,
    guards=(keeps_columns,),
    rewrite=rewrite_one,
    measure=operators,
)

DIFFERENCE_OF_UNIONS = Rule(
    name="difference-of-unions",
    equation="difference(union(L, S), union(R, S)) = difference(L, R)",
    shape=Shape(Difference, each=Shape(Union)),
    match=match_both,
    guards=(keep_columns,),
    rewrite=rewrite_both,
    measure=paths,
)
