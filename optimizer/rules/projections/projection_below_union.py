"""Push a projection below a union.

    project(f, union(A, .., Z))  =  union(project(f, A), .., project(f, Z))

Why      A row of a union is an unchanged row of one input, and f depends on this row alone.
Gain     The union merges smaller rows; in each input the projection meets others, and joins can be
         distributed over the union.
Source   thesis, (10.5)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.changing_places import below_each
from midstream.optimizer.rules.measures import projected
from midstream.optimizer.rules.readings import as_matched
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Project, Union
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[Node]:
    """The union of the projected inputs, if its schema is the same; inputs may show that a value is known."""
    union = node.inputs[0]
    pushed = below_each(node, union)
    if pushed.schema == node.schema:
        yield pushed


PROJECTION_BELOW_UNION = Rule(
    name="projection-below-union",
    equation="project(f, union(L, R)) = union(project(f, L), project(f, R))",
    shape=Shape(Project, Shape(Union)),
    match=match,
    rewrite=as_matched,
    measure=projected,
)
