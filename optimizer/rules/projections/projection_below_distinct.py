"""Push a projection that keeps different rows different below duplicate elimination.

    project(f, distinct(S))  =  distinct(project(f, S))        if f renames columns and drops none

Why      Rows are equal after f exactly if they were before.
Gain     Projections become adjacent, and operators above meet the duplicate elimination.
Guard    If f drops a column, rows may become equal. If it computes one, equal rows may become different: 1
         and 1.0 are equal, and their texts are not.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from midstream.optimizer.rules.measures import projected
from midstream.optimizer.rules.readings import its_operator
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col


def drops_nothing(node: Node, matched: Project) -> bool:
    """True if the projection keeps every column, so that different rows stay different."""
    kept = {expression.name for expression in matched.expressions if isinstance(expression, Col)}
    return kept == set(node.inputs[0].schema.names)


def computes_nothing(node: Node, matched: Project) -> bool:
    """True if the projection only has existing columns, so that equal rows stay equal."""
    return all(isinstance(expression, Col) for expression in matched.expressions)


def rewrite(node: Node, matched: Project) -> Node:
    """Duplicate elimination of the projected rows."""
    distinct = node.inputs[0]
    return Node(distinct.operator, (Node(matched, distinct.inputs),))


PROJECTION_BELOW_DISTINCT = Rule(
    name="projection-below-distinct",
    equation="project(f, distinct(S)) = distinct(project(f, S))",
    shape=Shape(Project, Shape(Distinct)),
    match=its_operator,
    guards=(drops_nothing, computes_nothing),
    rewrite=rewrite,
    measure=projected,
)
