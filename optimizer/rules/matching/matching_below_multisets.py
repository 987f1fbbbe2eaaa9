"""Let a semi-join or an anti-join change places with what puts or compares equal rows.

    op(p, set(L, R), S)  =  set(op(p, L, S), op(p, R, S))
    op(p, set(L, R), S)  =  set(op(p, L, S), R)

for set a difference, a strict difference or an intersection; in the first line also a union or a max-union.

Why      Equal rows are all kept or none, on either side: their numbers stay, or are 0 on both. Where set
         gives rows of L only, those of R that are not kept do not matter.
Gain     Below: less to keep above. Above: S is looked into once.
Guard    An expression that tells 0.0 from -0.0, which are equal, is asked of one of them only.
Source   ours, by (8.3), (8.6), (8.12) to (8.14), (8.16) and erratum 5
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.faithful import asks_equal_rows_alike
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import (
    Difference,
    Intersection,
    Matching,
    MaxUnion,
    StrictDifference,
    Union,
)
from midstream.plans.algebra.plan import Node

OF_BOTH = (Union, MaxUnion)
OF_THE_FIRST = (Difference, StrictDifference, Intersection)


def match_below(node: Node) -> Iterable[Node]:
    """What is below."""
    return node.inputs[:1]


def tells_no_equal_rows_apart(node: Node, below: Node) -> bool:
    """Whether the condition asks equal rows alike, which are counted together, but for a union."""
    return isinstance(below.operator, Union) or asks_equal_rows_alike(node)


def rewrite_below_each(node: Node, below: Node) -> Node:
    """Each side looked up."""
    looked_up = node.inputs[1]
    return below.with_inputs(tuple(node.with_inputs((child, looked_up)) for child in below.inputs))


def rewrite_below_first(node: Node, below: Node) -> Node:
    """The left side looked up."""
    first, other = below.inputs
    return below.with_inputs((node.with_inputs((first, node.inputs[1])), other))


def match_above_each(node: Node) -> Iterable[Node]:
    """The first, if all look the same up."""
    first, *others = node.inputs
    same = (first.operator, first.inputs[1])
    return [first] if all((each.operator, each.inputs[1]) == same for each in others) else []


def told_no_equal_rows_apart(node: Node, first: Node) -> bool:
    """Whether the condition asks equal rows alike, which are counted together, but for a union."""
    return isinstance(node.operator, Union) or asks_equal_rows_alike(first)


def rewrite_above_each(node: Node, first: Node) -> Node:
    """Looked up above."""
    together = node.with_inputs(tuple(child.inputs[0] for child in node.inputs))
    return first.with_inputs((together, first.inputs[1]))


def match_above_first(node: Node) -> Iterable[Node]:
    """The left side."""
    return node.inputs[:1]


def rewrite_above_first(node: Node, first: Node) -> Node:
    """Looked up above."""
    return first.with_inputs((node.with_inputs((first.inputs[0], node.inputs[1])), first.inputs[1]))


MATCHING_BELOW_EACH = Rule(
    name="matching-below-each",
    equation="op(set(L, R), S) = set(op(L, S), op(R, S))",
    shape=Shape(Matching, Shape((*OF_BOTH, *OF_THE_FIRST))),
    match=match_below,
    guards=(tells_no_equal_rows_apart,),
    rewrite=rewrite_below_each,
)

MATCHING_ABOVE_EACH = Rule(
    name="matching-above-each",
    equation="set(op(L, S), op(R, S)) = op(set(L, R), S)",
    shape=Shape((*OF_BOTH, *OF_THE_FIRST), each=Shape(Matching)),
    match=match_above_each,
    guards=(told_no_equal_rows_apart,),
    rewrite=rewrite_above_each,
)

MATCHING_BELOW_FIRST = Rule(
    name="matching-below-first",
    equation="op(set(L, R), S) = set(op(L, S), R)",
    shape=Shape(Matching, Shape(OF_THE_FIRST)),
    match=match_below,
    rewrite=rewrite_below_first,
)

MATCHING_ABOVE_FIRST = Rule(
    name="matching-above-first",
    equation="set(op(L, S), R) = op(set(L, R), S)",
    shape=Shape(OF_THE_FIRST, Shape(Matching)),
    match=match_above_first,
    rewrite=rewrite_above_first,
)
