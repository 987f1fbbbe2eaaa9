"""Faithful expressions: those that are equal on equal rows."""

from __future__ import annotations

from functools import lru_cache, reduce

from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import expressions
from midstream.plans.equivalence.terms import Terms
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.schema import Schema, Type

EXACT = (Type.INTEGER, Type.STRING, Type.BOOLEAN)
"""Types whose equal values are identical.

The floats 0.0 and -0.0 are equal but differ as texts, as do the values 1 and 1.0 of type any.
"""


@lru_cache(maxsize=1024)
def is_faithful(expression: Expression, schema: Schema) -> bool:
    """True if an expression has equal values on equal rows.

    >>> from midstream.plans.expressions.operands import col
    >>> some = Schema.of(x="any")
    >>> is_faithful((col("x") == 1).expression, some), is_faithful(col("x").cast("string").expression, some)
    (True, False)
    """
    terms = Terms()
    return terms.is_faithful(_read(terms, expression, schema))


def asks_equal_rows_alike(node: Node) -> bool:
    """True if no expression of a node's operator distinguishes equal rows.

    Then one of several equal rows may stand for the others, on which the expression is not evaluated.
    """
    asked = expressions(node)
    schema = reduce(Schema.concat, (child.schema for child in node.inputs)) if asked else Schema(())
    return all(is_faithful(expression, schema) for expression in asked)


def tells_no_equal_rows_apart(node: Node, matched: object) -> bool:
    """True if the top operator does not distinguish equal rows, of which one is kept."""
    return asks_equal_rows_alike(node)


def below_tells_no_equal_rows_apart(node: Node, matched: object) -> bool:
    """True if the operator below does not distinguish equal rows, of which one is kept."""
    return asks_equal_rows_alike(node.inputs[0])


def _read(terms: Terms, expression: Expression, schema: Schema) -> int:
    columns = enumerate(schema)
    names = {column.name: terms.column((0, i, column.type in EXACT)) for i, column in columns}
    return terms.read(expression, schema, names)
