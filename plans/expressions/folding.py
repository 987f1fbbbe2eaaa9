"""Folding of constant expressions before rows arrive.

The value is that of the compiled expression for a row. Expressions stay as they are if they raise, or if
their value is unknown or no finite number. Folding therefore hides nothing that a run would report.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from midstream.plans.expressions.expressions import (
    ARITHMETIC,
    COMPARISONS,
    CONSTANT_TYPES,
    Binary,
    Call,
    Cast,
    Const,
    Expression,
    compile_row,
)
from midstream.plans.values.schema import Schema, Type

LARGEST, LONGEST = 2**64, 256
"""Limits of integers, and of the length of strings, in folding: repeated products would fill the memory."""

FOLDED = frozenset((
    "abs", "ceil", "coalesce", "floor", "greatest", "least", "length", "lower", "mod", "negate", "nullif",
    "round", "sign", "trunc", "upper", "//", "||",
))  # fmt: skip
"""The functions that are folded; their results are not much larger than their arguments."""


def folded(head: tuple[Hashable, ...], values: Sequence[Any]) -> Const | None:
    """The value of a term of constants; None if it is not known before a row arrives.

    Cost: O(1), about 50 µs, as the expression is compiled.

    >>> folded(("/", None), (7, 2)), folded(("/", None), (7, 0)), folded(("*", None), (1e308, 10))
    (Const(value=3.5), None, None)
    """
    expression = _expression(head, tuple(map(Const, values)))
    if expression is None or not all(map(_is_small, values)):
        return None
    try:
        value = compile_row(expression, Schema(()))(())
    except Exception:
        return None
    is_finite = not isinstance(value, float) or math.isfinite(value)
    # A column of floats may hold integers, but the text of an integer differs from that of the equal float.
    fits = value is not None and CONSTANT_TYPES.get(type(value)) is expression.kind(Schema(())).type
    return Const(value) if fits and is_finite else None


def _expression(head: tuple[Hashable, ...], parts: tuple[Const, ...]) -> Expression | None:
    match head:
        case ("cast", _, Type() as type_):
            return Cast(parts[0], type_)
        case ("call", str(name), *_) if name in FOLDED:
            return Call(name, parts)
        case (str(symbol), _) if symbol in ARITHMETIC + COMPARISONS:
            return Binary(symbol, *parts)
    return None


def _is_small(value: Any) -> bool:
    match value:
        case bool() | float():
            return True
        case int():
            return abs(value) < LARGEST
        case str():
            return len(value) <= LONGEST
    return False
