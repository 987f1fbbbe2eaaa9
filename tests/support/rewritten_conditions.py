"""Conditions, and what looks like them."""

from __future__ import annotations

from collections.abc import Iterator

from midstream.plans.expressions.expressions import (
    ARITHMETIC,
    COMPARISONS,
    TRUE,
    Binary,
    Call,
    Case,
    Const,
    Expression,
    IsNull,
    Logic,
    Not,
)
from midstream.plans.values.errors import ExpressionError
from midstream.plans.values.schema import Schema, Type

FALSE = Const(False)
ORDER = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def rewritten(condition: Expression, schema: Schema) -> list[Expression]:
    """Conditions with one of its parts rewritten, rightly or not."""
    return [new for new in _everywhere(condition, schema) if _fits(new, schema)]


def _everywhere(expression: Expression, schema: Schema) -> Iterator[Expression]:
    """An expression with one of its parts rewritten."""
    yield from _in_place(expression, schema)
    match expression:
        case Not(condition):
            yield from map(Not, _everywhere(condition, schema))
        case Logic(operator, parts):
            for i, part in enumerate(parts):
                for new in _everywhere(part, schema):
                    yield Logic(operator, (*parts[:i], new, *parts[i + 1 :]))
        case Binary(operator, left, right):
            for new in _everywhere(left, schema):
                yield Binary(operator, new, right)
            for new in _everywhere(right, schema):
                yield Binary(operator, left, new)


def _in_place(expression: Expression, schema: Schema) -> Iterator[Expression]:
    """What looks like an expression, and may have the same value or not."""
    match expression:
        case Not(Logic(operator, parts)):
            for word in ("and", "or"):
                yield Logic(word, tuple(map(Not, parts)))
        case Not(Binary(operator, left, right)) if operator in COMPARISONS:
            for other in COMPARISONS:
                yield Binary(other, left, right)
        case Not(Not(inner)):
            yield inner
        case Logic(operator, parts):
            yield Logic(operator, parts[::-1])
            yield parts[0]
            yield Not(Logic("or" if operator == "and" else "and", tuple(map(Not, parts))))
            for i, part in enumerate(parts):
                if isinstance(part, Logic):
                    rest = parts[:i] + parts[i + 1 :]
                    yield Logic(
                        part.operator, tuple(Logic(operator, (one, *rest)) for one in part.conditions)
                    )
                    yield Logic(operator, (*part.conditions, *rest))
        case Call("in", (value, *options)):
            equal = tuple(Binary("==", value, option) for option in options)
            yield equal[0]
            if len(equal) > 1:
                yield Logic("or", equal)
                yield Logic("and", equal)
        case Binary(operator, left, right):
            yield Binary(ORDER.get(operator, operator), right, left)
            yield Binary(operator, right, left)
            if operator in ORDER:
                for other in ORDER:
                    yield Binary(other, left, right)
                    if right.kind(schema).type.is_numeric:
                        yield Binary(other, left, Binary("+", right, Const(1)))
                        yield Binary(other, Binary("+", left, Const(1)), right)
            if isinstance(left, Binary):
                yield Binary(left.operator, left.left, Binary(operator, left.right, right))
                yield Binary(operator, left.left, Binary(left.operator, left.right, right))
            if isinstance(right, Binary) and operator in ARITHMETIC and right.operator in ARITHMETIC:
                yield Binary(right.operator, Binary(operator, left, right.left), right.right)
                yield Binary(
                    right.operator, Binary(operator, left, right.left), Binary(operator, left, right.right)
                )
        case Const(value) if type(value) is int:
            yield Const(value + 1)
            yield Binary("+", Const(value - 1), Const(1))
        case IsNull(value):
            yield FALSE
            yield IsNull(Not(IsNull(value)))
    if expression.kind(schema).type is Type.BOOLEAN:
        yield Not(expression)
        yield Not(Not(expression))
        yield Logic("and", (expression, TRUE))
        yield Logic("or", (expression, Logic("and", (expression, Not(expression)))))
        yield Binary("==", expression, TRUE)
        yield Case(((expression, TRUE),), FALSE)


def _fits(expression: Expression, schema: Schema) -> bool:
    try:
        expression.kind(schema)
    except ExpressionError:
        return False
    return True
