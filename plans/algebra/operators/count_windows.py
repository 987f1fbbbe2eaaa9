"""Windows that count rows."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from midstream.plans.algebra.operators.adjustable import Adjustable
from midstream.plans.algebra.operators.base import History, Names, OverTime, Row, Schemas, Snapshot
from midstream.plans.algebra.operators.checks import (
    Bounds,
    bounds_from_json,
    bounds_text,
    check_bounds,
    check_positive,
    most,
    slide_text,
    unusual,
)
from midstream.plans.algebra.operators.columns import Columns, Sets, shortest
from midstream.plans.values.errors import PlanError, TieError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Payload, Time

Ties = Literal["error", "arrival"]


class Counting(Adjustable, OverTime):
    """Base class of the windows that keep the last `rows` rows of each group, or all if `rows` is None.

    With `bounds`, the size can change at run time, from the smallest to the largest (21.2), and derived
    properties hold for each. A row stays until as many later rows of its group have come as the size was when
    it came. Without bounds it is fixed.

    With a `slide` of A, the window advances once every A rows (17.2). Two rows of a group must not have equal
    timestamps, since it is not defined which of them is the last; `ties="arrival"` declares that the order of
    arrival decides.
    """

    __slots__ = ()

    is_stateless = False
    reach = 0
    cell = 1
    lever = "rows"
    declaration = "last(…, bounds=(least, greatest)), or ROWS MIN …, MAX … in SQL"

    rows: int | None
    slide: int
    ties: Ties

    @abstractmethod
    def grouped_by(self, schema: Schema) -> list[int]:
        """The positions of the columns by which rows are grouped."""

    def at_fraction(self, fraction: float, below: int = 1) -> int:
        """The number of rows at a fraction of the bounds, on any granule."""
        rows: int = super().at_fraction(fraction)
        return rows

    def granule_above(self, below: int) -> int:
        """Rows come and go at instants at which rows arrive."""
        return below

    def snapshot(self, history: History, instant: int) -> Snapshot:
        columns, rows = self.grouped_by(history.schema), history.rows()
        self.check_ties(rows, columns)
        groups: dict[Payload, list[Payload]] = {}
        for t, e in rows:
            if t <= instant:
                groups.setdefault(tuple(e[i] for i in columns), []).append(e)
        return self.shown(groups)

    def shown(self, groups: Mapping[Payload, Sequence[Payload]]) -> Snapshot:
        """The rows that the window contains, given all rows so far of each group."""
        return Counter(e for rows in groups.values() for e in self._last(rows))

    def _last(self, rows: Sequence[Payload]) -> Sequence[Payload]:
        last = len(rows) // self.slide * self.slide
        return rows[0 if self.rows is None else max(last - self.rows, 0) : last]

    def check_ties(self, rows: Sequence[Row], columns: Sequence[int]) -> None:
        """Raise TieError if two rows of a group have equal timestamps, unless their order is declared."""
        seen: set[Row] = set()
        for t, e in rows if self.ties == "error" else ():
            if (at := (t, tuple(e[i] for i in columns))) in seen:
                raise TieError(f"{self}: found two rows at {t}, expected one; the other is {e!r}")
            seen.add(at)

    def remembers_until(self, end: Time) -> Time:
        """Rows are counted from the first one on."""
        return FOREVER

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        """A row stays until other rows replace it."""
        return False

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """A row stays for longer than an instant."""
        return ()

    @property
    def sees_one_instant(self) -> bool:
        return False

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """A row may stay after it has left the input."""
        return ()

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """If several rows arrive at one instant, the first may have to leave at once."""
        return ()

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """A row stays until other rows replace it."""
        return FOREVER


@dataclass(frozen=True, slots=True)
class CountWindow(Counting):
    """At an instant, the last `rows` rows (8.18)."""

    name = "count window"
    symbol = "ω"
    formulas = "count_window"

    rows: int | None
    slide: int = 1
    ties: Ties = "error"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        _check_rows(self.rows, self.slide, self.ties)
        check_bounds("window", self.rows, self.bounds)

    def grouped_by(self, schema: Schema) -> list[int]:
        return []

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Rows leave in the order in which they came; if the size can change, a later row may leave first."""
        return self.bounds is None

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        return (frozenset(),) if most(self.rows, self.bounds) == 1 else inputs[0].lasting_keys

    def to_json(self) -> dict[str, Any]:
        return {"rows": self.rows, **unusual(slide=self.slide, ties=self.ties, bounds=self.bounds)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["rows"], data.get("slide", 1), data.get("ties", "error"), bounds_from_json(data))

    def __str__(self) -> str:
        return f"{self.name} {_rows_text(self.rows, self.slide, self.ties)}{bounds_text(self.bounds)}"


@dataclass(frozen=True, slots=True)
class PartitionedWindow(Counting):
    """A count window of its own for each group of rows that agree on `keys` (8.19).

    `delay` is the thesis' Δ: the most chronons for which a group without new rows may hold back the results
    of other groups; None waits without limit. It changes how results are cut into elements, not their
    snapshots.
    """

    name = "partitioned window"
    symbol = "ω"
    formulas = "partitioned_window"

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
        _check_rows(self.rows, self.slide, self.ties)
        check_bounds("window", self.rows, self.bounds)

    def schema(self, inputs: Schemas) -> Schema:
        """The schema of the input, which must have the keys."""
        inputs[0].select(self.keys)
        return inputs[0]

    def grouped_by(self, schema: Schema) -> list[int]:
        return [schema.index(key) for key in self.keys]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """A row of a group stays until other rows of the group come, while rows of other groups leave."""
        return False

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        alone = [frozenset(self.keys)] if most(self.rows, self.bounds) == 1 else []
        return shortest([*alone, *inputs[0].lasting_keys])

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        return [needed.union(self.keys)]

    def to_json(self) -> dict[str, Any]:
        rest = unusual(slide=self.slide, ties=self.ties, delay=self.delay, bounds=self.bounds)
        return {"keys": list(self.keys), "rows": self.rows, **rest}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            tuple(map(str, data["keys"])),
            data["rows"],
            data.get("slide", 1),
            data.get("ties", "error"),
            data.get("delay"),
            bounds_from_json(data),
        )

    def __str__(self) -> str:
        delay = "" if self.delay is None else f" delay {self.delay}"
        rows = f"{_rows_text(self.rows, self.slide, self.ties)}{bounds_text(self.bounds)}"
        return f"{self.name} {rows} by {', '.join(self.keys)}{delay}"


def _check_rows(rows: int | None, slide: int, ties: str) -> None:
    if rows is not None:
        check_positive("window", "rows, or None", rows)
    check_positive("slide", "rows", slide)
    if ties not in ("error", "arrival"):
        raise PlanError(f"found ties={ties!r}, expected 'error' or 'arrival'")


def _rows_text(rows: int | None, slide: int, ties: str) -> str:
    shown = "unbounded" if rows is None else str(rows)
    return f"{shown}{slide_text(slide)}{' ties by arrival' if ties == 'arrival' else ''}"
