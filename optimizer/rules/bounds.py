"""Comparisons with constants, and implications between them.

No comparison is true of an unknown value, so each implies that its value is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from midstream.plans.expressions.expressions import (
    MIRRORED,
    PYTHON_OPERATORS,
    Binary,
    Const,
    Expression,
    IsNull,
    Not,
)
from midstream.plans.values.schema import Schema, Type

KNOWN, UNKNOWN = "known", "unknown"


class Bound(NamedTuple):
    """A comparison of a value with a constant, or the condition that it is known or unknown."""

    value: Expression
    operator: str
    constant: Any = None

    @property
    def is_upper(self) -> bool:
        """True if it bounds the value from above."""
        return self.operator in ("<", "<=")

    @property
    def is_lower(self) -> bool:
        """True if it bounds the value from below."""
        return self.operator in (">", ">=")

    def implies(self, other: Bound) -> bool:
        """True if the other bound is true wherever this one is."""
        if self == other:
            return True
        if self.value != other.value or UNKNOWN in (self.operator, other.operator) or self.operator == KNOWN:
            return False
        if other.operator == KNOWN:
            return True
        if self.operator == "==":
            return bool(PYTHON_OPERATORS[other.operator](self.constant, other.constant))
        if other.operator == "!=":
            return not PYTHON_OPERATORS[self.operator](other.constant, self.constant)
        if (self.is_upper and other.is_upper) or (self.is_lower and other.is_lower):
            is_strict = self.operator in "<>" or other.operator not in "<>"
            inside = PYTHON_OPERATORS["<" if self.is_upper else ">"](self.constant, other.constant)
            return inside or (self.constant == other.constant and is_strict)
        return False

    def excludes(self, other: Bound) -> bool:
        """True if no row satisfies both bounds."""
        return self._excludes(other) or other._excludes(self)

    def _excludes(self, other: Bound) -> bool:
        if self.value != other.value:
            return False
        if self.operator == UNKNOWN:
            return other.operator != UNKNOWN
        if KNOWN in (self.operator, other.operator) or other.operator == UNKNOWN:
            return False
        if self.operator == "==":
            return not PYTHON_OPERATORS[other.operator](self.constant, other.constant)
        if self.is_lower and other.is_upper:
            both = self.operator == ">=" and other.operator == "<="
            return not PYTHON_OPERATORS["<=" if both else "<"](self.constant, other.constant)
        return False


def bound(part: Expression, schema: Schema) -> Bound | None:
    """The bound that a condition states, for ordered values; < and > of integers become <= and >=.

    >>> from midstream.plans.expressions.operands import col
    >>> small = bound((7 > col("x")).expression, Schema.of(x="integer"))
    >>> small.operator, small.constant
    ('<=', 6)
    """
    match part:
        case IsNull(value):
            return Bound(value, UNKNOWN)
        case Not(IsNull(value)):
            return Bound(value, KNOWN)
        case Binary(word, Const(constant), value) if word in MIRRORED and not isinstance(value, Const):
            return _ordered(value, MIRRORED[word], constant, schema)
        case Binary(word, value, Const(constant)) if word in MIRRORED and not isinstance(value, Const):
            return _ordered(value, word, constant, schema)
    return None


def _ordered(value: Expression, word: str, constant: Any, schema: Schema) -> Bound | None:
    type_ = value.kind(schema).type
    if type_ is Type.INTEGER and type(constant) is int:
        if word == "<":
            return Bound(value, "<=", constant - 1)
        return Bound(value, ">=", constant + 1) if word == ">" else Bound(value, word, constant)
    is_number = type_ in (Type.INTEGER, Type.FLOAT) and type(constant) in (int, float)
    is_text = type_ is Type.STRING and type(constant) is str
    return Bound(value, word, constant) if is_number or is_text else None
