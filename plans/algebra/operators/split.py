"""Splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.arrangement import Arrangement, check_length


@dataclass(frozen=True, slots=True)
class Split(Arrangement):
    """No element is valid for longer than `length` chronons; of length 1, it makes a chronon stream, as CQL's
    Rstream does."""

    name = "split"
    symbol = "÷"
    formulas = "split"

    length: int = 1

    def __post_init__(self) -> None:
        check_length("split", self.length)

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return self.length == 1 or inputs[0]

    def to_json(self) -> dict[str, Any]:
        return {"length": self.length}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["length"])

    def __str__(self) -> str:
        return f"split {self.length}"
