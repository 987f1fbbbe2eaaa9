"""The streams that a plan reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from midstream.plans.values.streams import FOREVER, Time


@dataclass(frozen=True, slots=True)
class Source(Leaf):
    """A named input stream (6.2).

    Its elements are chronons, made from timestamped rows, unless `intervals` says that they bring intervals
    of their own.
    """

    name = "source"
    symbol = "▸"
    is_snapshot_reducible = False

    stream: str
    columns: Schema
    intervals: bool = False
    keys: tuple[Key, ...] = ()
    references: tuple[Reference, ...] = ()

    def __post_init__(self) -> None:
        check_declarations(f"stream {self.stream}", self.columns, self.keys, self.references)

    @property
    def label(self) -> str:
        return self.stream

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        """Timestamped rows are valid for a chronon."""
        return not self.intervals

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        """Timestamped rows are those of the stream itself."""
        return not self.intervals

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        return FOREVER if self.intervals else 1

    def to_json(self) -> dict[str, Any]:
        return {
            "stream": self.stream,
            "columns": self.columns.to_json(),
            "intervals": self.intervals,
            **declarations_to_json(self.keys, self.references),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            str(data["stream"]),
            Schema.from_json(data["columns"]),
            bool(data["intervals"]),
            keys_from_json(data),
            references_from_json(data),
        )

    def __str__(self) -> str:
        return f"source {self.stream}"
