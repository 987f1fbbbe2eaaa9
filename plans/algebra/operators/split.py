"""Splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.arrangement import Arrangement, check_length
from midstream.plans.values.streams import FOREVER, Time


@dataclass(frozen=True, slots=True)
class Split(Arrangement):
    """Cut validity into pieces of at most `length` chronons; 1 makes a chronon stream, as CQL's Rstream."""

    name = "split"
    symbol = "÷"
    formulas = "split"

    length: int = 1

    def __post_init__(self) -> None:
        check_length("split", self.length)

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return self.length == 1 or inputs[0]

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """An element without an end is output in one piece when the stream ends."""
        return FOREVER if inputs[0] == FOREVER and self.length > 1 else min(self.length, inputs[0])

    def to_json(self) -> dict[str, Any]:
        return {"length": self.length}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["length"])

    def __str__(self) -> str:
        return f"split {self.length}"
