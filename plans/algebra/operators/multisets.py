"""Differences, intersections and their kin: operators on two multisets of equal rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.algebra.operators.schemas import common_schema
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class _Multisets(Logical):
    """What the operators on two multisets of equal rows have in common: for each row, its multiplicities n
    and m in the inputs give the one in the output."""

    arity: ClassVar[int | None] = 2
    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the left input; the other agrees in names and types."""
        common_schema(self.name, inputs)
        return inputs[0]


@dataclass(frozen=True, slots=True)
class Difference(_Multisets):
    """Each row n - m times, where that is positive (8.6)."""


@dataclass(frozen=True, slots=True)
class StrictDifference(_Multisets):
    """Each row n times where m is 0, else not at all (8.14)."""

    @property
    def name(self) -> str:
        """The word for it."""
        return "strict difference"


@dataclass(frozen=True, slots=True)
class Intersection(_Multisets):
    """Each row min(n, m) times (8.12)."""


@dataclass(frozen=True, slots=True)
class MaxUnion(_Multisets):
    """Each row max(n, m) times (8.13)."""

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the inputs, as of a union."""
        return common_schema(self.name, inputs)

    @property
    def name(self) -> str:
        """The word for it."""
        return "max union"
