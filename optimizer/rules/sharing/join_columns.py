"""Let a join return all columns in alphabetical order, below a projection that chooses; or the reverse.

    join(L, R)  =  project(join(L, R))        where the right join returns all columns

Why      A join lists its output columns; a projection can do that as well.
Gain     None by itself. Joins of the same inputs become the same join, whichever columns queries read and in
         which order, so that it can be shared.
Guard    The join does not return all columns in that order yet. Read from right to left: the projection keeps
         the names of the join's columns.
Source   thesis, section 10.4.3
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.readings import condition_of, its_operator, operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Join, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col


def all_columns(join: Node) -> tuple[str, ...]:
    """The columns of both sides of a join, in alphabetical order."""
    return tuple(sorted(name for side in join.inputs for name in side.schema.names))


def chosen(columns: Iterable[str], node: Node) -> Node:
    """Some columns of a node."""
    return Node(Project(tuple((name, Col(name)) for name in columns)), (node,))


def match_join(node: Node) -> Iterable[Join]:
    """The join, unless it returns all columns in alphabetical order already."""
    join = operator_of(node, Join)
    return [join] if join.columns != all_columns(node) else []


def split(node: Node, matched: Join) -> Node:
    """The projection above the join that gives all columns."""
    return chosen(matched.columns, Node(Join(matched.condition, all_columns(node)), node.inputs))


def names_stay(node: Node, matched: Project) -> bool:
    """True if the projection keeps the names of its columns: a join can do no more."""
    return all(expression == Col(name) for name, expression in matched.columns)


def merge(node: Node, matched: Project) -> Node:
    """The join that gives the projection's columns."""
    (join,) = node.inputs
    return Node(Join(condition_of(join), tuple(name for name, _ in matched.columns)), join.inputs)


JOIN_COLUMNS = Rule(
    name="join-columns",
    equation="join(L, R) = project(join(L, R))",
    shape=Shape(Join),
    match=match_join,
    rewrite=split,
)

PROJECTION_INTO_JOIN = Rule(
    name="projection-into-join",
    equation="project(join(L, R)) = join(L, R)",
    shape=Shape(Project, Shape(Join)),
    match=its_operator,
    guards=(names_stay,),
    rewrite=merge,
)
