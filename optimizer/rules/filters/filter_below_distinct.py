"""Push a filter below duplicate elimination.

    filter(p, distinct(S))  =  distinct(filter(p, S))        if p is the same of equal rows

Why      p is true for all copies of a row, or for none of them.
Gain     Fewer rows are looked up.
Guard    Duplicate elimination keeps one of the rows 1 and 1.0, which are equal. A condition that
         distinguishes them, as their texts do, may be true for the other one only.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.faithful import is_faithful
from midstream.optimizer.rules.filters.filtered import Parts, filtered_below, parts_of, with_free
from midstream.optimizer.rules.measures import filtering
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, Filter
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[Parts]:
    """The parts of the filter's condition that do not distinguish equal rows; then all parts."""
    parts = parts_of(node)
    alike = tuple(part for part in parts if is_faithful(part, node.schema))
    yield from with_free(alike, parts)


def tells_no_equal_rows_apart(node: Node, matched: Parts) -> bool:
    """True if the parts do not distinguish equal rows, of which one stands for all."""
    return all(is_faithful(part, node.schema) for part in matched)


FILTER_BELOW_DISTINCT = Rule(
    name="filter-below-distinct",
    equation="filter(p, distinct(S)) = distinct(filter(p, S))",
    shape=Shape(Filter, Shape(Distinct)),
    match=match,
    guards=(tells_no_equal_rows_apart,),
    rewrite=filtered_below,
    measure=filtering,
)
