"""Windows that count rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.algebra.operators.checks import (
    Bounds,
    bounds_text,
    check_bounds,
    check_positive,
    check_rows,
    rows_text,
)
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Schema

Ties = Literal["error", "arrival"]


@dataclass(frozen=True, slots=True)
class CountWindow(Logical):
    """At an instant, the last `rows` rows (8.18), or all if `rows` is None; with a `slide` of A, the window
    advances once every A rows (17.2).

    At most one row may have a given timestamp, as else it is not defined which are the last. `ties="arrival"`
    declares that the order of arrival decides.
    """

    is_snapshot_reducible: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False

    rows: int | None
    slide: int = 1
    ties: Ties = "error"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        check_rows(self.rows, self.slide, self.ties)
        check_bounds("window", self.rows, self.bounds)

    @property
    def name(self) -> str:
        """The word for it."""
        return "count window"

    def __str__(self) -> str:
        return f"{self.name} {rows_text(self.rows, self.slide, self.ties)}{bounds_text(self.bounds)}"


@dataclass(frozen=True, slots=True)
class PartitionedWindow(Logical):
    """A count window of its own for each group of rows that agree on `keys` (8.19).

    `delay` is the thesis' Δ: by how many chronons a group without new rows may hold back the results of the
    others. It changes how results are cut, not what they mean; None waits.
    """

    is_snapshot_reducible: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False

    keys: tuple[str, ...]
    rows: int | None
    slide: int = 1
    ties: Ties = "error"
    delay: int | None = None
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        if not self.keys:
            raise PlanError("partitioned window: found no keys, expected at least one")
        if self.delay is not None:
            check_positive("delay", "chronons, or None", self.delay)
        check_rows(self.rows, self.slide, self.ties)
        check_bounds("window", self.rows, self.bounds)

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the input, which has the keys."""
        inputs[0].select(self.keys)
        return inputs[0]

    @property
    def name(self) -> str:
        """The word for it."""
        return "partitioned window"

    def __str__(self) -> str:
        delay = "" if self.delay is None else f" delay {self.delay}"
        rows = f"{rows_text(self.rows, self.slide, self.ties)}{bounds_text(self.bounds)}"
        return f"{self.name} {rows} by {', '.join(self.keys)}{delay}"
