"""Merge a coarse grouping with the fine grouping below it.

    aggregate(by K, g(y), aggregate(by K and L, f(x) as y, S))  =  aggregate(by K, f(x), S)

if g computes f of the whole from f of parts.


Why      A coarse group consists of fine ones: the sum of their counts is its count, the sum of their sums its
         sum, the smallest of their smallest values its smallest.
Gain     One grouping with state less.
Guard    The sum of the largest values is not the largest value, and the number of fine groups not the number
         of rows. A result of a fine group cannot be a key below.
         An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   ours, by (8.9) and (8.15)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.distinct.distinct_below_grouping import takes_equal_values_once
from midstream.optimizer.rules.faithful import tells_no_equal_rows_apart
from midstream.optimizer.rules.groupings.partial import Calls, is_decomposable, merging
from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Col


def match(node: Node) -> Iterable[Calls]:
    """The upper functions over the lower input: merged lower functions, or functions of lower keys."""
    upper, lower = _both(node)
    below = dict(lower.calls)
    calls = [(name, _below(call, lower, below)) for name, call in upper.calls]
    merged = tuple((name, call) for name, call in calls if call is not None)
    return [merged] if len(merged) == len(calls) else []


def _below(call: AggregateCall, lower: Aggregate, below: dict[str, AggregateCall]) -> AggregateCall | None:
    if isinstance(call.argument, Col) and call.argument.name in below:
        return below[call.argument.name]
    return call if call.columns() <= {*lower.keys} else None


def merge_what_is_below(node: Node, calls: Calls) -> bool:
    """True if each function merges results of parts, or ignores how many fine groups have a key."""
    upper, lower = _both(node)
    schema = node.inputs[0].inputs[0].schema
    below = dict(lower.calls)
    for (_, above), (_, call) in zip(upper.calls, calls, strict=True):
        if call is above:
            if not takes_equal_values_once(call):
                return False
        elif (
            not is_decomposable(call, schema)
            or call.function == "avg"
            or above != merging(call, _name(above))
            or _name(above) not in below
        ):
            return False
    return True


def groups_by_lower_keys(node: Node, calls: Calls) -> bool:
    """True if the upper keys are keys of the lower grouping, and not its results."""
    upper, lower = _both(node)
    return {*upper.keys} <= {*lower.keys}


def rewrite(node: Node, calls: Calls) -> Node:
    """One grouping."""
    upper, _ = _both(node)
    return Node(Aggregate(upper.keys, calls), node.inputs[0].inputs)


def _both(node: Node) -> tuple[Aggregate, Aggregate]:
    return operator_of(node, Aggregate), operator_of(node.inputs[0], Aggregate)


def _name(call: AggregateCall) -> str:
    assert isinstance(call.argument, Col)
    return call.argument.name


GROUPINGS_MERGING = Rule(
    name="groupings-merging",
    equation="aggregate(by K, g(y), aggregate(by K and L, f(x) as y, S)) = aggregate(by K, f(x), S)",
    shape=Shape(Aggregate, Shape(Aggregate)),
    match=match,
    guards=(merge_what_is_below, groups_by_lower_keys, tells_no_equal_rows_apart),
    rewrite=rewrite,
    measure=operators,
)
