"""Unite the parts into which a stream was divided.

    union(difference(L, R), R)                      =  max union(L, R)
    union(difference(L, R), intersection(L, R))     =  L
    union(intersection(L, R), max union(L, R))      =  union(L, R)
    union(semi-join(L, R), anti-join(L, R))         =  L

Why      If n - m is not negative, n - m + m = n is the larger number; and n is the sum of what R cancels and
         what remains. The smaller and the larger of n and m are n and m.
Gain     Fewer operators with state.
Source   ours, by (8.3), (8.6), (8.12), (8.13) and (8.16)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import as_matched
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import (
    AntiJoin,
    Difference,
    Intersection,
    Matching,
    MaxUnion,
    SemiJoin,
    Union,
)
from midstream.plans.algebra.plan import Node


def match_difference_first(node: Node) -> Iterable[Node]:
    """The difference, if the only other input is its right side."""
    first, *others = node.inputs
    return [first] if others == [first.inputs[1]] else []


def match_difference_second(node: Node) -> Iterable[Node]:
    """The difference, if the only other input is its right side."""
    other, difference, *more = node.inputs
    return [difference] if not more and other == difference.inputs[1] else []


def rewrite_max_union(node: Node, difference: Node) -> Node:
    """The max-union of both sides of the difference."""
    return Node(MaxUnion(), difference.inputs)


def match_parts(node: Node) -> Iterable[Node]:
    """The left side, if the union has exactly two inputs that are parts of the same stream."""
    one, *others = node.inputs
    return [one.inputs[0]] if others and _are_all(one, others) else []


def _are_all(one: Node, others: list[Node]) -> bool:
    """True if there is one other input, and it is the complement of the first one."""
    (other, *more) = others
    if more or one.inputs != other.inputs:
        return False
    if isinstance(one.operator, Matching) and isinstance(other.operator, Matching):
        return one.operator.condition == other.operator.condition
    return True


def rewrite_union(node: Node, left: Node) -> Node:
    """The union of both sides."""
    return Node(Union(), node.inputs[0].inputs)


UNION_OF_DIFFERENCE = Rule(
    name="union-of-difference",
    equation="union(difference(L, R), R) = max union(L, R)",
    shape=Shape(Union, Shape(Difference)),
    match=match_difference_first,
    rewrite=rewrite_max_union,
    measure=operators,
)

UNION_WITH_DIFFERENCE = Rule(
    name="union-with-difference",
    equation="union(R, difference(L, R)) = max union(L, R)",
    shape=Shape(Union, ANY, Shape(Difference)),
    match=match_difference_second,
    rewrite=rewrite_max_union,
    measure=operators,
)

UNION_OF_TAKEN_AND_LEFT = Rule(
    name="union-of-taken-and-left",
    equation="union(difference(L, R), intersection(L, R)) = L",
    shape=Shape(Union, Shape(Difference), Shape(Intersection)),
    match=match_parts,
    rewrite=as_matched,
    measure=operators,
)

UNION_OF_LEFT_AND_TAKEN = Rule(
    name="union-of-left-and-taken",
    equation="union(intersection(L, R), difference(L, R)) = L",
    shape=Shape(Union, Shape(Intersection), Shape(Difference)),
    match=match_parts,
    rewrite=as_matched,
    measure=operators,
)

UNION_OF_LESS_AND_MORE = Rule(
    name="union-of-less-and-more",
    equation="union(intersection(L, R), max union(L, R)) = union(L, R)",
    shape=Shape(Union, Shape(Intersection), Shape(MaxUnion)),
    match=match_parts,
    rewrite=rewrite_union,
    measure=operators,
)

UNION_OF_MORE_AND_LESS = Rule(
    name="union-of-more-and-less",
    equation="union(max union(L, R), intersection(L, R)) = union(L, R)",
    shape=Shape(Union, Shape(MaxUnion), Shape(Intersection)),
    match=match_parts,
    rewrite=rewrite_union,
    measure=operators,
)

UNION_OF_MATCHED_AND_NOT = Rule(
    name="union-of-matched-and-not",
    equation="union(semi-join(L, R), anti-join(L, R)) = L",
    shape=Shape(Union, Shape(SemiJoin), Shape(AntiJoin)),
    match=match_parts,
    rewrite=as_matched,
    measure=operators,
)

UNION_OF_NOT_AND_MATCHED = Rule(
    name="union-of-not-and-matched",
    equation="union(anti-join(L, R), semi-join(L, R)) = L",
    shape=Shape(Union, Shape(AntiJoin), Shape(SemiJoin)),
    match=match_parts,
    rewrite=as_matched,
    measure=operators,
)
