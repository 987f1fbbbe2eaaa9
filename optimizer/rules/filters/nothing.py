"""Leave out operators on several inputs that never have a result.

    filter(FALSE, join(L, R))  =  filter(FALSE, project(constants, L))        and so for every operator on
        several inputs

    join(filter(FALSE, L), R)  =  filter(FALSE, project(constants, L))        and so for operators that are
        empty if that input is

Why      Neither side has a row; the values of rows that do not exist do not matter.
Gain     The other inputs are not read, and nothing is kept.
Guard    If an input is empty and the others are not, a union or a difference has the rows of these.
Source   ours
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import combining
from midstream.optimizer.rules.readings import as_matched
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.true_conditions import NEVER, true_conditions
from midstream.plans.algebra.operators import (
    AntiJoin,
    Difference,
    Filter,
    Intersection,
    Join,
    MaxUnion,
    Project,
    SemiJoin,
    StrictDifference,
    Union,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import FALSE, Cast, Const, Expression
from midstream.plans.values.schema import Column, Type

COMBINING = (AntiJoin, Difference, Intersection, Join, MaxUnion, SemiJoin, StrictDifference, Union)
SOME = {Type.INTEGER: Const(0), Type.FLOAT: Const(0.0), Type.STRING: Const(""), Type.BOOLEAN: FALSE}
"""A known value of each type."""


def match(node: Node) -> Iterable[Node]:
    """An empty subplan over the first input, if some input is empty or a filter is above."""
    combined = node.inputs[0] if isinstance(node.operator, Filter) else node
    if isinstance(node.operator, Filter) or any(map(is_empty, node.inputs)):
        values = [(column.name, _some(column)) for column in node.schema]
        columns = tuple((name, value) for name, value in values if value is not None)
        if len(columns) == len(values):
            yield Node(Filter(FALSE), (Node(Project(columns), combined.inputs[:1]),))


def is_empty(node: Node) -> bool:
    """True if the conditions of a subplan imply that it never has a row."""
    return bool(true_conditions(node) & NEVER)


def gives_nothing(node: Node, matched: Node) -> bool:
    """True if the whole operator, and not only one of its inputs, is always empty."""
    return is_empty(node)


def _some(column: Column) -> Expression | None:
    """A value that the column may have; None for type any without unknown values."""
    if column.type is Type.ANY:
        return Const(None) if column.nullable else None
    return Cast(Const(None), column.type) if column.nullable else SOME[column.type]


NOTHING_COMBINED = Rule(
    name="nothing-combined",
    equation="join(filter(FALSE, L), R) = filter(FALSE, project(constants, L))",
    shape=Shape(COMBINING),
    match=match,
    guards=(gives_nothing,),
    rewrite=as_matched,
    measure=combining,
)

NOTHING_WANTED = Rule(
    name="nothing-wanted",
    equation="filter(FALSE, join(L, R)) = filter(FALSE, project(constants, L))",
    shape=Shape(Filter, Shape(COMBINING)),
    match=match,
    guards=(gives_nothing,),
    rewrite=as_matched,
    measure=combining,
)
