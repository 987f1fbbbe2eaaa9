"""Expressions over the columns of a projection, as expressions over those below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from midstream.optimizer.rules.readings import operator_of
from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, Const, Expression, is_large, ordered, walk

Definitions = Mapping[str, Expression]
"""By column name, the expression that the column stands for."""


def definitions(projection: Node) -> dict[str, Expression]:
    """The expressions of the columns of a projection, by name."""
    return dict(operator_of(projection, Project).columns)


def substituted(expression: Expression, by: Definitions) -> Expression:
    """An expression with other expressions in place of columns; columns without one stay.

    >>> from midstream.plans.expressions.operands import col
    >>> str(substituted((col("x") > col("y")).expression, {"x": (col("z") + 1).expression}))
    '(z + 1) > y'
    """
    if isinstance(expression, Col):
        return by.get(expression.name, expression)
    return ordered(expression.rebuilt(lambda part: substituted(part, by)))


def all_substituted(expressions: Iterable[Expression], by: Definitions) -> list[Expression] | None:
    """Substitute in several expressions; None if that computes something twice or makes them too large.

    Otherwise expressions would double with each projection, until Python cannot compile them.

    >>> from midstream.plans.expressions.operands import col
    >>> x, twice = col("x"), {"x": (col("z") + 1).expression}
    >>> all_substituted([(x + x).expression], twice)
    >>> [str(one) for one in all_substituted([(x + x).expression], {"x": Col("z")}) or ()]
    ['z + z']
    """
    expressions = list(expressions)
    read = Counter(part.name for e in expressions for part in walk(e) if isinstance(part, Col))
    computed = [times for name, times in read.items() if not is_simple(by.get(name))]
    if any(times > 1 for times in computed):
        return None
    made = [substituted(expression, by) for expression in expressions]
    return None if computed and any(map(is_large, made)) else made


def is_simple(expression: Expression | None) -> bool:
    """True if computing it again costs nothing: a column, which may stay unchanged, or a constant."""
    return expression is None or isinstance(expression, Col | Const)
