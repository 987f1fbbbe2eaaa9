"""Duplicate elimination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical


@dataclass(frozen=True, slots=True)
class Distinct(Logical):
    """Every valid row once (8.5)."""

    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False
