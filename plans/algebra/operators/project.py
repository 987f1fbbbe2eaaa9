"""Projections."""

from __future__ import annotations

from dataclasses import dataclass

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.schema import Column, Schema


@dataclass(frozen=True, slots=True)
class Project(Logical):
    """Each row mapped to the values of named expressions (8.2): projection, renaming and computation."""

    columns: tuple[tuple[str, Expression], ...]

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """One column an expression."""
        return Schema(tuple(Column(name, *expression.kind(inputs[0])) for name, expression in self.columns))

    def __str__(self) -> str:
        shown = (name if str(e) == name else f"{e} as {name}" for name, e in self.columns)
        return f"project {', '.join(shown)}"
