"""Conditions with their negations moved inwards as far as three-valued logic allows."""

from __future__ import annotations

from midstream.plans.expressions.expressions import (
    OPPOSITE,
    Binary,
    Expression,
    Logic,
    Not,
    conjunction,
    disjunction,
    ordered,
)
from midstream.plans.values.schema import Schema, Type


def inwards(condition: Expression, schema: Schema) -> Expression:
    """An equivalent condition with negations further in."""
    match condition:
        case Not(Not(inner)) if _is_boolean(inner, schema):
            return inwards(inner, schema)
        case Not(Logic(word, parts)) if all(_is_boolean(part, schema) for part in parts):
            put = disjunction if word == "and" else conjunction
            return put([inwards(Not(part), schema) for part in parts])
        case Not(Binary(word, left, right)) if word in OPPOSITE and _are_typed(left, right, schema):
            return ordered(Binary(OPPOSITE[word], left, right))
        case Logic(word, parts) if all(_is_boolean(part, schema) for part in parts):
            put = disjunction if word == "or" else conjunction
            moved = [inwards(part, schema) for part in parts]
            # Without a negation that moves, the parts stay in their order: it need not be the canonical one.
            return put(moved) if moved != list(parts) else condition
    return condition


def _is_boolean(condition: Expression, schema: Schema) -> bool:
    return condition.kind(schema).type is Type.BOOLEAN


def _are_typed(left: Expression, right: Expression, schema: Schema) -> bool:
    """True if the types tell that the values can be compared."""
    return Type.ANY not in (left.kind(schema).type, right.kind(schema).type)
