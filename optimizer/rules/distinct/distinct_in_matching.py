"""Add or drop a duplicate elimination of rows that are only looked up.

    op(L, R)  =  op(L, distinct(R))        for op a semi-join, an anti-join or a strict difference

Why      A row of L is kept if R has a matching row, however often.
Gain     Added: a smaller state to look into. Dropped: one operator with state less.
Guard    An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   ours, by (8.14), (8.16) and erratum 5
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.faithful import tells_no_equal_rows_apart
from midstream.optimizer.rules.readings import second_input
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import AntiJoin, Distinct, SemiJoin, StrictDifference
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_duplicate_free

LOOKS_UP = (SemiJoin, AntiJoin, StrictDifference)


def match_added(node: Node) -> Iterable[Node]:
    """The right side, if it may have duplicates."""
    _, right = node.inputs
    return [] if is_duplicate_free(right) else [right]


def rewrite_added(node: Node, right: Node) -> Node:
    """With a duplicate elimination."""
    return node.with_input(1, distinct(right))


def rewrite_dropped(node: Node, right: Node) -> Node:
    """Without the duplicate elimination."""
    return node.with_input(1, right.inputs[0])


MATCHED_DISTINCT_ADDED = Rule(
    name="matched-distinct-added",
    equation="op(L, R) = op(L, distinct(R))",
    shape=Shape(LOOKS_UP),
    match=match_added,
    guards=(tells_no_equal_rows_apart,),
    rewrite=rewrite_added,
)

MATCHED_DISTINCT_DROPPED = Rule(
    name="matched-distinct-dropped",
    equation="op(L, distinct(R)) = op(L, R)",
    shape=Shape(LOOKS_UP, ANY, Shape(Distinct)),
    match=second_input,
    guards=(tells_no_equal_rows_apart,),
    rewrite=rewrite_dropped,
)
