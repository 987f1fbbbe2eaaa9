"""Aggregations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Aggregate(Logical):
    """Per group of rows that agree on `keys`, the values of aggregate functions (8.9, 8.15).

    Without keys it is the scalar aggregation. An instant at which a group has no row gives no row for it
    (erratum 10).
    """

    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False

    keys: tuple[str, ...]
    calls: tuple[tuple[str, AggregateCall], ...]

    def __post_init__(self) -> None:
        if not self.calls and not self.keys:
            raise PlanError("aggregate: found neither keys nor functions, expected at least one")

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """The keys, then one column a function."""
        keys = inputs[0].select(self.keys)
        return keys.concat(Schema(tuple(call.column(name, inputs[0]) for name, call in self.calls)))

    def __str__(self) -> str:
        calls = ", ".join(f"{call} as {name}" for name, call in self.calls)
        return f"aggregate {calls}" + (f" by {', '.join(self.keys)}" if self.keys else "")
