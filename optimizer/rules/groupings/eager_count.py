"""Count the rows of the side of a join that is not aggregated before it is joined.

    aggregate(by K, sum(x), join(L, R)) = aggregate(by K, sum(x * n), join(L, aggregate(by J, count as n, R)))
    aggregate(by K, max(x), join(L, R)) = aggregate(by K, max(x), join(L, aggregate(by J, R)))

where x is of L, and J are the columns of R in K and in the join's condition; and the same for L.

Why      Rows of R that agree on J match the same rows of L and belong to the same groups: a row of L counts
         there as often as there are such rows. The smallest and the largest value, and functions of distinct
         values, do not depend on how often.
Gain     One row for each group of R enters the join. Then K may be a key of the join, so that the grouping
         above disappears (`grouping_over_key`).
Guard    A function of the side's own columns cannot be computed from the number of rows. A sum of floats is
         rounded, and means depend on numbers in other ways.
         An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   thesis, Example 10.1; Yan, Larson: Eager Aggregation and Lazy Aggregation, VLDB 1995
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from midstream.optimizer.rules.distinct.distinct_below_grouping import takes_equal_values_once
from midstream.optimizer.rules.faithful import below_tells_no_equal_rows_apart
from midstream.optimizer.rules.groupings.eager_grouping import both, joined_names, sides_with_groups
from midstream.optimizer.rules.groupings.partial import Calls
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, Join
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import AggregateCall, count
from midstream.plans.expressions.expressions import Binary, Col
from midstream.plans.values.schema import Schema, Type, unused


@dataclass(frozen=True, slots=True)
class Counted:
    """A side of the join, its grouping keys, and the name of the column with the number of its rows."""

    place: int
    keys: tuple[str, ...]
    number: str


def match(node: Node) -> Iterable[Counted]:
    """Each side that may have groups of several rows."""
    number = unused("n", joined_names(node))
    return (Counted(place, keys, number) for place, keys in sides_with_groups(node))


def read_the_other_side(node: Node, counted: Counted) -> bool:
    """True if the functions read no column of that side."""
    grouping, _ = both(node)
    side = node.inputs[0].inputs[counted.place]
    return not any(call.columns() & {*side.schema.names} for _, call in grouping.calls)


def can_be_weighed(node: Node, counted: Counted) -> bool:
    """True if the functions follow exactly from the multiplicity of each value."""
    grouping, _ = both(node)
    return all(_can_be_weighed(call, node.inputs[0].schema) for _, call in grouping.calls)


def _can_be_weighed(call: AggregateCall, schema: Schema) -> bool:
    if takes_equal_values_once(call):
        return True
    if call.argument is None:
        return True
    kind = call.argument.kind(schema)
    if call.function == "count":
        return not kind.nullable
    return call.function == "sum" and kind.type is Type.INTEGER


def rewrite(node: Node, counted: Counted) -> Node:
    """The grouping over the join with the groups of that side."""
    grouping, join = both(node)
    calls = tuple((name, _weighed(call, counted.number)) for name, call in grouping.calls)
    read = {*grouping.keys}.union(*(call.columns() for _, call in calls))
    number: Calls = ((counted.number, count()),) if counted.number in read or not counted.keys else ()
    sides = list(node.inputs[0].inputs)
    sides[counted.place] = Node(Aggregate(counted.keys, number), (sides[counted.place],))
    columns = tuple(name for side in sides for name in side.schema.names if name in read)
    return Node(Aggregate(grouping.keys, calls), (Node(Join(join.condition, columns), tuple(sides)),))


def _weighed(call: AggregateCall, number: str) -> AggregateCall:
    """A function over rows, each of which stands for a number of rows."""
    if takes_equal_values_once(call):
        return call
    if call.function == "count":
        return AggregateCall("sum", Col(number))
    assert call.argument is not None
    return AggregateCall(call.function, Binary("*", call.argument, Col(number)), call.distinct, call.k)


EAGER_COUNT = Rule(
    name="eager-count",
    equation="aggregate(by K, sum(x), join(L, R)) = "
    "aggregate(by K, sum(x * n), join(L, aggregate(by J, count as n, R)))",
    shape=Shape(Aggregate, Shape(Join)),
    match=match,
    guards=(read_the_other_side, can_be_weighed, below_tells_no_equal_rows_apart),
    rewrite=rewrite,
)
