"""Coalescing."""

from __future__ import annotations

from dataclasses import dataclass

from midstream.plans.algebra.operators.arrangement import Arrangement, check_length


@dataclass(frozen=True, slots=True)
class Coalesce(Arrangement):
    """Elements of one payload whose intervals meet become one, which is held back no longer than `longest`
    chronons."""

    longest: int

    def __post_init__(self) -> None:
        check_length("coalesce", self.longest)

    def __str__(self) -> str:
        return f"coalesce {self.longest}"
