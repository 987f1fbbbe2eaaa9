"""Filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.base import PartOfInput, RowByRow, Schemas
from midstream.plans.algebra.operators.columns import Columns, Dependencies, Sets, equalities, of_constants
from midstream.plans.algebra.operators.schemas import check_condition
from midstream.plans.expressions.expressions import Expression, compile_condition, expression_from_json
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Payload


@dataclass(frozen=True, slots=True)
class Filter(PartOfInput, RowByRow):
    """The rows for which the condition is true (8.1)."""

    name = "filter"
    symbol = "σ"
    formulas = "filter"

    condition: Expression

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)

    def schema(self, inputs: Schemas) -> Schema:
        check_condition(self.condition, inputs[0])
        return inputs[0]

    def of_row(self, schema: Schema) -> Callable[[Payload], Sequence[Payload]]:
        holds = compile_condition(self.condition, schema)
        return lambda e: (e,) if holds(e) else ()

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return (*inputs[0], *equalities(self.condition))

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        return (*inputs[0].dependencies, *of_constants(self.condition))

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        return [needed | self.condition.columns()]

    def to_json(self) -> dict[str, Any]:
        return {"condition": self.condition.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(expression_from_json(data["condition"]))

    def __str__(self) -> str:
        return f"filter {self.condition}"
