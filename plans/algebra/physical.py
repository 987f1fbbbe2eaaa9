"""Physical operators as data: a logical operator with the implementation chosen for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from midstream.plans.algebra.operators import Logical
from midstream.plans.algebra.operators.base import FromOutside, Schemas
from midstream.plans.algebra.operators.columns import Columns, Dependencies, Sets
from midstream.plans.values.errors import PlanFormatError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Time

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Node


@dataclass(frozen=True, slots=True)
class Physical:
    """A physical operator: a logical operator with the name of its implementation.

    The operators room binds the name to a running class. Equal physical operators over equal inputs run once;
    operators with another `copy` run beside them. The output is that of the logical operator.
    """

    implementation: str
    logical: Logical
    copy: int = 0

    @property
    def arity(self) -> int | None:
        return self.logical.arity

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        return self.logical.schema(inputs)

    def granule_above(self, below: int) -> int:
        return self.logical.granule_above(below)

    @property
    def name(self) -> str:
        return self.implementation

    def __str__(self) -> str:
        # A join without a condition is shown as "product", although its name is "join".
        text, name = str(self.logical), self.logical.name
        parameters = text.removeprefix(name).strip() if text.startswith(name) else text.partition(" ")[2]
        return f"{self.implementation} {parameters}".rstrip()


@dataclass(frozen=True, slots=True)
class Boxed(FromOutside):
    """One output of a Box, which stands for a subplan, for example during a migration.

    `number` identifies the Box; the operator has one input for each of its ports. The elements that come out
    are known to be ordered by start, and no more. `means` is the subplan that the Box is to become.
    """

    name = "boxed"
    symbol = ""
    is_snapshot_reducible = True
    is_start_preserving = False
    is_stateless = False

    number: int
    output: int
    ports: int
    columns: Schema
    means: Node = field(repr=False)

    @property
    def arity(self) -> int:
        return self.ports

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return False

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        return False

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        return ()

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        return ()

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        return ()

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        return [frozenset(schema.names) for schema in inputs]

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        return FOREVER

    def to_json(self) -> dict[str, Any]:
        """Raise PlanFormatError: a Box exists only in a running engine."""
        raise PlanFormatError(f"{self} is part of a running engine, which no file can hold")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        raise PlanFormatError("a box is part of a running engine, which no file can hold")

    def __str__(self) -> str:
        return f"box {self.number}" if not self.output else f"box {self.number} output {self.output}"
