"""Aggregations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.base import Names, Schemas, Snapshot, SnapshotReducible, unchanged
from midstream.plans.algebra.operators.columns import Columns, Dependencies, Sets, shortest, visible
from midstream.plans.expressions.aggregates import AggregateCall, apply_call, call_from_json
from midstream.plans.expressions.expressions import Col, Expression, compile_row
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Payload, Time


@dataclass(frozen=True, slots=True)
class Aggregate(SnapshotReducible):
    """The values of aggregate functions, for each group of rows that agree on `keys` (8.9, 8.15).

    Without keys it is the scalar aggregation. A group has no result at an instant at which it has no row
    (erratum 10).
    """

    name = "aggregate"
    symbol = "γ"
    formulas = "aggregate"
    arity = 1
    is_start_preserving = False
    is_stateless = False
    valid_with = "every input"

    keys: tuple[str, ...]
    calls: tuple[tuple[str, AggregateCall], ...]

    def __post_init__(self) -> None:
        if not self.calls and not self.keys:
            raise PlanError("aggregate: found neither keys nor functions, expected at least one")

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(call.argument for _, call in self.calls if call.argument is not None)

    def schema(self, inputs: Schemas) -> Schema:
        keys = inputs[0].select(self.keys)
        return keys.concat(Schema(tuple(call.column(name, inputs[0]) for name, call in self.calls)))

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot], Snapshot]:
        (schema,) = inputs
        keys = [schema.index(key) for key in self.keys]
        arguments = [
            (call, (lambda e: ()) if call.argument is None else compile_row(call.argument, schema))
            for _, call in self.calls
        ]

        def aggregation(part: Snapshot) -> Snapshot:
            groups: dict[Payload, list[Payload]] = {}
            for e in part.elements():
                groups.setdefault(tuple(e[i] for i in keys), []).append(e)
            return Counter(
                key + tuple(apply_call(call, map(argument, rows)) for call, argument in arguments)
                for key, rows in groups.items()
            )

        return aggregation

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Without groups, a value is valid until the next value."""
        return not self.keys

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return [names & frozenset(self.keys) for names in inputs[0]]

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        groups = frozenset(self.keys)
        return shortest([groups, *(key for key in inputs[0].keys if key <= groups)])

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """A group whose rows exist at one instant exists at that instant alone; other groups may return."""
        groups = frozenset(self.keys)
        return [key for key in inputs[0].lasting_keys if key <= groups]

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        """The dependencies among the keys; a computed column may reuse the name of an input column."""
        return visible(inputs[0].dependencies, self.keys)

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        arguments = [call.argument for name, call in self.calls if name in needed]
        return [frozenset(self.keys).union(*(e.columns() for e in arguments if e is not None))]

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """Keys have the values of every row of their group, minima and maxima those of some row."""
        groups = unchanged(self.keys)
        return [(0, groups), *((0, {**groups, name: column}) for name, column in self._extremes())]

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, unchanged(self.keys))]

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """A value is output again when a row of its group comes or goes."""
        return inputs[0]

    def _extremes(self) -> Iterator[tuple[str, str]]:
        """The minima and maxima of columns, as pairs of output and input names."""
        for name, call in self.calls:
            if call.function in ("min", "max") and isinstance(call.argument, Col):
                yield name, call.argument.name

    def to_json(self) -> dict[str, Any]:
        return {"keys": list(self.keys), "calls": [[name, *call.to_json()] for name, call in self.calls]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        calls = ((str(name), call_from_json(call)) for name, *call in data["calls"])
        return cls(tuple(map(str, data["keys"])), tuple(calls))

    def __str__(self) -> str:
        calls = ", ".join(f"{call} as {name}" for name, call in self.calls)
        return f"aggregate {calls}" + (f" by {', '.join(self.keys)}" if self.keys else "")
