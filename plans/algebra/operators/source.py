"""The streams that a plan reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Source(Logical):
    """A named input stream.

    Its elements are chronons, made from timestamped rows, unless `intervals` says that they bring intervals
    of their own.
    """

    arity: ClassVar[int | None] = 0
    is_snapshot_reducible: ClassVar[bool] = False

    stream: str
    columns: Schema
    intervals: bool = False

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """As declared."""
        return self.columns

    def __str__(self) -> str:
        return f"source {self.stream}"
