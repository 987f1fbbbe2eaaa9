"""The streams that a plan reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from midstream.plans.algebra.operators.base import Leaf
from midstream.plans.algebra.operators.declarations import (
    Key,
    Reference,
    check_declarations,
    declarations_to_json,
    keys_from_json,
    references_from_json,
)
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Element, Time
from midstream.plans.values.units import TimeUnit


@dataclass(frozen=True, slots=True)
class Source(Leaf):
    """A named input stream (6.2).

    Its elements are chronons, made from timestamped rows; with `intervals`, they carry intervals of their
    own.

    `unit` is the unit of a chronon, such as "seconds"; None if the program that made the plan counts in
    chronons. It `is_assumed` if no declaration gives a unit, although the plan counts time. Units do
    not count for equality, so that a plan of the builder equals a plan of SQL. Code that combines plans must
    call `unlike_unit`.

    `elements` are those of a source that is known, such as a file; None if the program gives them. They are
    no part of the stream's meaning, and are not saved.

    `ordered_by` is the column of rows that holds the timestamp, which is no part of the payload: its name,
    and its place among the columns. It does not count for equality, and files of plans do not have it.
    """

    name = "source"
    symbol = "▸"
    is_snapshot_reducible = False

    stream: str
    columns: Schema
    intervals: bool = False
    keys: tuple[Key, ...] = ()
    references: tuple[Reference, ...] = ()
    unit: str | None = field(default=None, compare=False)
    is_assumed: bool = field(default=False, compare=False)
    elements: Iterable[Element] | None = field(default=None, compare=False, repr=False)
    ordered_by: tuple[str, int] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_declarations(f"stream {self.stream}", self.columns, self.keys, self.references)

    @property
    def label(self) -> str:
        return self.stream

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        """A timestamped row is valid for a chronon."""
        return not self.intervals

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        """Timestamped rows are in the stream's own order."""
        return not self.intervals

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        return FOREVER if self.intervals else 1

    def to_json(self) -> dict[str, Any]:
        return {
            "stream": self.stream,
            "columns": self.columns.to_json(),
            "intervals": self.intervals,
            **declarations_to_json(self.keys, self.references),
            **({} if self.unit is None else {"unit": self.unit}),
            **({"is_assumed": True} if self.is_assumed else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            str(data["stream"]),
            Schema.from_json(data["columns"]),
            bool(data["intervals"]),
            keys_from_json(data),
            references_from_json(data),
            None if data.get("unit") is None else TimeUnit.of(str(data["unit"])).name,
            bool(data.get("is_assumed", False)),
        )

    def unlike_unit(self, other: Source) -> str:
        """A message if two plans count a stream in different units; empty if their units may agree."""
        if self.unit is None or other.unit is None or self.unit == other.unit:
            return ""
        return f"stream {self.stream} is counted in {self.unit} in one, in {other.unit} in the other"

    def __str__(self) -> str:
        return f"source {self.stream}"
