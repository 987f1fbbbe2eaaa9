"""Aggregate functions: what each means on a multiset of values.

    count()     the number of rows               count(x)    the number of rows where x is known
    sum(x)      min(x)      max(x)      avg(x)   over the rows where x is known; unknown where there is none

Sums are exact: floats are added as the rational numbers that they are, and the result is rounded once. A sum
therefore does not depend on the order in which plans deliver their rows, and removing a row from a sum leaves
no trace of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from midstream.plans.errors import ExpressionError
from midstream.plans.expressions import Col, Expression, Kind, lift
from midstream.plans.schema import Column, Schema, Type


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate function applied to an expression; `argument` is None only in `count()`."""

    function: str
    argument: Expression | None = None

    def __post_init__(self) -> None:
        if self.function not in MEANING:
            raise ExpressionError(f"found aggregate {self.function!r}, expected one of {', '.join(MEANING)}")
        if self.argument is None and self.function != "count":
            raise ExpressionError(f"{self.function}() needs an argument; only count() stands without")

    def columns(self) -> frozenset[str]:
        """The columns that it reads."""
        return self.argument.columns() if self.argument is not None else frozenset()

    def column(self, name: str, schema: Schema) -> Column:
        """The column that it gives over rows of a schema."""
        if self.function == "count":
            if self.argument is not None:
                self.argument.kind(schema)
            return Column(name, Type.INTEGER)
        assert self.argument is not None
        kind: Kind = self.argument.kind(schema)
        if self.function in ("sum", "avg") and not kind.type.is_numeric:
            raise ExpressionError(f"{self} is over {kind.type.value}, expected a number")
        return Column(name, Type.FLOAT if self.function == "avg" else kind.type, kind.nullable)

    def __str__(self) -> str:
        return f"{self.function}({self.argument if self.argument is not None else '*'})"


def exact_sum(values: Iterable[int | float]) -> int | float:
    """Their sum, rounded once; an integer where all are.

    >>> exact_sum([1e16, 1.0, -1e16]), exact_sum([1, 2])
    (1.0, 3)
    """
    values = list(values)
    if all(isinstance(value, int) for value in values):
        return sum(values)
    if special := _sum_of_infinite(values):
        return special
    return rounded(sum(map(Fraction, values), Fraction()))


def exact_mean(values: Iterable[int | float]) -> float:
    """Their mean, rounded once."""
    values = list(values)
    if special := _sum_of_infinite(values):
        return special
    return rounded(sum(map(Fraction, values), Fraction()) / len(values))


def _sum_of_infinite(values: Iterable[Any]) -> float:
    """The sum of the values that are infinite or NaN; 0 where there are none."""
    total = sum(float(value) for value in values if value != value or value in (math.inf, -math.inf))
    # Infinities of both signs give NaN, always the same object, so that payloads that hold it are equal.
    return total if total == total else math.nan


def rounded(number: Fraction) -> float:
    """The nearest float; infinite beyond the largest."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


MEANING: Mapping[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "sum": exact_sum,
    "min": min,
    "max": max,
    "avg": exact_mean,
}
"""What each function gives on a non-empty list of known values."""


def aggregate(function: str, values: Iterable[Any]) -> Any:
    """An aggregate function on values of which some may be unknown.

    >>> aggregate("sum", [3, None, 4]), aggregate("count", [3, None]), aggregate("max", [None])
    (7, 1, None)
    """
    known = [value for value in values if value is not None]
    if not known and function != "count":
        return None
    return MEANING[function](known)


def count(argument: Any = None) -> AggregateCall:
    """The number of rows, or of rows where the argument is known."""
    return AggregateCall("count", None if argument is None else _argument(argument))


def sum_(argument: Any) -> AggregateCall:
    """The exact sum."""
    return AggregateCall("sum", _argument(argument))


def min_(argument: Any) -> AggregateCall:
    """The smallest value."""
    return AggregateCall("min", _argument(argument))


def max_(argument: Any) -> AggregateCall:
    """The largest value."""
    return AggregateCall("max", _argument(argument))


def avg(argument: Any) -> AggregateCall:
    """The exact mean, rounded once to a float."""
    return AggregateCall("avg", _argument(argument))


def _argument(argument: Any) -> Expression:
    return Col(argument) if isinstance(argument, str) else lift(argument)
