"""Splits."""

from __future__ import annotations

from dataclasses import dataclass

from midstream.plans.algebra.operators.arrangement import Arrangement, check_length


@dataclass(frozen=True, slots=True)
class Split(Arrangement):
    """No element is valid for longer than `length` chronons; of length 1, it makes a chronon stream, as CQL's
    Rstream does."""

    length: int = 1

    def __post_init__(self) -> None:
        check_length("split", self.length)

    def __str__(self) -> str:
        return f"split {self.length}"
