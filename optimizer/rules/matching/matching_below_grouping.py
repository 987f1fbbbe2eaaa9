"""Let a semi-join or an anti-join on the keys of a grouping change places with it.

    op(p, aggregate(by K, L), R)  =  aggregate(by K, op(p, L, R))        if p reads only K and columns of R

Why      Rows of one group agree on K, so all of them are kept or none.
Gain     Below: groups that are not kept are not computed. Above: one look-up for a group.
Guard    Aggregates do not exist below the grouping, and a condition on other columns keeps part of a group.
         The columns that are looked up must have other names than the columns there.
         An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   ours, by (8.15), (8.16) and erratum 5
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import swapped
from midstream.optimizer.rules.faithful import below_tells_no_equal_rows_apart, tells_no_equal_rows_apart
from midstream.optimizer.rules.readings import condition_of, first_input, operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, Matching
from midstream.plans.algebra.plan import Node


def reads_keys(node: Node, grouping: Node) -> bool:
    """True if the condition reads no aggregate, which does not exist below."""
    return _reads_keys(node, grouping)


def has_other_names(node: Node, grouping: Node) -> bool:
    """True if no column below has the name of a column that is looked up."""
    return not any(name in node.inputs[1].schema for name in grouping.inputs[0].schema.names)


def read_keys(node: Node, matching: Node) -> bool:
    """True if the condition reads only keys, so that it keeps whole groups."""
    return _reads_keys(matching, node)


def keeps_other_names(node: Node, matching: Node) -> bool:
    """True if no aggregate has the name of a column that is looked up."""
    return not any(name in node.schema for name in matching.inputs[1].schema.names)


def _reads_keys(matching: Node, grouping: Node) -> bool:
    readable = {*operator_of(grouping, Aggregate).keys, *matching.inputs[1].schema.names}
    return condition_of(matching).columns() <= readable


MATCHING_BELOW_GROUPING = Rule(
    name="matching-below-grouping",
    equation="op(aggregate(by K, L), R) = aggregate(by K, op(L, R))",
    shape=Shape(Matching, Shape(Aggregate)),
    match=first_input,
    guards=(reads_keys, has_other_names, tells_no_equal_rows_apart),
    rewrite=swapped,
)

MATCHING_ABOVE_GROUPING = Rule(
    name="matching-above-grouping",
    equation="aggregate(by K, op(L, R)) = op(aggregate(by K, L), R)",
    shape=Shape(Aggregate, Shape(Matching)),
    match=first_input,
    guards=(read_keys, keeps_other_names, below_tells_no_equal_rows_apart),
    rewrite=swapped,
)
