"""Make one projection of two.

    project(f, project(g, S))  =  project(f ∘ g, S)        if nothing is computed twice

Why      f reads values that g has computed from the same row.
Gain     One operator less, and no intermediate row.
Source   thesis, section 10.3.1

A column that g computes and f reads more than once stays below: expressions would double with each
projection. So do expressions that would become too large.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import as_matched, operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.substitution import all_substituted, definitions
from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[Node]:
    """The merged projection, if it computes nothing twice and has the same schema.

    The schema may change because more is known of a constant than of a column.
    """
    upper, lower = operator_of(node, Project), node.inputs[0]
    by = definitions(lower)
    if (computed := all_substituted(upper.expressions, by)) is not None:
        both = Project(tuple(zip((name for name, _ in upper.columns), computed, strict=True)))
        merged = Node(both, lower.inputs)
        if merged.schema == node.schema:
            yield merged


PROJECTIONS_MERGING = Rule(
    name="projections-merging",
    equation="project(f, project(g, S)) = project(f ∘ g, S)",
    shape=Shape(Project, Shape(Project)),
    match=match,
    rewrite=as_matched,
    measure=operators,
)
