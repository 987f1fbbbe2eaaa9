"""Time windows."""

from __future__ import annotations

from collections import Counter
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
    slide_text,
    unusual,
)
from midstream.plans.algebra.operators.columns import Columns, Sets
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import FOREVER, Time


@dataclass(frozen=True, slots=True)
class TimeWindow(Adjustable, OverTime):
    """At an instant, the rows of the last `size` chronons (8.17); of all time so far if `size` is None.

    With `bounds`, the size can change at run time, from the smallest to the largest (21.2), and derived
    properties hold for each. Without them it is fixed.

    With a `slide` of a, the window advances by a chronons at once, at the instants a - 1, 2a - 1, and so on
    (17.1).
    """

    name = "window"
    symbol = "ω"
    formulas = "time_window"
    is_stateless = True
    lever = "size"
    declaration = "window(…, bounds=(least, greatest)), or RANGE MIN …, MAX … in SQL"

    size: int | None
    slide: int = 1
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            check_positive("window", "chronons, or None", self.size)
        check_positive("slide", "chronons", self.slide)
        check_bounds("window", self.size, self.bounds)

    @property
    def cell(self) -> int:
        """The slide: rows are valid from the last chronon of their slide on."""
        return self.slide

    def granule_above(self, below: int) -> int:
        """The granule below; size and slide must be multiples of it, or rows would change in between."""
        if self.size is not None and self.size % below:
            raise PlanError(f"expected a size that is {multiple(self.size, below)}")
        if self.slide > 1 and self.slide % below:
            raise PlanError(f"expected a slide that is {multiple(self.slide, below)}")
        return below

    def snapshot(self, history: History, instant: int) -> Snapshot:
        last = (instant + 1) // self.slide * self.slide - 1
        first = history.beginning if self.size is None else last - self.size + 1
        return sum((history.at(t) for t in range(max(first, history.beginning), last + 1)), Counter())

    @property
    def reach(self) -> int:
        """The size, and the wait until the window advances."""
        return (self.size or 0) + self.slide - 1

    def remembers_until(self, end: Time) -> Time:
        return FOREVER if self.size is None else end - 1 + self.reach

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return self._shows_each_alone

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Rows leave in the order in which they came; if the size can change, a later row may leave first."""
        return self.bounds is None

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """The lasting keys; of a window of one chronon, all keys of the input.

        A later row may agree with an earlier one on another key while the window still holds the earlier one.
        A window of one chronon shows one instant of its input at a time.
        """
        return inputs[0].keys if self.sees_one_instant else inputs[0].lasting_keys

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """A row stays for longer than an instant."""
        return inputs[0].lasting_keys if self._shows_each_alone else ()

    @property
    def sees_one_instant(self) -> bool:
        return most(self.size, self.bounds) == 1

    @property
    def _shows_each_alone(self) -> bool:
        """True if the window shows every instant of its input by itself, whatever size is set."""
        return self.sees_one_instant and self.slide == 1

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """A row may stay after it has left the input."""
        return [(0, unchanged(inputs[0].names))] if self._shows_each_alone else []

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """A row appears at once, unless it waits until the window advances."""
        return [(0, unchanged(inputs[0].names))] if self.slide == 1 else []

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """The size, rounded up to a multiple of the slide; the input is a chronon stream."""
        size = most(self.size, self.bounds)
        return size if size == FOREVER else -(-size // self.slide) * self.slide

    def to_json(self) -> dict[str, Any]:
        return {"size": self.size, **unusual(slide=self.slide, bounds=self.bounds)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["size"], data.get("slide", 1), bounds_from_json(data))

    def __str__(self) -> str:
        size = "unbounded" if self.size is None else self.size
        return f"window {size}{slide_text(self.slide)}{bounds_text(self.bounds)}"
