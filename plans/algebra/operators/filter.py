"""Filters."""

from __future__ import annotations

from dataclasses import dataclass

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.algebra.operators.schemas import check_condition
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Filter(Logical):
    """The rows for which the condition is true (8.1)."""

    condition: Expression

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the input."""
        check_condition(self.condition, inputs[0])
        return inputs[0]

    def __str__(self) -> str:
        return f"filter {self.condition}"
