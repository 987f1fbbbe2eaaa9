"""Differences, intersection and max-union: operators on two multisets of equal rows.

For each row, its multiplicities n and m in the inputs determine the one in the output.
"""

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
    SnapshotReducible,
    unchanged,
)
from midstream.plans.algebra.operators.columns import Columns, Dependencies, Sets, shortest
from midstream.plans.algebra.operators.schemas import common_schema
from midstream.plans.algebra.operators.union import Uniting
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Time


class _Multisets(Parameterless, SnapshotReducible):
    """Base class of the operators on two multisets."""

    __slots__ = ()

    arity = 2
    is_start_preserving = False
    is_stateless = False
    expressions = ()

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """A row may be valid for longer than a later one."""
        return False

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        """Whole rows are compared."""
        return [frozenset(schema.names) for schema in inputs]


class _OfTheFirst(_Multisets, Choosing):
    """Base class of the operators whose output is a part of the first input."""

    __slots__ = ()

    def schema(self, inputs: Schemas) -> Schema:
        """The schema of the left input; the right one has the same names and types."""
        common_schema(self.name, inputs)
        return inputs[0]

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]


@dataclass(frozen=True, slots=True)
class Difference(_OfTheFirst):
    """Each row n - m times, where that is positive (8.6)."""

    name = "difference"
    symbol = "−"
    formulas = "difference"
    valid_with = "first input"

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot, Snapshot], Snapshot]:
        return lambda left, right: left - right


@dataclass(frozen=True, slots=True)
class StrictDifference(_OfTheFirst):
    """Each row n times where m is 0, else not at all (8.14)."""

    name = "strict difference"
    symbol = "∖"
    formulas = "strict_difference"
    valid_with = "first input"

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot, Snapshot], Snapshot]:
        return lambda left, right: Counter({e: n for e, n in left.items() if not right[e]})


@dataclass(frozen=True, slots=True)
class Intersection(_OfTheFirst):
    """Each row min(n, m) times (8.12)."""

    name = "intersection"
    symbol = "∩"
    formulas = "intersection"
    valid_with = "every input"

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot, Snapshot], Snapshot]:
        return lambda left, right: left & right

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        return shortest([*inputs[0].keys, *inputs[1].keys])

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        return shortest([*inputs[0].lasting_keys, *inputs[1].lasting_keys])

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        return (*inputs[0].dependencies, *inputs[1].dependencies)

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(port, unchanged(schema.names)) for port, schema in enumerate(inputs)]

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        return min(inputs)


@dataclass(frozen=True, slots=True)
class MaxUnion(_Multisets, Uniting):
    """Each row max(n, m) times (8.13)."""

    name = "max union"
    symbol = "⊔"
    formulas = "max_union"

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot, Snapshot], Snapshot]:
        return lambda left, right: left | right

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """All columns, if neither side has a duplicate row; on fewer, rows of the two sides may agree."""
        left, right = inputs
        return (frozenset(left.schema.names),) if left.keys and right.keys else ()
