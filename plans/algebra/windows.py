"""Operators as data whose snapshot at an instant depends on more than their input's snapshot at that instant:
windows, granularity conversion, and the streams of what a stream gains and loses.

They stand below the part of a plan that a migration may exchange (thesis, 10.4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from midstream.plans.algebra.logical import Logical
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Schema

Ties = Literal["error", "arrival"]

Bounds = tuple[int, int]
"""The least and the greatest value that a setting may be given at run time (thesis, 21.2)."""


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
            _check_positive("window", "chronons, or None", self.size)
        _check_positive("slide", "chronons", self.slide)
        _check_bounds("window", self.size, self.bounds)

    def granule_above(self, below: int) -> int:
        """That below; size and slide are multiples of it, or rows would come and go between its instants."""
        if self.size is not None and self.size % below:
            raise PlanError(f"expected a size that is {_multiple(self.size, below)}")
        if self.slide > 1 and self.slide % below:
            raise PlanError(f"expected a slide that is {_multiple(self.slide, below)}")
        return below

    @property
    def name(self) -> str:
        """The word for it."""
        return "window"

    def __str__(self) -> str:
        size = "unbounded" if self.size is None else self.size
        return f"window {size}{_slide(self.slide)}{_bounds(self.bounds)}"


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
        _check_rows(self.rows, self.slide, self.ties)
        _check_bounds("window", self.rows, self.bounds)

    @property
    def name(self) -> str:
        """The word for it."""
        return "count window"

    def __str__(self) -> str:
        return f"{self.name} {_rows(self.rows, self.slide, self.ties)}{_bounds(self.bounds)}"


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
            _check_positive("delay", "chronons, or None", self.delay)
        _check_rows(self.rows, self.slide, self.ties)
        _check_bounds("window", self.rows, self.bounds)

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
        rows = f"{_rows(self.rows, self.slide, self.ties)}{_bounds(self.bounds)}"
        return f"{self.name} {rows} by {', '.join(self.keys)}{delay}"


@dataclass(frozen=True, slots=True)
class Granularity(Logical):
    """The snapshots at the multiples of `granule`, each held until the next one (20.1)."""

    is_snapshot_reducible: ClassVar[bool] = False

    granule: int
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        _check_positive("granule", "chronons", self.granule)
        _check_bounds("granule", self.granule, self.bounds)

    def granule_above(self, below: int) -> int:
        """Its own, which is a multiple of that below: a granularity only becomes coarser."""
        if self.granule % below:
            raise PlanError(f"expected a granule that is {_multiple(self.granule, below)}")
        return self.granule

    def __str__(self) -> str:
        return f"granularity {self.granule}{_bounds(self.bounds)}"


@dataclass(frozen=True, slots=True)
class Istream(Logical):
    """At an instant, the rows that were not there one chronon before (17.3, erratum 6)."""

    is_snapshot_reducible: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Dstream(Logical):
    """At an instant, the rows that were there one chronon before and are no longer (17.4, erratum 6)."""

    is_snapshot_reducible: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False


def _multiple(size: int, of: int) -> str:
    near = size // of * of
    return f"a multiple of {of}, such as {f'{near} or ' if near else ''}{near + of}"


def _check_rows(rows: int | None, slide: int, ties: str) -> None:
    if rows is not None:
        _check_positive("window", "rows, or None", rows)
    _check_positive("slide", "rows", slide)
    if ties not in ("error", "arrival"):
        raise PlanError(f"found ties={ties!r}, expected 'error' or 'arrival'")


def _check_bounds(what: str, value: int | None, bounds: Bounds | None) -> None:
    if bounds is not None and (value is None or not bounds[0] <= value <= bounds[1]):
        raise PlanError(f"found a {what} of {value}, expected one from {bounds[0]} to {bounds[1]}")


def _check_positive(what: str, unit: str, value: int) -> None:
    if type(value) is not int or value <= 0:
        raise PlanError(f"found a {what} of {value!r}, expected a positive number of {unit}")


def _rows(rows: int | None, slide: int, ties: str) -> str:
    shown = "unbounded" if rows is None else str(rows)
    return f"{shown}{_slide(slide)}{' ties by arrival' if ties == 'arrival' else ''}"


def _bounds(bounds: Bounds | None) -> str:
    return "" if bounds is None else f" (from {bounds[0]} to {bounds[1]})"


def _slide(slide: int) -> str:
    return "" if slide == 1 else f" slide {slide}"
