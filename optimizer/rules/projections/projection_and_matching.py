"""Push a projection below a semi-join or an anti-join, or pull it up.

    op(c, project(f, L), R)  =  project(f, op(c ∘ f, L, R))        for op a semi-join or an anti-join

Why      c reads only columns that f does not change, so rows have the same matches; f computes each row
         separately.
Gain     Above: columns are computed for kept rows only, projections become adjacent, and a join below the
         projection can change places. Below: smaller rows are kept, and each is computed once.
Guard    No column of L that f hides, and none that f computes, may have the name of a column of R.
Source   ours, by the function f of (8.10), (8.11) with erratum 5, and (8.16)

The columns that c compares must be plain columns above and below, as operators can look up nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from midstream.optimizer.rules.readings import condition_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.substitution import definitions, substituted
from midstream.plans.algebra.operators import Matching, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, Expression


def match_above(node: Node) -> Iterable[Mapping[str, Expression]]:
    """The definitions of the projected columns, if the compared ones are plain columns."""
    by = definitions(node.inputs[0])
    if all(isinstance(by[name], Col) for name in condition_of(node).columns() & by.keys()):
        yield by


def hides_other_names(node: Node, by: Mapping[str, Expression]) -> bool:
    """True if no column below the projection has the name of one that is looked up: it would be ambiguous."""
    left, right = node.inputs
    return not set(left.inputs[0].schema.names) & set(right.schema.names)


def rewrite_above(node: Node, by: Mapping[str, Expression]) -> Node:
    """The projection of the rows that are kept."""
    left, right = node.inputs
    return Node(left.operator, (_matching(node, by, left.inputs[0], right),))


def match_below(node: Node) -> Iterable[Mapping[str, Expression]]:
    """By compared column, its column in the projection; nothing if a compared column is missing there."""
    by = definitions(node)
    names = {one.name: Col(name) for name, one in by.items() if isinstance(one, Col)}
    matching = node.inputs[0]
    if condition_of(matching).columns() & set(matching.schema.names) <= names.keys():
        yield names


def gives_other_names(node: Node, names: Mapping[str, Expression]) -> bool:
    """True if no column of the projection has the name of a column that is looked up."""
    return not set(node.schema.names) & set(node.inputs[0].inputs[1].schema.names)


def rewrite_below(node: Node, names: Mapping[str, Expression]) -> Node:
    """The operator over the projection of its left side."""
    matching = node.inputs[0]
    left, right = matching.inputs
    return _matching(matching, names, Node(node.operator, (left,)), right)


def _matching(node: Node, by: Mapping[str, Expression], left: Node, right: Node) -> Node:
    """The operator over other rows, with expressions in place of left columns."""
    assert isinstance(node.operator, Matching)
    here = {name: by[name] for name in node.inputs[0].schema.names if name in by}
    return Node(type(node.operator)(substituted(node.operator.condition, here)), (left, right))


PROJECTION_ABOVE_MATCHING = Rule(
    name="projection-above-matching",
    equation="op(project(f, L), R) = project(f, op(L, R))",
    shape=Shape(Matching, Shape(Project)),
    match=match_above,
    guards=(hides_other_names,),
    rewrite=rewrite_above,
)

PROJECTION_BELOW_MATCHING = Rule(
    name="projection-below-matching",
    equation="project(f, op(L, R)) = op(project(f, L), R)",
    shape=Shape(Project, Shape(Matching)),
    match=match_below,
    guards=(gives_other_names,),
    rewrite=rewrite_below,
)
