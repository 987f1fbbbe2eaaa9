"""Semi-joins and anti-joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.algebra.operators.schemas import both_sides, check_condition
from midstream.plans.expressions.expressions import TRUE, Expression
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class _Matching(Logical):
    """What semi-join and anti-join have in common.

    `condition` reads the columns of both sides by name, so no name may occur on both.
    """

    arity: ClassVar[int | None] = 2
    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False

    condition: Expression = TRUE

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the left input."""
        check_condition(self.condition, both_sides(self.name, inputs))
        return inputs[0]

    def __str__(self) -> str:
        return f"{self.name} {self.condition}"


@dataclass(frozen=True, slots=True)
class SemiJoin(_Matching):
    """The left rows for which some right row satisfies the condition, each as often as it is there (8.11,
    erratum 5)."""

    @property
    def name(self) -> str:
        """The word for it."""
        return "semi-join"


@dataclass(frozen=True, slots=True)
class AntiJoin(_Matching):
    """The left rows for which no right row satisfies the condition (8.16)."""

    @property
    def name(self) -> str:
        """The word for it."""
        return "anti-join"
