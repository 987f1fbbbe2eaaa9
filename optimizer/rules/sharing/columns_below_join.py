"""Leave out a projection below a join that only drops columns.

    join(project(L), R)  =  join(L, R)        if names stay, and R has no name of a dropped column

Likewise for R.

Why      A join reads columns by name, and lists its output columns.
Gain     One operator less; the input of the projection may be shared with other queries.
Guard    A column with a new name would not be found. A dropped column with a name of the other side would be
         ambiguous.
Source   thesis, section 10.4.3
"""

from __future__ import annotations

from midstream.optimizer.rules.readings import first_place, second_place
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.optimizer.rules.substitution import definitions
from midstream.plans.algebra.operators import Join, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col


def names_stay(node: Node, side: int) -> bool:
    """True if the projection keeps the names of its columns: the join reads them by name."""
    return all(expression == Col(name) for name, expression in definitions(node.inputs[side]).items())


def names_are_distinct(node: Node, side: int) -> bool:
    """True if no column that the projection drops has the name of one of the other side."""
    below = node.inputs[side].inputs[0]
    return not set(below.schema.names) & set(node.inputs[1 - side].schema.names)


def rewrite(node: Node, side: int) -> Node:
    """The join of the projection's input."""
    return node.with_input(side, node.inputs[side].inputs[0])


COLUMNS_BELOW_LEFT = Rule(
    name="columns-below-left",
    equation="join(project(L), R) = join(L, R)",
    shape=Shape(Join, Shape(Project)),
    match=first_place,
    guards=(names_stay, names_are_distinct),
    rewrite=rewrite,
)

COLUMNS_BELOW_RIGHT = Rule(
    name="columns-below-right",
    equation="join(L, project(R)) = join(L, R)",
    shape=Shape(Join, ANY, Shape(Project)),
    match=second_place,
    guards=(names_stay, names_are_distinct),
    rewrite=rewrite,
)
