"""Leave out a projection of rows that are only looked up.

    op(c, L, project(f, R))  =  op(c ∘ f, L, R)        for op a semi-join or an anti-join

Why      Only the columns that c reads matter in a row of R, and these exist before the projection too.
Gain     One operator less. The price is memory, as whole rows of R are kept.
Guard    Columns of R that f hides become visible, so L must not have a column of such a name.
Source   ours, by (8.11) with erratum 5, and (8.16)

The columns that c compares must exist before the projection too, as operators can look up nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.optimizer.rules.substitution import definitions, substituted
from midstream.plans.algebra.operators import Matching, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, Expression


def match(node: Node) -> Iterable[Mapping[str, Expression]]:
    """The definitions of the projected columns, if the compared ones are plain columns."""
    assert isinstance(node.operator, Matching)
    by = definitions(node.inputs[1])
    if all(isinstance(by[name], Col) for name in node.operator.condition.columns() & by.keys()):
        yield by


def hides_other_names(node: Node, by: Mapping[str, Expression]) -> bool:
    """True if no column below the projection has the name of one of the left side: it would be ambiguous."""
    left, right = node.inputs
    return not set(right.inputs[0].schema.names) & set(left.schema.names)


def rewrite(node: Node, by: Mapping[str, Expression]) -> Node:
    """The operator without the projection on its right side."""
    assert isinstance(node.operator, Matching)
    left, right = node.inputs
    return Node(type(node.operator)(substituted(node.operator.condition, by)), (left, right.inputs[0]))


MATCHED_PROJECTION_DROPPED = Rule(
    name="matched-projection-dropped",
    equation="op(L, project(f, R)) = op(L, R)",
    shape=Shape(Matching, ANY, Shape(Project)),
    match=match,
    guards=(hides_other_names,),
    rewrite=rewrite,
)
