"""Operators as data that change how a stream is represented, and not what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.values.errors import PlanError


@dataclass(frozen=True, slots=True)
class Arrangement(Logical):
    """What they have in common."""

    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False


def check_length(what: str, value: int) -> None:
    if type(value) is not int or value <= 0:
        raise PlanError(f"{what}: found a length of {value!r}, expected a positive number of chronons")
