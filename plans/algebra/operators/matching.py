"""Semi-joins and anti-joins."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.base import Choosing, Names, Schemas, Snapshot, unchanged
from midstream.plans.algebra.operators.columns import (
    Columns,
    Dependencies,
    Sets,
    equalities,
    of_constants,
    of_equal,
)
from midstream.plans.algebra.operators.schemas import both_sides, check_condition
from midstream.plans.expressions.expressions import (
    TRUE,
    Expression,
    compile_condition,
    expression_from_json,
    join_keys,
)
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Matching(Choosing):
    """Base class of semi-join and anti-join, which choose left rows by the existence of a matching right row.

    `condition` reads the columns of both sides by name, so no name may occur on both.
    """

    arity = 2
    is_start_preserving = False
    is_stateless = False
    valid_with = "first input"

    condition: Expression = TRUE

    @property
    @abstractmethod
    def keeps_matching(self) -> bool:
        """True if the results are the left rows with a match, False if those without."""

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)

    def schema(self, inputs: Schemas) -> Schema:
        check_condition(self.condition, both_sides(self.name, inputs))
        return inputs[0]

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot, Snapshot], Snapshot]:
        holds, is_wanted = compile_condition(self.condition, inputs[0].concat(inputs[1])), self.keeps_matching
        return lambda left, right: Counter(
            {e: n for e, n in left.items() if any(holds(e + other) is True for other in right) is is_wanted}
        )

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Right rows come and go."""
        return False

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        left, right = inputs
        read = self.condition.columns()
        return [needed | read & frozenset(left.names), read & frozenset(right.names)]

    def to_json(self) -> dict[str, Any]:
        return {"condition": self.condition.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(expression_from_json(data["condition"]))

    def __str__(self) -> str:
        return f"{self.name} {self.condition}"


@dataclass(frozen=True, slots=True)
class SemiJoin(Matching):
    """The left rows for which some right row satisfies the condition (8.11, erratum 5)."""

    name = "semi-join"
    symbol = "⋉"
    formulas = "semi_join"
    keeps_matching = True

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        """The equal columns of both sides, and the pairs that the condition equates.

        Left columns that equal one right column are equal.
        """
        return (*inputs[0], *inputs[1], *equalities(self.condition))

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        """As of a join: each left row has a matching row, and their columns depend on each other."""
        said = (*of_equal(equalities(self.condition)), *of_constants(self.condition))
        return (*inputs[0].dependencies, *inputs[1].dependencies, *said)

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        equal, _ = join_keys(self.condition, *inputs)
        return [(0, unchanged(inputs[0].names)), (1, dict(equal))]


@dataclass(frozen=True, slots=True)
class AntiJoin(Matching):
    """The left rows for which no right row satisfies the condition (8.16)."""

    name = "anti-join"
    symbol = "▷"
    formulas = "anti_join"
    keeps_matching = False
