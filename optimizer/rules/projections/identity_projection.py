"""Leave out a projection to the same columns.

    project(all columns, S)  =  S

Why      Each row is mapped to itself.
Gain     One operator less; the operators above and below become adjacent.
Source   ours
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import as_matched, operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col


def match(node: Node) -> Iterable[Node]:
    """The input, if its columns are those of the projection, in the same order."""
    below = node.inputs[0]
    if operator_of(node, Project).columns == tuple((name, Col(name)) for name in below.schema.names):
        yield below


IDENTITY_PROJECTION = Rule(
    name="identity-projection",
    equation="project(all columns, S) = S",
    shape=Shape(Project),
    match=match,
    rewrite=as_matched,
    measure=operators,
)
