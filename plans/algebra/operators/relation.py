"""The relations that a plan reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.base import Leaf
from midstream.plans.algebra.operators.columns import Columns, Dependencies, Dependency
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
class Relation(Leaf):
    """A named relation, whose rows are known before the streams begin (thesis, 17.4).

    Its elements are temporal rows, valid in intervals of their own; if it `is_constant`, its rows are always
    valid. Streams are joined to it; it never delays them.
    """

    name = "relation"
    symbol = "▪"
    is_snapshot_reducible = True

    relation: str
    columns: Schema
    is_constant: bool = True
    keys: tuple[Key, ...] = ()
    references: tuple[Reference, ...] = ()

    def __post_init__(self) -> None:
        check_declarations(f"relation {self.relation}", self.columns, self.keys, self.references)

    @property
    def label(self) -> str:
        return self.relation

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        """Constant rows are all valid together, so that each key determines the row at any time."""
        if not self.is_constant:
            return Leaf.output_dependencies(self, inputs)
        names = frozenset(self.columns.names)
        return [Dependency(frozenset(key.columns), names) for key in self.keys]

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        """Rows are valid for longer than a chronon."""
        return False

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        return False

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        return FOREVER

    def to_json(self) -> dict[str, Any]:
        return {
            "relation": self.relation,
            "columns": self.columns.to_json(),
            "constant": self.is_constant,
            **declarations_to_json(self.keys, self.references),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            str(data["relation"]),
            Schema.from_json(data["columns"]),
            bool(data["constant"]),
            keys_from_json(data),
            references_from_json(data),
        )

    def __str__(self) -> str:
        return f"relation {self.relation}"
