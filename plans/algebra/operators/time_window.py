"""Time windows."""

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
    slide_text,
)
from midstream.plans.values.errors import PlanError


@dataclass(frozen=True, slots=True)
class TimeWindow(Logical):
    """At an instant, the rows of the last `size` chronons (8.17); of all time if `size` is None.

    With a `slide` of a, the window advances by a chronons at once, at the instants a - 1, 2a - 1, and so on
    (17.1).
    """

    is_snapshot_reducible: ClassVar[bool] = False

    size: int | None
    slide: int = 1
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            check_positive("window", "chronons, or None", self.size)
        check_positive("slide", "chronons", self.slide)
        check_bounds("window", self.size, self.bounds)

    def granule_above(self, below: int) -> int:
        """That below; size and slide are multiples of it, or rows would come and go between its instants."""
        if self.size is not None and self.size % below:
            raise PlanError(f"expected a size that is {multiple(self.size, below)}")
        if self.slide > 1 and self.slide % below:
            raise PlanError(f"expected a slide that is {multiple(self.slide, below)}")
        return below

    @property
    def name(self) -> str:
        """The word for it."""
        return "window"

    def __str__(self) -> str:
        size = "unbounded" if self.size is None else self.size
        return f"window {size}{slide_text(self.slide)}{bounds_text(self.bounds)}"
