"""Push a filter below a projection, with what the columns stand for in their place.

    filter(p, project(f, S))  =  project(f, filter(p ∘ f, S))

Why      Of a row, p asks the values that f has computed of it; p ∘ f computes them itself.
Gain     Columns are computed for fewer rows; the filter can move on, and projections come together.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from midstream.optimizer.rules.filters.filtered import filtered
from midstream.optimizer.rules.measures import projecting
from midstream.optimizer.rules.readings import its_operator
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.substitution import all_substituted, definitions
from midstream.plans.algebra.operators import Filter, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import conjuncts


def rewrite(node: Node, matched: Filter) -> Node:
    """The projection of the filtered rows."""
    projection = node.inputs[0]
    parts = all_substituted(conjuncts(matched.condition), definitions(projection))
    return projection.with_input(0, filtered(parts, projection.inputs[0]))


FILTER_BELOW_PROJECTION = Rule(
    name="filter-below-projection",
    equation="filter(p, project(f, S)) = project(f, filter(p ∘ f, S))",
    shape=Shape(Filter, Shape(Project)),
    match=its_operator,
    rewrite=rewrite,
    measure=projecting,
)
