"""Leave out the projection below a join that only chooses columns.

    join(project(L), R)  =  join(L, R)        if names are kept, and R has no name of a dropped column

Likewise for R.

Why      A join reads columns by name, and lists those that it gives.
Gain     One operator less; what stands below the projection may be shared with other queries.
Guard    A column with a new name would not be found. A dropped column that has the name of one of the other
         side would mean both.
Source   thesis, section 10.4.3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import Join, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col

Matched = tuple[Project, int]
"""The projection, and on which side it is."""


def match_in(side: int) -> Callable[[Node], Iterable[Matched]]:
    """The projection on one side."""

    def match(node: Node) -> Iterable[Matched]:
        project = node.inputs[side].operator
        assert isinstance(project, Project)
        return [(project, side)]

    return match


def names_stay(node: Node, matched: Matched) -> bool:
    """Whether the projection gives columns under the names that they have: the join asks for them by name."""
    project, _ = matched
    return all(expression == Col(name) for name, expression in project.columns)


def names_are_distinct(node: Node, matched: Matched) -> bool:
    """Whether no column that the projection drops has the name of one of the other side."""
    _, side = matched
    below = node.inputs[side].inputs[0]
    return not set(below.schema.names) & set(node.inputs[1 - side].schema.names)


def rewrite(node: Node, matched: Matched) -> Node:
    """The join of what is below the projection."""
    _, side = matched
    sides = list(node.inputs)
    sides[side] = sides[side].inputs[0]
    return Node(node.operator, tuple(sides))


COLUMNS_BELOW_LEFT = Rule(
    name="columns-below-left",
    equation="join(project(L), R) = join(L, R)",
    shape=Shape(Join, Shape(Project)),
    match=match_in(0),
    guards=(names_stay, names_are_distinct),
    rewrite=rewrite,
)

COLUMNS_BELOW_RIGHT = Rule(
    name="columns-below-right",
    equation="join(L, project(R)) = join(L, R)",
    shape=Shape(Join, ANY, Shape(Project)),
    match=match_in(1),
    guards=(names_stay, names_are_distinct),
    rewrite=rewrite,
)
