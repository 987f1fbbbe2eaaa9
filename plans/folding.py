"""Expressions of constants, computed before rows come.

The value is what the compiled expression gives for a row. What gives no value that a constant can stand for
stays as it is: what raises, what is unknown, what is no finite number. So nothing is computed away that a run
would tell of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from midstream.plans.expressions import (
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
from midstream.plans.schema import Schema

LARGEST, LONGEST = 2**64, 256
"""Integers and strings beyond them are not computed with: products of products would fill the memory."""

_FOLDED = frozenset(
    {
        "abs",
        "ceil",
        "coalesce",
        "floor",
        "greatest",
        "is distinct from",
        "least",
        "length",
        "lower",
        "mod",
        "negate",
        "nullif",
        "round",
        "sign",
        "trunc",
        "upper",
        "//",
        "||",
    }
)
"""The functions that are computed. None gives more than it takes."""

_MADE: Mapping[Any, Callable[..., Expression]] = {
    **{
        symbol: lambda _, *parts, symbol=symbol: Binary(symbol, *parts) for symbol in ARITHMETIC + COMPARISONS
    },
    "cast": lambda head, part: Cast(part, head[2]),
    "call": lambda head, *parts: Call(head[1], parts),
}
"""By the first word of a term's head, the expression that it stands for."""


def folded(head: tuple[Hashable, ...], values: Sequence[Any]) -> Const | None:
    """The value of a term of constants; None where it is not known before a row comes.

    Cost: O(1), about 50 µs, as the expression is compiled.
    """
    if head[0] not in _MADE or (head[0] == "call" and head[1] not in _FOLDED):
        return None
    if not all(map(_is_small, values)):
        return None
    expression = _MADE[head[0]](head, *map(Const, values))
    try:
        value = compile_row(expression, Schema(()))(())
    except Exception:
        return None
    is_finite = not isinstance(value, float) or math.isfinite(value)
    # A column of floats may hold integers. As a text, an integer is another value than the float.
    fits = value is not None and CONSTANT_TYPES.get(type(value)) is expression.kind(Schema(())).type
    return Const(value) if fits and is_finite else None


def _is_small(value: Any) -> bool:
    match value:
        case bool() | float():
            return True
        case int():
            return abs(value) < LARGEST
        case str():
            return len(value) <= LONGEST
    return False
