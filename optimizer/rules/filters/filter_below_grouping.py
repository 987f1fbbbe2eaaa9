"""Push a filter on the keys of a grouping below it.

    filter(p, aggregate(a by K, S))  =  aggregate(a by K, filter(p, S))        if p reads only K

Why      Rows of one group agree on K, so p is true for all of them or for none: the filter selects groups.
Gain     Groups that do not pass the filter are not computed.
Guard    A condition on a result depends on the whole group. Keys 1 and 1.0 are one group: a condition that
         distinguishes them, as their texts do, would split it. Without keys, all rows are one group.
Source   thesis, section 10.3.1, by (8.15)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.faithful import is_faithful
from midstream.optimizer.rules.filters.filter_below_distinct import tells_no_equal_rows_apart
from midstream.optimizer.rules.filters.filtered import Parts, filtered_below, parts_of, with_free
from midstream.optimizer.rules.measures import filtering
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, Filter
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[Parts]:
    """The parts of the filter's condition that select whole groups; then those on keys; then all of them."""
    parts = tuple(part for part in parts_of(node) if part.columns())
    on_keys = tuple(part for part in parts if part.columns() <= _keys(node))
    alike = tuple(part for part in on_keys if is_faithful(part, node.schema))
    yield from with_free(alike, on_keys, parts)


def reads_keys_only(node: Node, matched: Parts) -> bool:
    """True if the parts read only keys, and no result of the group."""
    return all(part.columns() <= _keys(node) for part in matched)


def _keys(node: Node) -> set[str]:
    return set(operator_of(node.inputs[0], Aggregate).keys)


FILTER_BELOW_GROUPING = Rule(
    name="filter-below-grouping",
    equation="filter(p, aggregate(a by K, S)) = aggregate(a by K, filter(p, S))",
    shape=Shape(Filter, Shape(Aggregate)),
    match=match,
    guards=(reads_keys_only, tells_no_equal_rows_apart),
    rewrite=filtered_below,
    measure=filtering,
)
