"""Duplicate elimination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from midstream.plans.algebra.operators.base import Parameterless, Schemas, Snapshot, SnapshotReducible
from midstream.plans.algebra.operators.columns import Columns, Sets
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Distinct(Parameterless, SnapshotReducible):
    """Every valid row once (8.5)."""

    name = "distinct"
    symbol = "δ"
    formulas = "distinct"
    arity = 1
    is_start_preserving = False
    is_stateless = False
    valid_with = "every input"
    expressions = ()

    def schema(self, inputs: Schemas) -> Schema:
        return inputs[0]

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot], Snapshot]:
        """(8.5)."""
        return lambda part: Counter(dict.fromkeys(part, 1))

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """A row may be valid for longer than a later one."""
        return False

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return inputs[0]

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """Those of the input, or all columns."""
        return inputs[0].keys or (frozenset(inputs[0].schema.names),)
