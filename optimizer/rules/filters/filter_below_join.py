"""Push the parts of a filter below the join input that they read.

    filter(p and q, join(L, R))  =  filter(q, join(filter(p, L), R))        if p reads only L; likewise for R

    filter(p and q, join(L, R))  =  filter(q, join(filter(p, L), filter(p, R)))        if p reads no column

Why      A pair has the values of its left half, so p has the same result for the pair and for the half. A
         condition that reads no column, such as FALSE, has one result for all rows.
Gain     Fewer elements enter the join's state.
Guard    If p reads columns of R, these do not exist in L.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from midstream.optimizer.rules.filters.filtered import (
    Parts,
    filtered,
    filtered_below,
    parts_of,
    with_free,
    without,
)
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[Parts]:
    """For each side of the join, the parts of the filter's condition that read only columns of it."""
    parts = [part for part in parts_of(node) if part.columns()]
    for side in node.inputs[0].inputs:
        yield from with_free(tuple(part for part in parts if part.columns() <= set(side.schema.names)))


def match_constant(node: Node) -> Iterable[Parts]:
    """The parts that read no column."""
    yield from with_free(tuple(part for part in parts_of(node) if not part.columns()))


def reads_left_only(node: Node, matched: Parts) -> bool:
    """True if the parts read only the join's left side: the right side lacks the other columns."""
    return _reads_only(node.inputs[0].inputs[0], matched)


def reads_right_only(node: Node, matched: Parts) -> bool:
    """True if the parts read only the join's right side: the left side lacks the other columns."""
    return _reads_only(node.inputs[0].inputs[1], matched)


def _reads_only(side: Node, matched: Parts) -> bool:
    names = set(side.schema.names)
    return all(part.columns() <= names for part in matched)


def rewrite_below(side: int) -> Callable[[Node, Parts], Node]:
    """Move parts of a filter to one side of the join."""

    def rewrite(node: Node, matched: Parts) -> Node:
        join = node.inputs[0]
        below = join.with_input(side, filtered(matched, join.inputs[side]))
        return filtered(without(parts_of(node), matched), below)

    return rewrite


FILTER_BELOW_LEFT = Rule(
    name="filter-below-left",
    equation="filter(p, join(L, R)) = join(filter(p, L), R)",
    shape=Shape(Filter, Shape(Join)),
    match=match,
    guards=(reads_left_only,),
    rewrite=rewrite_below(0),
)

FILTER_BELOW_RIGHT = Rule(
    name="filter-below-right",
    equation="filter(p, join(L, R)) = join(L, filter(p, R))",
    shape=Shape(Filter, Shape(Join)),
    match=match,
    guards=(reads_right_only,),
    rewrite=rewrite_below(1),
)

FILTER_BELOW_BOTH = Rule(
    name="filter-below-both",
    equation="filter(p, join(L, R)) = join(filter(p, L), filter(p, R))",
    shape=Shape(Filter, Shape(Join)),
    match=match_constant,
    rewrite=filtered_below,
)
