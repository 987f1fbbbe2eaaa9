"""Add or drop a duplicate elimination below aggregates that ignore duplicates.

    aggregate(f(x), S)  =  aggregate(f(x), distinct(S))        if f takes equal values once

Why      The smallest and the largest value, and functions of distinct values, are the same with and without
         duplicates.
Gain     Added: the groups get fewer rows. Dropped: one operator with state less.
Guard    Sums, counts and means depend on how often a row occurs.
         An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   ours, by (8.5) and (8.15)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.faithful import tells_no_equal_rows_apart
from midstream.optimizer.rules.readings import first_input, operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, Distinct
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_duplicate_free
from midstream.plans.expressions.aggregates import AggregateCall


def match_added(node: Node) -> Iterable[Node]:
    """The input, if it may have duplicates."""
    return [below for below in node.inputs if not is_duplicate_free(below)]


def take_equal_values_once(node: Node, below: Node) -> bool:
    """True if no function notices duplicates."""
    return all(takes_equal_values_once(call) for _, call in operator_of(node, Aggregate).calls)


def takes_equal_values_once(call: AggregateCall) -> bool:
    """True if a function has the same result on values and on the distinct ones among them."""
    return call.distinct or call.function in ("min", "max")


def rewrite_added(node: Node, below: Node) -> Node:
    """With a duplicate elimination."""
    return node.with_inputs((distinct(below),))


def rewrite_dropped(node: Node, below: Node) -> Node:
    """Without the duplicate elimination."""
    return node.with_inputs(below.inputs)


GROUPED_DISTINCT_ADDED = Rule(
    name="grouped-distinct-added",
    equation="aggregate(f(x), S) = aggregate(f(x), distinct(S))",
    shape=Shape(Aggregate),
    match=match_added,
    guards=(take_equal_values_once, tells_no_equal_rows_apart),
    rewrite=rewrite_added,
)

GROUPED_DISTINCT_DROPPED = Rule(
    name="grouped-distinct-dropped",
    equation="aggregate(f(x), distinct(S)) = aggregate(f(x), S)",
    shape=Shape(Aggregate, Shape(Distinct)),
    match=first_input,
    guards=(take_equal_values_once, tells_no_equal_rows_apart),
    rewrite=rewrite_dropped,
)
