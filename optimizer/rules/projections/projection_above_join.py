"""Pull a projection between two joins above the upper one.

    join(c, project(f, L), R)  =  project(f, join(c ∘ f, L, R))        likewise for a projection of R

Why      f can be computed from the pair as well as from the row below the projection, which is part of it.
Gain     Joins become adjacent and can change places: derived streams and views are optimised like flat
         queries.
Guard    Columns of L that f hides are visible to the upper join: R must not have a column of such a name.
Source   ours, by the function f of (8.10)

A projection of a single input stays, as it makes rows smaller before they are kept; so does one that computes
a column that the upper join compares, as a join can look up columns only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from midstream.optimizer.rules.measures import projecting
from midstream.optimizer.rules.narrowed import is_joined
from midstream.optimizer.rules.readings import condition_of, operator_of
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.optimizer.rules.substitution import definitions, substituted
from midstream.plans.algebra.operators import Join, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, Expression, conjunction, conjuncts


def match_on(side: int) -> Callable[[Node], Iterable[int]]:
    """Match a projection of that side that hides a join."""

    def match(node: Node) -> Iterable[int]:
        """The side, if a join is below and the join above compares no column that the projection computes."""
        projection = node.inputs[side]
        by = definitions(projection)
        compared = condition_of(node).columns() & by.keys()
        if is_joined(projection.inputs[0]) and all(isinstance(by[name], Col) for name in compared):
            yield side

    return match


def names_are_distinct(node: Node, side: int) -> bool:
    """True if no column below the projection has the name of one of the other side: it would be ambiguous."""
    # Names of the projection itself are not those of the other side: the join is there.
    return not set(node.inputs[side].inputs[0].schema.names) & set(node.inputs[1 - side].schema.names)


def rewrite(node: Node, side: int) -> Node:
    """The projection of that side pulled up."""
    join, projection = operator_of(node, Join), node.inputs[side]
    by = definitions(projection)
    condition = conjunction(substituted(part, by) for part in conjuncts(join.condition))
    chosen = tuple((name, substituted(Col(name), by)) for name in join.columns)
    inputs = list(node.inputs)
    (inputs[side],) = projection.inputs
    return Node(Project(chosen), (Node(Join(condition, _read(chosen, inputs)), tuple(inputs)),))


def _read(chosen: Iterable[tuple[str, Expression]], inputs: Sequence[Node]) -> tuple[str, ...]:
    """The columns of inputs that expressions read, in this order.

    There is always one: a row without columns tells a reader nothing.
    """
    order = [name for _, expression in chosen for name in _columns_of(expression)]
    return tuple(dict.fromkeys(order)) or inputs[0].schema.names[:1]


def _columns_of(expression: Expression) -> list[str]:
    return sorted(expression.columns())


PROJECTION_ABOVE_LEFT = Rule(
    name="projection-above-left",
    equation="join(c, project(f, L), R) = project(f, join(c ∘ f, L, R))",
    shape=Shape(Join, Shape(Project)),
    match=match_on(0),
    guards=(names_are_distinct,),
    rewrite=rewrite,
    measure=projecting,
)

PROJECTION_ABOVE_RIGHT = Rule(
    name="projection-above-right",
    equation="join(c, L, project(f, R)) = project(f, join(c ∘ f, L, R))",
    shape=Shape(Join, ANY, Shape(Project)),
    match=match_on(1),
    guards=(names_are_distinct,),
    rewrite=rewrite,
    measure=projecting,
)
