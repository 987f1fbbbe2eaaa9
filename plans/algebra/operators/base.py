"""What all logical operators answer: operators as data, what each computes, never how.

An operator knows its parameters, the schema of its output, and the properties that rules and migrations ask
for. Which inputs it has is the plan's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Logical:
    """What all logical operators answer."""

    arity: ClassVar[int | None] = 1
    """How many inputs it takes; None for two or more."""

    is_snapshot_reducible: ClassVar[bool] = True
    """Whether its snapshot at t is a relational operator on its inputs' snapshots at t (thesis, Definition
    10.2)."""

    is_start_preserving: ClassVar[bool] = True
    """Whether a result starts where the latest of the elements that it comes from starts (erratum 13)."""

    is_stateless: ClassVar[bool] = True
    """Whether results come from single elements, so that no state is kept but for output order."""

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """The output's columns. Raises PlanError or a schema or expression error where the inputs do not
        fit."""
        return inputs[0]

    def granule_above(self, below: int) -> int:
        """Of what number of chronons its timestamps are multiples, where those of its inputs are multiples of
        `below`.

        Raises PlanError, which says what is expected, where that would be finer (thesis, 20.5).
        """
        return below

    @property
    def name(self) -> str:
        """The word for it in messages, drawings and files."""
        return type(self).__name__.lower()

    def __str__(self) -> str:
        return self.name
