"""Joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.base import Schemas, Snapshot, SnapshotReducible
from midstream.plans.algebra.operators.columns import Columns, Sets, carried, classes, equalities, shortest
from midstream.plans.algebra.operators.schemas import both_sides, check_condition
from midstream.plans.expressions.expressions import (
    TRUE,
    Expression,
    compile_row,
    expression_from_json,
    join_keys,
)
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Join(SnapshotReducible):
    """The pairs of rows, valid at one instant, that satisfy a condition (8.10).

    `condition` reads the columns of both sides by name, so no name may occur on both. `columns` lists the
    output in order; it plays the part of the function f of (8.10), so that a join with swapped sides can have
    the very same schema.
    """

    name = "join"
    symbol = "⋈"
    formulas = "join"
    arity = 2
    is_start_preserving = True
    is_stateless = False
    valid_with = "every input"

    condition: Expression = TRUE
    columns: tuple[str, ...] = ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)

    def schema(self, inputs: Schemas) -> Schema:
        both = both_sides(self.name, inputs)
        check_condition(self.condition, both)
        return both.select(self.columns)

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot, Snapshot], Snapshot]:
        both = inputs[0].concat(inputs[1])
        holds, chosen = compile_row(self.condition, both), [both.index(name) for name in self.columns]

        def pairs(left: Snapshot, right: Snapshot) -> Snapshot:
            result: Snapshot = Counter()
            for l, n in left.items():  # noqa: E741
                for r, m in right.items():
                    if holds(pair := l + r):
                        result[tuple(pair[i] for i in chosen)] += n * m
            return result

        return pairs

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        """A pair is valid while both halves are."""
        return any(inputs)

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Which of the halves ends first differs."""
        return False

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return (*inputs[0], *inputs[1], *equalities(self.condition))

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """A key of either side tells the row there. What the condition equates with columns of that row is
        told too, so that of the other side's key only the rest is needed."""
        left, right = inputs
        equal, _ = join_keys(self.condition, left.schema, right.schema)
        ours, theirs = frozenset(a for a, _ in equal), frozenset(b for _, b in equal)
        keys = [key for l in left.keys for r in right.keys for key in (l | (r - theirs), (l - ours) | r)]  # noqa: E741
        names = left.schema.names + right.schema.names
        shown = {name: name for name in self.columns}
        return carried(shortest(keys), shown, classes(self.equal_columns([left.equal, right.equal]), names))

    def to_json(self) -> dict[str, Any]:
        return {"condition": self.condition.to_json(), "columns": list(self.columns)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(expression_from_json(data["condition"]), tuple(map(str, data["columns"])))

    def __str__(self) -> str:
        return "product" if self.condition == TRUE else f"join {self.condition}"
