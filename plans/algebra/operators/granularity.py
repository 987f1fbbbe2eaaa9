"""Granularity conversions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.adjustable import Adjustable
from midstream.plans.algebra.operators.base import History, Names, OverTime, Schemas, Snapshot, unchanged
from midstream.plans.algebra.operators.checks import (
    Bounds,
    bounds_from_json,
    bounds_text,
    check_bounds,
    check_positive,
    most,
    multiple,
    unusual,
)
from midstream.plans.algebra.operators.columns import Columns, Sets
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import FOREVER, Time


@dataclass(frozen=True, slots=True)
class Granularity(Adjustable, OverTime):
    """The snapshots at the multiples of `granule` chronons, each held until the next multiple (20.1).

    With `bounds`, the granule can change at run time, from the smallest to the largest (21.2), and derived
    properties hold for each. Without them it is fixed.
    """

    name = "granularity"
    symbol = "Γ"
    formulas = "granularity"
    is_stateless = True
    lever = "granule"
    declaration = "granularity(…, bounds=(least, greatest)), or COARSEST …, FINEST … in SQL"

    granule: int
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        check_positive("granule", "chronons", self.granule)
        check_bounds("granule", self.granule, self.bounds)

    def granule_above(self, below: int) -> int:
        """The operator's own granule, a multiple of that below: granules only become coarser."""
        if self.granule % below:
            raise PlanError(f"expected a granule that is {multiple(self.granule, below)}")
        return self.granule

    def at_fraction(self, fraction: float, below: int = 1) -> int:
        """The granule at a fraction of the bounds, where 1 is the finest.

        Of 1, 2, 4, 8, and so on, times the finest, it is the nearest: each is a multiple of the finer ones,
        so that a change to a coarser one may come at any instant.
        """
        assert self.bounds is not None
        least, most = self.bounds
        finest = -(-least // below) * below
        number = max(1, (most // finest).bit_length())
        wished = most + fraction * (finest - most)
        return min((finest << i for i in range(number)), key=lambda granule: abs(granule - wished))

    def snapshot(self, history: History, instant: int) -> Snapshot:
        """(20.1), held until the next instant of the granularity."""
        return history.at(instant // self.granule * self.granule)

    @property
    def cell(self) -> int:
        """None: starts are rounded up to multiples of the granule."""
        return 1 if self._shows_each_instant else 0

    @property
    def reach(self) -> int:
        return self.granule

    def remembers_until(self, end: Time) -> Time:
        return -(-end // self.granule) * self.granule

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return self._shows_each_instant and inputs[0]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Ends are rounded alike; but if the granule can change, a later end may be rounded up less."""
        return inputs[0] and self.bounds is None

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """With a fixed granule, rows that are valid together were valid together at one instant of the input.

        After a change of granule, earlier rows still end by the old granule, and may overlap a later row with
        an equal key.
        """
        return inputs[0].keys if self.sees_one_instant else inputs[0].lasting_keys

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        return inputs[0].lasting_keys if self._shows_each_instant else ()

    @property
    def sees_one_instant(self) -> bool:
        return self.bounds is None

    @property
    def _shows_each_instant(self) -> bool:
        """True if the output is the input, whatever granule is set."""
        return most(self.granule, self.bounds) == 1

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, unchanged(inputs[0].names))] if self._shows_each_instant else []

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return self.occurs_in(inputs)

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """Both ends are rounded up; if the granule can change, each by less than the largest granule."""
        if self.bounds is not None:
            return inputs[0] + self.bounds[1] - 1
        return inputs[0] if inputs[0] == FOREVER else -(-inputs[0] // self.granule) * self.granule

    def to_json(self) -> dict[str, Any]:
        return {"granule": self.granule, **unusual(bounds=self.bounds)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["granule"], bounds_from_json(data))

    def __str__(self) -> str:
        return f"granularity {self.granule}{bounds_text(self.bounds)}"
