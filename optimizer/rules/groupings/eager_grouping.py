"""Group the aggregated side of a join before the join.

    aggregate(by K, f(x), join(L, R))  =  aggregate(by K, g(y), join(aggregate(by J, f(x) as y, L), R))

where J are the columns of L in K and in the join's condition; and the same for R.

Why      Rows of L that agree on J match the same rows of R and belong to the same groups.
Gain     One row for each group of L enters the join. If K is a key of the join, the upper grouping
         disappears as well (`grouping_over_key`): that is Example 10.1 of the thesis.
Guard    A function of the other side's columns cannot be computed before the join. Means and rounded sums of
         the whole do not follow from those of parts.
         An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   thesis, Example 10.1; Yan, Larson: Eager Aggregation and Lazy Aggregation, VLDB 1995
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from midstream.optimizer.rules.faithful import below_tells_no_equal_rows_apart
from midstream.optimizer.rules.groupings.partial import TwoSteps, is_decomposable, two_steps
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, Join
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_key


@dataclass(frozen=True, slots=True)
class Eager:
    """A side of the join, its grouping keys, and the two steps of aggregation."""

    place: int
    keys: tuple[str, ...]
    steps: TwoSteps


def match(node: Node) -> Iterable[Eager]:
    """Each side that may have groups of several rows."""
    calls, names = operator_of(node, Aggregate).calls, joined_names(node)
    return (Eager(place, keys, two_steps(calls, names)) for place, keys in sides_with_groups(node))


def joined_names(node: Node) -> list[str]:
    """The columns of both sides of the join."""
    return [name for side in node.inputs[0].inputs for name in side.schema.names]


def sides_with_groups(node: Node) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The sides of the join that may have groups of several rows, each with its grouping keys.

    These are the columns that the join's condition or the keys of the grouping read.
    """
    grouping, join = both(node)
    read = {*grouping.keys, *join.condition.columns()}
    for place, side in enumerate(node.inputs[0].inputs):
        keys = tuple(name for name in side.schema.names if name in read)
        if grouping.calls and not is_key(side, keys):
            yield place, keys


def read_one_side(node: Node, eager: Eager) -> bool:
    """True if the functions read columns of that side only."""
    grouping, _ = both(node)
    side = node.inputs[0].inputs[eager.place]
    return all(call.columns() <= {*side.schema.names} for _, call in grouping.calls)


def are_decomposable(node: Node, eager: Eager) -> bool:
    """True if the aggregates of the whole follow exactly from those of parts."""
    grouping, _ = both(node)
    return all(is_decomposable(call, node.inputs[0].schema) for _, call in grouping.calls)


def rewrite(node: Node, eager: Eager) -> Node:
    """The second grouping over the join with the groups of that side."""
    grouping, join = both(node)
    sides = list(node.inputs[0].inputs)
    sides[eager.place] = Node(Aggregate(eager.keys, eager.steps.first), (sides[eager.place],))
    columns = (*grouping.keys, *(name for name, _ in eager.steps.first))
    return eager.steps.grouped(grouping.keys, Node(Join(join.condition, columns), tuple(sides)))


def both(node: Node) -> tuple[Aggregate, Join]:
    """A grouping and the join below it."""
    return operator_of(node, Aggregate), operator_of(node.inputs[0], Join)


EAGER_GROUPING = Rule(
    name="eager-grouping",
    equation="aggregate(by K, f(x), join(L, R)) = "
    "aggregate(by K, g(y), join(aggregate(by J, f(x) as y, L), R))",
    shape=Shape(Aggregate, Shape(Join)),
    match=match,
    guards=(read_one_side, are_decomposable, below_tells_no_equal_rows_apart),
    rewrite=rewrite,
)
