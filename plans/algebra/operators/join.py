"""Joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.algebra.operators.schemas import both_sides, check_condition
from midstream.plans.expressions.expressions import TRUE, Expression
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Join(Logical):
    """The pairs of rows, valid at one instant, that satisfy a condition (8.10).

    `condition` reads the columns of both sides by name, so no name may occur on both. `columns` lists the
    output in order; it plays the part of the function f of (8.10), so that a join with swapped sides can have
    the very same schema.
    """

    arity: ClassVar[int | None] = 2
    is_stateless: ClassVar[bool] = False

    condition: Expression = TRUE
    columns: tuple[str, ...] = ()

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """The listed columns of both sides."""
        both = both_sides(self.name, inputs)
        check_condition(self.condition, both)
        return both.select(self.columns)

    def __str__(self) -> str:
        return "product" if self.condition == TRUE else f"join {self.condition}"
