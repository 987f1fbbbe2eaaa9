"""Unions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from midstream.plans.algebra.operators.base import (
    Names,
    Parameterless,
    Schemas,
    Snapshot,
    SnapshotReducible,
    unchanged,
)
from midstream.plans.algebra.operators.columns import Columns, Dependencies, Sets
from midstream.plans.algebra.operators.schemas import common_schema
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Time


class Uniting(Parameterless, SnapshotReducible):
    """Base class of the operators that output the rows of all inputs."""

    __slots__ = ()

    valid_with = "some input"
    expressions = ()

    def schema(self, inputs: Schemas) -> Schema:
        """The schema of the inputs; a column is nullable if it is nullable in some input."""
        return common_schema(self.name, inputs)

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return all(inputs)

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return ()

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """A row may be valid in one input at one instant, and in another input at another instant."""
        return ()

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        """The inputs may map equal values to different values."""
        return ()

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """No input has all rows of the output."""
        return ()

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(port, unchanged(schema.names)) for port, schema in enumerate(inputs)]

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        return max(inputs)


@dataclass(frozen=True, slots=True)
class Union(Uniting):
    """All rows of all inputs, with the sum of their multiplicities (8.3)."""

    name = "union"
    symbol = "∪"
    formulas = "union"
    arity = None
    is_start_preserving = True
    is_stateless = True

    def meaning(self, inputs: Schemas) -> Callable[..., Snapshot]:
        return lambda *parts: sum(parts, Counter())

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Ends are ordered within an input, not across inputs."""
        return False

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """Rows of different inputs may agree."""
        return ()

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        return [needed for _ in inputs]
