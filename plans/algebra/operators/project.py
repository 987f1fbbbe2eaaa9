"""Projections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.base import RowByRow, Schemas
from midstream.plans.algebra.operators.columns import Columns, Sets, carried
from midstream.plans.expressions.expressions import Col, Expression, compile_rows, expression_from_json
from midstream.plans.values.schema import Column, Schema
from midstream.plans.values.streams import Payload


@dataclass(frozen=True, slots=True)
class Project(RowByRow):
    """Each row mapped to the values of named expressions (8.2): projection, renaming and computation."""

    name = "project"
    symbol = "π"
    formulas = "project"

    columns: tuple[tuple[str, Expression], ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(expression for _, expression in self.columns)

    def schema(self, inputs: Schemas) -> Schema:
        return Schema(tuple(Column(name, *expression.kind(inputs[0])) for name, expression in self.columns))

    def of_row(self, schema: Schema) -> Callable[[Payload], Sequence[Payload]]:
        compute = compile_rows(self.expressions, schema)
        return lambda e: (compute(e),)

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return [
            frozenset(name for name, e in self.columns if isinstance(e, Col) and e.name in names)
            for names in inputs[0]
        ]

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        read = {e.name: name for name, e in self.columns if isinstance(e, Col)}
        return carried(inputs[0].keys, read, inputs[0].equal)

    def to_json(self) -> dict[str, Any]:
        return {"columns": [[name, e.to_json()] for name, e in self.columns]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(tuple((str(name), expression_from_json(e)) for name, e in data["columns"]))

    def __str__(self) -> str:
        shown = (name if str(e) == name else f"{e} as {name}" for name, e in self.columns)
        return f"project {', '.join(shown)}"
