"""Push a filter below a projection, with the expressions of columns substituted for them.

    filter(p, project(f, S))  =  project(f, filter(p ∘ f, S))

Why      p reads values that f has computed from a row; p ∘ f computes them itself.
Gain     Columns are computed for fewer rows; the filter can move on, and projections become adjacent.
Source   thesis, section 10.3.1

A part that reads a computed column more than once stays above: views upon views would double it each time. So
do parts that would become too large.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.filters.filtered import Parts, filtered, parts_of, with_free, without
from midstream.optimizer.rules.measures import above_projections
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.substitution import all_substituted, definitions
from midstream.plans.algebra.operators import Filter, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression


def match(node: Node) -> Iterable[Parts]:
    """The parts of the condition that compute nothing twice below and do not become too large, in order."""
    by, moved = definitions(node.inputs[0]), list[Expression]()
    for part in parts_of(node):
        if all_substituted([*moved, part], by) is not None:
            moved.append(part)
    return with_free(tuple(moved))


def rewrite(node: Node, matched: Parts) -> Node:
    """The projection of the filtered rows; the other parts stay above."""
    projection = node.inputs[0]
    parts = all_substituted(matched, definitions(projection))
    assert parts is not None
    below = projection.with_input(0, filtered(parts, projection.inputs[0]))
    return filtered(without(parts_of(node), matched), below)


FILTER_BELOW_PROJECTION = Rule(
    name="filter-below-projection",
    equation="filter(p, project(f, S)) = project(f, filter(p ∘ f, S))",
    shape=Shape(Filter, Shape(Project)),
    match=match,
    rewrite=rewrite,
    measure=above_projections,
)
