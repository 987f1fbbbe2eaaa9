"""Unions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.algebra.operators.schemas import common_schema
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Union(Logical):
    """All rows of all inputs, with the sum of their multiplicities (8.3)."""

    arity: ClassVar[int | None] = None

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the inputs, which agree in names and types; a column is nullable if it is in one of
        them."""
        return common_schema(self.name, inputs)
