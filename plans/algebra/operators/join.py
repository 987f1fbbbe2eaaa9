"""Joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.algebra.operators.base import Names, Schemas, Snapshot, SnapshotReducible, unchanged
from midstream.plans.algebra.operators.columns import (
    Columns,
    Dependencies,
    Sets,
    carried,
    classes,
    equalities,
    of_constants,
    of_equal,
    shortest,
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
from midstream.plans.values.streams import Time


@dataclass(frozen=True, slots=True)
class Join(SnapshotReducible):
    """The pairs of rows, valid at one instant, that satisfy a condition (8.10).

    `condition` reads the columns of both sides by name, so no name may occur on both. `columns` lists the
    output columns in order. It is the function f of (8.10): with it, a join with swapped sides can have the
    same schema.
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
        holds, chosen = compile_condition(self.condition, both), [both.index(name) for name in self.columns]

        def pairs(left: Snapshot, right: Snapshot) -> Snapshot:
            result: Snapshot = Counter()
            for l, n in left.items():  # noqa: E741
                for r, m in right.items():
                    if holds(pair := l + r):
                        result[tuple(pair[i] for i in chosen)] += n * m
            return result

        return pairs

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        """A pair is valid while both its rows are."""
        return any(inputs)

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Either row of a pair may end first."""
        return False

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return (*inputs[0], *inputs[1], *equalities(self.condition))

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """The keys of both sides together, without columns that the condition equates with the other side.

        A key of one side determines its row, and with it the columns that are equated with that row.
        """
        left, right = inputs
        ours, theirs = self._equated(left, right)
        keys = [key for l in left.keys for r in right.keys for key in (l | (r - theirs), (l - ours) | r)]  # noqa: E741
        return self._shown(keys, left, right)

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """A row that is valid at one instant is paired at that instant, where the other side's keys hold."""
        left, right = inputs
        ours, theirs = self._equated(left, right)
        keys = [l | (r - theirs) for l in left.lasting_keys for r in right.keys]  # noqa: E741
        keys += [(l - ours) | r for l in left.keys for r in right.lasting_keys]  # noqa: E741
        return self._shown(keys, left, right)

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        said = (*of_equal(equalities(self.condition)), *of_constants(self.condition))
        return (*inputs[0].dependencies, *inputs[1].dependencies, *said)

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        read = needed | self.condition.columns()
        return [read & frozenset(schema.names) for schema in inputs]

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """Each row of a pair occurs in its input, with the other row's columns that are equated with it."""
        shown, found = frozenset(self.columns), []
        equal, _ = join_keys(self.condition, *inputs)
        for port, schema in enumerate(inputs):
            names = dict(unchanged(shown.intersection(schema.names)))
            for pair in equal:
                if pair[1 - port] in shown:
                    names.setdefault(pair[1 - port], pair[port])
            found.append((port, names))
        return found

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """A row may have no partner."""
        return ()

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """A pair is valid while both its rows are."""
        return min(inputs)

    def _equated(self, left: Columns, right: Columns) -> tuple[frozenset[str], frozenset[str]]:
        """The columns of each side that equal a column of the other."""
        equal, _ = join_keys(self.condition, left.schema, right.schema)
        return frozenset(a for a, _ in equal), frozenset(b for _, b in equal)

    def _shown(self, keys: Sets, left: Columns, right: Columns) -> Sets:
        names = left.schema.names + right.schema.names
        equal = classes(self.equal_columns([left.equal, right.equal]), names)
        return carried(shortest(keys), unchanged(self.columns), equal)

    def to_json(self) -> dict[str, Any]:
        return {"condition": self.condition.to_json(), "columns": list(self.columns)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(expression_from_json(data["condition"]), tuple(map(str, data["columns"])))

    def __str__(self) -> str:
        return "product" if self.condition == TRUE else f"join {self.condition}"
