"""Let a filter on the keys of a partitioned window change places with it.

    filter(p, window(rows N by K, S))  =  window(rows N by K, filter(p, S))        if p reads only K

Why      Rows of one group agree on K, so p is true for all of them or for none: the filter selects groups,
         and a group's window does not depend on the others.
Gain     Below: groups that do not pass the filter are not counted.
Guard    A condition on other columns changes which rows of a group are the last. If two rows of a group may
         have one timestamp, and it is not declared that they count in the order of arrival, the window over
         all groups raises an error that the window over fewer groups does not raise.
Source   ours; the thesis has it for no filter (10.3.2)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.filters.filtered import Parts, filtered, filtered_below, parts_of, with_free
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Filter, PartitionedWindow
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import keys
from midstream.plans.expressions.expressions import conjuncts


def match_below(node: Node) -> Iterable[Parts]:
    """The parts of the filter's condition: those on keys first, then all of them."""
    parts = parts_of(node)
    on_keys = tuple(part for part in parts if part.columns() <= _keys(node.inputs[0]))
    yield from with_free(on_keys, parts)


def reads_keys_only(node: Node, matched: Parts) -> bool:
    """True if the parts read only keys of the window below, so that they select whole groups."""
    return all(part.columns() <= _keys(node.inputs[0]) for part in matched)


def has_no_ties(node: Node, matched: Parts) -> bool:
    """True if no two rows of a group can have one timestamp, or their order is declared."""
    return _orders_rows(node.inputs[0])


def match_above(node: Node) -> Iterable[Filter]:
    """The filter."""
    return [operator_of(node.inputs[0], Filter)]


def read_keys_only(node: Node, matched: Filter) -> bool:
    """True if the filter below reads only keys of the window."""
    return matched.condition.columns() <= _keys(node)


def had_no_ties(node: Node, matched: Filter) -> bool:
    """True if no two rows of a group can have one timestamp, or their order is declared.

    That includes the rows that the filter drops.
    """
    return _orders_rows(Node(node.operator, node.inputs[0].inputs))


def rewrite_above(node: Node, matched: Filter) -> Node:
    """The filter over the window."""
    return filtered(conjuncts(matched.condition), Node(node.operator, node.inputs[0].inputs))


def _keys(window: Node) -> set[str]:
    return set(operator_of(window, PartitionedWindow).keys)


def _orders_rows(window: Node) -> bool:
    """True if the window's rows are ordered in each group.

    Their order is declared, or a group has at most one row at an instant.
    """
    ties = operator_of(window, PartitionedWindow).ties
    return ties == "arrival" or any(key <= _keys(window) for key in keys(window.inputs[0]))


FILTER_BELOW_PARTITIONED_WINDOW = Rule(
    name="filter-below-partitioned-window",
    equation="filter(p, partitioned window(S)) = partitioned window(filter(p, S))",
    shape=Shape(Filter, Shape(PartitionedWindow)),
    match=match_below,
    guards=(reads_keys_only, has_no_ties),
    rewrite=filtered_below,
)

FILTER_ABOVE_PARTITIONED_WINDOW = Rule(
    name="filter-above-partitioned-window",
    equation="partitioned window(filter(p, S)) = filter(p, partitioned window(S))",
    shape=Shape(PartitionedWindow, Shape(Filter)),
    match=match_above,
    guards=(read_keys_only, had_no_ties),
    rewrite=rewrite_above,
)
