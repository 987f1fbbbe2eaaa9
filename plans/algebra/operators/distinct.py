"""Duplicate elimination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from midstream.plans.algebra.operators.base import (
    Choosing,
    Names,
    Parameterless,
    Schemas,
    Snapshot,
    unchanged,
)
from midstream.plans.algebra.operators.columns import Columns, Sets


@dataclass(frozen=True, slots=True)
class Distinct(Parameterless, Choosing):
    """Every valid row once (8.5)."""

    name = "distinct"
    symbol = "δ"
    formulas = "distinct"
    arity = 1
    is_start_preserving = False
    is_stateless = False
    valid_with = "every input"
    expressions = ()

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot], Snapshot]:
        return lambda part: Counter(dict.fromkeys(part, 1))

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """A row may be valid for longer than a later one."""
        return False

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        return inputs[0].keys or (frozenset(inputs[0].schema.names),)

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        """Whole rows are compared."""
        return [frozenset(inputs[0].names)]

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, unchanged(inputs[0].names))]
