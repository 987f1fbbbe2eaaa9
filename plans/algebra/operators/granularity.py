"""Granularity conversions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.algebra.operators.checks import (
    Bounds,
    bounds_text,
    check_bounds,
    check_positive,
    multiple,
)
from midstream.plans.values.errors import PlanError


@dataclass(frozen=True, slots=True)
class Granularity(Logical):
    """The snapshots at the multiples of `granule`, each held until the next one (20.1)."""

    is_snapshot_reducible: ClassVar[bool] = False

    granule: int
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        check_positive("granule", "chronons", self.granule)
        check_bounds("granule", self.granule, self.bounds)

    def granule_above(self, below: int) -> int:
        """Its own, which is a multiple of that below: a granularity only becomes coarser."""
        if self.granule % below:
            raise PlanError(f"expected a granule that is {multiple(self.granule, below)}")
        return self.granule

    def __str__(self) -> str:
        return f"granularity {self.granule}{bounds_text(self.bounds)}"
