"""The relations that a plan reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Relation(Logical):
    """A named relation, whose rows are known before the streams begin (thesis, 17.4).

    Its elements are temporal rows, valid in intervals of their own, or, where it `is_constant`, rows that are
    valid always. Streams are joined to it; it never holds them up.
    """

    arity: ClassVar[int | None] = 0

    relation: str
    columns: Schema
    is_constant: bool = True

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """As declared."""
        return self.columns

    def __str__(self) -> str:
        return f"relation {self.relation}"
