"""Comparisons in SQL: an integer beside a float is compared as the nearest float.

The same holds in arithmetic and set operations. Floats are dense up to 2⁵³ only; beyond, several integers
have one nearest float, and are equal to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from midstream.plans.expressions.expressions import Binary, Cast, Const, Expression
from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.finite import within_floats
from midstream.plans.values.schema import Schema, Type

DENSE = 2**53
"""The limit up to which every integer is a float."""


def comparison(operator: str, left: Expression, right: Expression, schema: Schema) -> Binary:
    """A comparison of two values over the columns of a schema.

    >>> from midstream.plans.expressions.expressions import Col
    >>> from midstream.plans.values.schema import parse_column
    >>> columns = Schema((parse_column("k", "integer"), parse_column("x", "float")))
    >>> print(comparison("==", Col("k"), Col("x"), columns))
    cast(k as float) = x
    >>> print(comparison("<", Col("k"), Const(2.5), columns))
    k < 2.5
    """
    return Binary(operator, *compared([left, right], schema))


def compared(values: Sequence[Expression], schema: Schema) -> list[Expression]:
    """Values that are compared; beside a float, integers become floats, unless that makes no difference."""
    try:
        kinds = [value.kind(schema).type for value in values]
    except MidstreamError:  # the caller checks the kind, and reports the error at its place
        return list(values)
    floats = [value for value, kind in zip(values, kinds, strict=True) if kind is Type.FLOAT]
    if not floats or all(isinstance(one, Const) and abs(one.value) < DENSE for one in floats):
        return list(values)
    return [
        _as_float(value) if kind is Type.INTEGER else value for value, kind in zip(values, kinds, strict=True)
    ]


def _as_float(value: Expression) -> Expression:
    if not isinstance(value, Const):
        return Cast(value, Type.FLOAT)
    return value if value.value == within_floats(value.value) else Const(within_floats(value.value))
