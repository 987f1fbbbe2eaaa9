"""Projections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.base import Names, RowByRow, Schemas
from midstream.plans.algebra.operators.columns import (
    Columns,
    Dependencies,
    Dependency,
    Sets,
    carried,
    of_computed,
    of_equal,
)
from midstream.plans.expressions.expressions import Col, Expression, compile_rows, expression_from_json
from midstream.plans.values.schema import Column, Schema, Time
from midstream.plans.values.streams import Payload


@dataclass(frozen=True, slots=True)
class Project(RowByRow):
    """Each row mapped to the values of named expressions (8.2): projection, renaming and computation."""

    name = "project"
    symbol = "π"
    formulas = "project"

    columns: tuple[tuple[str, Expression], ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(expression for _, expression in self.columns)

    def schema(self, inputs: Schemas) -> Schema:
        (below,) = inputs
        return Schema(
            tuple(
                Column(name, *expression.kind(below), time=_time(expression, below))
                for name, expression in self.columns
            )
        )

    def of_row(self, schema: Schema) -> Callable[[Payload], Sequence[Payload]]:
        compute = compile_rows(self.expressions, schema)
        return lambda e: (compute(e),)

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return [
            frozenset(name for name, e in self.columns if isinstance(e, Col) and e.name in names)
            for names in inputs[0]
        ]

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        return carried(inputs[0].keys, self._shown(), inputs[0].equal)

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        return carried(inputs[0].lasting_keys, self._shown(), inputs[0].equal)

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        # An output column may reuse the name of an input column: dropped input columns get longer names than
        # all output columns.
        prefix, shown = " " * max(len(name) for name, _ in self.columns), self._shown()
        below = {name: shown.get(name, prefix + name) for name in inputs[0].schema.names}
        computed = [
            Dependency(_named(one.columns, below), one.determines)
            for one in of_computed(self.columns, inputs[0].schema)
        ]
        known = [
            Dependency(_named(one.columns, below), _named(one.determines, below))
            for one in inputs[0].dependencies
        ]
        copies = ([name, below[e.name]] for name, e in self.columns if isinstance(e, Col))
        return (*known, *computed, *of_equal(map(frozenset, copies)))

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        return [frozenset().union(*(e.columns() for name, e in self.columns if name in needed))]

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, {name: e.name for name, e in self.columns if isinstance(e, Col)})]

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, self._shown())]

    def _shown(self) -> Names:
        """The name of one output column that copies each input column."""
        return {e.name: name for name, e in self.columns if isinstance(e, Col)}

    def to_json(self) -> dict[str, Any]:
        return {"columns": [[name, e.to_json()] for name, e in self.columns]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(tuple((str(name), expression_from_json(e)) for name, e in data["columns"]))

    def __str__(self) -> str:
        shown = (name if str(e) == name else f"{e} as {name}" for name, e in self.columns)
        return f"project {', '.join(shown)}"


def _time(expression: Expression, below: Schema) -> Time | None:
    """The form of the instants that a column copies."""
    return below.columns[below.index(expression.name)].time if isinstance(expression, Col) else None


def _named(columns: frozenset[str], names: Names) -> frozenset[str]:
    return frozenset(names[column] for column in columns)
