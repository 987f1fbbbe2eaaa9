"""Operators that change how a stream is represented, and no snapshot (thesis, 12.2 and 17.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from midstream.plans.algebra.operators.base import Choosing, Names, Schemas, Snapshot, unchanged
from midstream.plans.values.errors import PlanError


class Arrangement(Choosing):
    """Base class of the arrangements."""

    __slots__ = ()

    arity = 1
    is_start_preserving = False
    is_stateless = False
    valid_with = "every input"
    expressions = ()

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot], Snapshot]:
        return lambda part: part

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        return [needed]

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, unchanged(inputs[0].names))]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """A split preserves ordered ends only if it makes chronons, other than Table 12.1 states.

        Of [0, 4) and [2, 5), pieces of 3 chronons end at 3, 5 and 4.
        """
        return False


def check_length(what: str, value: int) -> None:
    """Raise PlanError unless the value is a positive number of chronons."""
    if type(value) is not int or value <= 0:
        raise PlanError(f"{what}: found a length of {value!r}, expected a positive number of chronons")
