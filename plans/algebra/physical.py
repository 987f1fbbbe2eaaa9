"""Physical operators as data: a logical operator with the implementation chosen for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from midstream.plans.algebra.operators import Logical
from midstream.plans.values.schema import Schema

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Node


@dataclass(frozen=True, slots=True)
class Physical:
    """How a logical operator is to run: the name of an implementation that the operators room knows.

    Equal ones over equal inputs are run once; those of another `copy` run beside them.
    """

    implementation: str
    logical: Logical
    copy: int = 0

    @property
    def arity(self) -> int | None:
        """That of the logical operator."""
        return self.logical.arity

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the logical operator."""
        return self.logical.schema(inputs)

    def granule_above(self, below: int) -> int:
        """That of the logical operator."""
        return self.logical.granule_above(below)

    @property
    def name(self) -> str:
        """The implementation's name."""
        return self.implementation

    def __str__(self) -> str:
        # A join on nothing is shown as a product, which is not its name.
        text, name = str(self.logical), self.logical.name
        parameters = text.removeprefix(name).strip() if text.startswith(name) else text.partition(" ")[2]
        return f"{self.implementation} {parameters}".rstrip()


@dataclass(frozen=True, slots=True)
class Boxed(Logical):
    """A subplan for which a Box answers, as while it is being exchanged for another: one of the outputs of
    the Box with that number.

    It has as many inputs as the Box has ports. Nothing is known of how the elements that it gives follow each
    other but that they are in order of start. `means` is the subplan that the Box is to become.
    """

    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False

    number: int
    output: int
    ports: int
    columns: Schema
    means: Node = field(repr=False)

    @property
    def arity(self) -> int | None:  # type: ignore[override]
        """As many as the Box has ports."""
        return self.ports

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the subplan."""
        return self.columns

    def __str__(self) -> str:
        return f"box {self.number}" if not self.output else f"box {self.number} output {self.output}"
