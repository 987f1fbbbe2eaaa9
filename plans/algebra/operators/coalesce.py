"""Coalescing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.arrangement import Arrangement, check_length
from midstream.plans.values.streams import Time


@dataclass(frozen=True, slots=True)
class Coalesce(Arrangement):
    """Merge adjacent intervals of equal payloads, each held back for at most `longest` chronons."""

    name = "coalesce"
    symbol = "⊕"
    formulas = "coalesce"

    longest: int

    def __post_init__(self) -> None:
        check_length("coalesce", self.longest)

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return self.longest == 1 and inputs[0]

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """An element that is still shorter than `longest` may be extended by one more element."""
        return self.longest - 1 + inputs[0]

    def to_json(self) -> dict[str, Any]:
        return {"longest": self.longest}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["longest"])

    def __str__(self) -> str:
        return f"coalesce {self.longest}"
