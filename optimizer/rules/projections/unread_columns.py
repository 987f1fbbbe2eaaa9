"""Drop columns that an operator does not read before it keeps them in its state.

    join(c, L, R)  =  join(c, project(A, L), project(B, R))        where A and B are the columns that c reads
        and the join gives; likewise for groupings, and for the right side of semi-joins and anti-joins

Why      Columns that are not read do not affect the result.
Gain     Smaller rows in the operator's state.
Source   thesis, section 10.3.1

If the input chooses its columns, as a join does, it chooses fewer. Otherwise a projection is added, except
below groupings, which keep no rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import carrying
from midstream.optimizer.rules.narrowed import narrowed
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, AntiJoin, Join, SemiJoin
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical


def match(node: Node) -> Iterable[tuple[Node, ...]]:
    """The inputs without the columns that the operator does not read, if there are any."""
    schemas = tuple(child.schema for child in node.inputs)
    read = logical(node).columns_read(frozenset(node.schema.names), schemas)
    adds = not isinstance(node.operator, Aggregate)
    inputs = tuple(
        narrowed(child, names, adds_projection=adds) for child, names in zip(node.inputs, read, strict=True)
    )
    if inputs != node.inputs:
        yield inputs


def rewrite(node: Node, inputs: tuple[Node, ...]) -> Node:
    """The operator over the narrowed inputs."""
    return Node(node.operator, inputs)


UNREAD_COLUMNS = Rule(
    name="unread-columns",
    equation="join(c, L, R) = join(c, project(A, L), project(B, R))",
    shape=Shape((Join, Aggregate, SemiJoin, AntiJoin)),
    match=match,
    rewrite=rewrite,
    measure=carrying,
)
