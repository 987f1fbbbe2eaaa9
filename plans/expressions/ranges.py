"""Ranges in join conditions: the keys of one side that can match a key of the other side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from midstream.plans.expressions.expressions import (
    MIRRORED,
    Apply,
    Binary,
    Const,
    Expression,
    conjunction,
    conjuncts,
    walk,
)
from midstream.plans.values.schema import Schema, Type

_LARGEST_SHIFT = 2**53
"""The largest shift that is exact as a float."""


@dataclass(frozen=True, slots=True)
class Term:
    """One side of a comparison: a key, and the constant that is added to it, if there is one.

    `l.x + 5` is the key `l.x` shifted by 5, so that both ends of a band have the same key.
    """

    expression: Expression
    key: Expression
    shift: int | float = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`, where each term reads columns of its own side only."""

    left: Term
    operator: str
    right: Term

    def mirrored(self) -> Comparison:
        """This comparison with its sides exchanged."""
        return Comparison(self.right, MIRRORED[self.operator], self.left)

    @property
    def is_lower(self) -> bool:
        """True if the comparison bounds the left key from below."""
        return self.operator in (">", ">=")


@dataclass(frozen=True, slots=True)
class Range:
    """Comparisons of one key of the left side with one key of the right side."""

    comparisons: tuple[Comparison, ...]
    parts: tuple[Expression, ...]
    """The parts of the join condition that make these comparisons."""
    residual: Expression
    """The condition that remains to be checked for pairs whose keys are in range."""

    @property
    def keys(self) -> tuple[Expression, Expression]:
        """The keys of both sides."""
        return self.comparisons[0].left.key, self.comparisons[0].right.key


def find_range(condition: Expression, left: Schema, right: Schema) -> Range | None:
    """The range in a join condition, or None if it has none; a range with two ends is preferred.

    >>> from midstream.plans.expressions.operands import col
    >>> sides = Schema.of(x="integer"), Schema.of(y="integer")
    >>> near = (col("y") - 5 <= col("x")) & (col("x") < col("y"))
    >>> band = find_range(near.expression, *sides)
    >>> [str(key) for key in band.keys], len(band.comparisons), str(band.residual)
    (['x', 'y'], 2, 'True')
    >>> find_range((col("x") < 5).expression, *sides) is None
    True
    """
    both = left.concat(right)
    groups: dict[tuple[Expression, Expression], list[tuple[Comparison, Expression]]] = {}
    for part in conjuncts(condition):
        comparison = _comparison(part, left, right)
        if comparison is not None and _is_ordered(comparison, both):
            groups.setdefault((comparison.left.key, comparison.right.key), []).append((comparison, part))
    if not groups:
        return None
    chosen = max(groups.values(), key=lambda group: len({comparison.is_lower for comparison, _ in group}))
    # A comparison that the bounds decide exactly is not checked again for each candidate.
    decided = {part for comparison, part in chosen if is_exact(comparison, both)}
    residual = conjunction(part for part in conjuncts(condition) if part not in decided)
    return Range(tuple(comparison for comparison, _ in chosen), tuple(part for _, part in chosen), residual)


def why_no_range(condition: Expression, left: Schema, right: Schema) -> str | None:
    """The reason why `find_range` returns None; None if it returns a range."""
    if find_range(condition, left, right) is not None:
        return None
    for part in conjuncts(condition):
        if _comparison(part, left, right) is not None:
            return f"{part}: the values of a column of type any, or of a callable, need not be comparable"
    return "no part of the condition compares the left side with the right side by <, <=, > or >="


def is_exact(comparison: Comparison, schema: Schema) -> bool:
    """True if shifting the bounds instead of the keys gives the same result, on both sides.

    It does for integers; floats are rounded after each step.
    """
    terms = (comparison.left, comparison.right)
    if all(term.shift == 0 for term in terms):
        return True
    return all(term.expression.kind(schema).type is Type.INTEGER for term in terms)


def at_least(bound: Any, shift: int | float) -> float:
    """A lower bound of all keys whose rounded sum with a shift is at least `bound`.

    >>> 0.1 + 0.2 >= 0.3, 0.1 >= at_least(0.3, 0.2), 0.1 >= 0.3 - 0.2
    (True, True, True)
    """
    return _shifted(bound, shift, -1)


def at_most(bound: Any, shift: int | float) -> float:
    """An upper bound of all keys whose rounded sum with a shift is at most `bound`."""
    return _shifted(bound, shift, 1)


def _shifted(bound: Any, shift: int | float, sign: int) -> float:
    try:
        near = float(bound) - shift
        # The key, its sum with the shift, the bound and the difference may each be rounded by half a unit in
        # the last place of one of them. That is doubled twice, because this sum is rounded, too.
        wide = near + sign * 8 * (math.ulp(near) + math.ulp(float(bound)) + math.ulp(float(shift)))
    except OverflowError:
        wide = math.nan
    return wide if math.isfinite(wide) else sign * math.inf


def _comparison(part: Expression, left: Schema, right: Schema) -> Comparison | None:
    """A conjunct as a comparison of both sides, with or without an order of values; None for others."""
    if not (isinstance(part, Binary) and part.operator in ("<", "<=", ">", ">=")):
        return None
    one, other = part.left, part.right
    if _reads_only(one, left) and _reads_only(other, right):
        return Comparison(_term(one, left), part.operator, _term(other, right))
    if _reads_only(one, right) and _reads_only(other, left):
        return Comparison(_term(one, right), part.operator, _term(other, left)).mirrored()
    return None


def _reads_only(expression: Expression, schema: Schema) -> bool:
    columns = expression.columns()
    return bool(columns) and all(name in schema for name in columns)


def _is_ordered(comparison: Comparison, schema: Schema) -> bool:
    """True if the keys of each side can be compared with each other.

    Values of type ANY need not be comparable, unless the condition compares them; a Python callable need not
    return values of its declared type.
    """
    parts = [*walk(comparison.left.expression), *walk(comparison.right.expression)]
    return not any(isinstance(part, Apply) or part.kind(schema).type is Type.ANY for part in parts)


def _term(expression: Expression, schema: Schema) -> Term:
    match expression:
        case Binary("+", key, Const(shift)) if _is_shift(shift, key, schema):
            return Term(expression, key, shift)
        case Binary("+", Const(shift), key) if _is_shift(shift, key, schema):
            return Term(expression, key, shift)
        case Binary("-", key, Const(shift)) if _is_shift(shift, key, schema):
            return Term(expression, key, -shift)
    return Term(expression, expression)


def _is_shift(shift: Any, key: Expression, schema: Schema) -> bool:
    return (
        type(shift) in (int, float)
        and 0 < abs(shift) <= _LARGEST_SHIFT
        and key.kind(schema).type in (Type.INTEGER, Type.FLOAT)
    )
