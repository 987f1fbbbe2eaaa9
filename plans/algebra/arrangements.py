"""Operators as data that change how a stream is represented, and not what it means: at every instant their
output is their input (thesis, 12.2 and 17.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from midstream.plans.algebra.logical import Logical
from midstream.plans.values.errors import PlanError

Form = Literal["intervals", "signs"]
"""How a physical stream tells validity: by elements `(start, end, payload)`, or, in the positive-negative
approach (thesis, 14.1), by `(time, sign, payload)`, where a sign of 1 begins it and one of -1 ends it."""


@dataclass(frozen=True, slots=True)
class Arrangement(Logical):
    """What they have in common."""

    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Split(Arrangement):
    """No element is valid for longer than `length` chronons; of length 1, it makes a chronon stream, as CQL's
    Rstream does."""

    length: int = 1

    def __post_init__(self) -> None:
        _check_length("split", self.length)

    def __str__(self) -> str:
        return f"split {self.length}"


@dataclass(frozen=True, slots=True)
class Coalesce(Arrangement):
    """Elements of one payload whose intervals meet become one, which is held back no longer than `longest`
    chronons."""

    longest: int

    def __post_init__(self) -> None:
        _check_length("coalesce", self.longest)

    def __str__(self) -> str:
        return f"coalesce {self.longest}"


@dataclass(frozen=True, slots=True)
class Convert(Arrangement):
    """From one form of physical stream to the other."""

    to: Form

    def __post_init__(self) -> None:
        if self.to not in ("intervals", "signs"):
            raise PlanError(f"convert: found {self.to!r}, expected 'intervals' or 'signs'")

    def __str__(self) -> str:
        return f"convert to {self.to}"


def _check_length(what: str, value: int) -> None:
    if type(value) is not int or value <= 0:
        raise PlanError(f"{what}: found a length of {value!r}, expected a positive number of chronons")
