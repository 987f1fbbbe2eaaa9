"""Drop columns that a projection does not read below the operator that would keep them in its state.

    project(f, join(c, L, R))  =  project(f, join(c, L, R) with the columns that f reads)

    project(f, semi-join(c, L, R))  =  project(f, semi-join(c, project(A, L), R))        where A are the
        columns that f and c read; likewise for anti-joins

Why      Columns that are not read do not affect the result.
Gain     Smaller rows in the state of the operator, and fewer columns to read below.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import carrying
from midstream.optimizer.rules.narrowed import narrowed
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, AntiJoin, Filter, Join, Project, SemiJoin
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical


def match(node: Node) -> Iterable[Node]:
    """The input with fewer columns, if there are some that the projection does not read."""
    below = node.inputs[0]
    read = frozenset[str]().union(*(e.columns() for e in operator_of(node, Project).expressions))
    fewer = _fewer(below, read)
    if fewer != below:
        yield fewer


def rewrite(node: Node, fewer: Node) -> Node:
    """The projection over the narrowed input."""
    return Node(node.operator, (fewer,))


def _fewer(node: Node, read: frozenset[str]) -> Node:
    """A subplan with fewer columns, without adding a projection on top of it."""
    match node.operator:
        case Filter(condition):
            return node.with_inputs((_fewer(node.inputs[0], read | condition.columns()),))
        case Join() | Aggregate():
            return narrowed(node, read, adds_projection=False)
        case SemiJoin() | AntiJoin():
            left, right = node.inputs
            kept, _ = logical(node).columns_read(read, (left.schema, right.schema))
            return node.with_inputs((narrowed(left, kept), right))
    return node


UNREAD_BELOW_PROJECTION = Rule(
    name="unread-below-projection",
    equation="project(f, join(c, L, R)) = project(f, join(c, L, R))",
    shape=Shape(Project, Shape((Join, SemiJoin, AntiJoin, Aggregate, Filter))),
    match=match,
    rewrite=rewrite,
    measure=carrying,
)
