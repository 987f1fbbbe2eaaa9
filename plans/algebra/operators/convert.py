"""Converters between the forms of physical streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from midstream.plans.algebra.operators.arrangement import Arrangement
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import FOREVER, Time

Form = Literal["intervals", "signs"]
"""The form in which a physical stream states validity.

Intervals are elements `(start, end, payload)`. Signs, the positive-negative approach (thesis, 14.1), are
`(time, sign, payload)`: a sign of 1 begins validity, and a sign of -1 ends it.
"""


@dataclass(frozen=True, slots=True)
class Convert(Arrangement):
    """Convert a physical stream to the other form."""

    name = "convert"
    symbol = "⇄"
    formulas = "convert"

    to: Form

    def __post_init__(self) -> None:
        if self.to not in ("intervals", "signs"):
            raise PlanError(f"convert: found {self.to!r}, expected 'intervals' or 'signs'")

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        """Elements of equal payloads that meet come back from signs as one interval."""
        return False

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """Any number of elements may meet."""
        return FOREVER

    def to_json(self) -> dict[str, Any]:
        return {"to": self.to}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["to"])

    def __str__(self) -> str:
        return f"convert to {self.to}"
