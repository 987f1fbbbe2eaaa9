"""Expressions over the columns of a projection, as expressions over those below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from midstream.optimizer.rules.readings import operator_of
from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, Expression, ordered

Definitions = Mapping[str, Expression]
"""By the names of columns, what they stand for."""


def definitions(projection: Node) -> dict[str, Expression]:
    """What the columns of a projection stand for."""
    return dict(operator_of(projection, Project).columns)


def substituted(expression: Expression, by: Definitions) -> Expression:
    """An expression with other expressions in the place of columns; columns without one stay.

    >>> from midstream.plans.expressions.operands import col
    >>> str(substituted((col("x") > col("y")).expression, {"x": (col("z") + 1).expression}))
    '(z + 1) > y'
    """
    if isinstance(expression, Col):
        return by.get(expression.name, expression)
    return ordered(expression.rebuilt(lambda part: substituted(part, by)))


def all_substituted(expressions: Iterable[Expression], by: Definitions) -> list[Expression]:
    """The same for several."""
    return [substituted(expression, by) for expression in expressions]
