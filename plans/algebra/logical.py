"""The logical operators as data: what each computes, never how.

An operator knows its parameters, the schema of its output, and the properties that rules and migrations ask
for. Which inputs it has is the plan's business. Its meaning is in `algebra`, by the thesis' definition that
its docstring names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import TRUE, Expression
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Column, Schema, Type


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


@dataclass(frozen=True, slots=True)
class Source(Logical):
    """A named input stream.

    Its elements are chronons, made from timestamped rows, unless `intervals` says that they bring intervals
    of their own.
    """

    arity: ClassVar[int | None] = 0
    is_snapshot_reducible: ClassVar[bool] = False

    stream: str
    columns: Schema
    intervals: bool = False

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """As declared."""
        return self.columns

    def __str__(self) -> str:
        return f"source {self.stream}"


@dataclass(frozen=True, slots=True)
class Relation(Logical):
    """A named relation, whose rows are known before the streams begin (thesis, 17.4).

    Its elements are temporal rows, valid in intervals of their own, or, where it `is_constant`, rows that are
    valid always. Streams are joined to it; it never holds them up.
    """

    arity: ClassVar[int | None] = 0

    relation: str
    columns: Schema
    is_constant: bool = True

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """As declared."""
        return self.columns

    def __str__(self) -> str:
        return f"relation {self.relation}"


@dataclass(frozen=True, slots=True)
class Filter(Logical):
    """The rows for which the condition is true (8.1)."""

    condition: Expression

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the input."""
        _check_condition(self.condition, inputs[0])
        return inputs[0]

    def __str__(self) -> str:
        return f"filter {self.condition}"


@dataclass(frozen=True, slots=True)
class Project(Logical):
    """Each row mapped to the values of named expressions (8.2): projection, renaming and computation."""

    columns: tuple[tuple[str, Expression], ...]

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """One column an expression."""
        return Schema(tuple(Column(name, *expression.kind(inputs[0])) for name, expression in self.columns))

    def __str__(self) -> str:
        shown = (name if str(e) == name else f"{e} as {name}" for name, e in self.columns)
        return f"project {', '.join(shown)}"


@dataclass(frozen=True, slots=True)
class Union(Logical):
    """All rows of all inputs, with the sum of their multiplicities (8.3)."""

    arity: ClassVar[int | None] = None

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the inputs, which agree in names and types; a column is nullable if it is in one of
        them."""
        return _common_schema(self.name, inputs)


@dataclass(frozen=True, slots=True)
class Join(Logical):
    """The pairs of rows, valid at one instant, that satisfy a condition (8.10).

    `condition` reads the columns of both sides by name, so no name may occur on both. `columns` lists the
    output in order; it plays the part of the function f of (8.10), so that a join with swapped sides can have
    the very same schema.
    """

    arity: ClassVar[int | None] = 2
    is_stateless: ClassVar[bool] = False

    condition: Expression = TRUE
    columns: tuple[str, ...] = ()

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """The listed columns of both sides."""
        both = _both(self.name, inputs)
        _check_condition(self.condition, both)
        return both.select(self.columns)

    def __str__(self) -> str:
        return "product" if self.condition == TRUE else f"join {self.condition}"


@dataclass(frozen=True, slots=True)
class Distinct(Logical):
    """Every valid row once (8.5)."""

    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Aggregate(Logical):
    """Per group of rows that agree on `keys`, the values of aggregate functions (8.9, 8.15).

    Without keys it is the scalar aggregation. An instant at which a group has no row gives no row for it
    (erratum 10).
    """

    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False

    keys: tuple[str, ...]
    calls: tuple[tuple[str, AggregateCall], ...]

    def __post_init__(self) -> None:
        if not self.calls and not self.keys:
            raise PlanError("aggregate: found neither keys nor functions, expected at least one")

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """The keys, then one column a function."""
        keys = inputs[0].select(self.keys)
        return keys.concat(Schema(tuple(call.column(name, inputs[0]) for name, call in self.calls)))

    def __str__(self) -> str:
        calls = ", ".join(f"{call} as {name}" for name, call in self.calls)
        return f"aggregate {calls}" + (f" by {', '.join(self.keys)}" if self.keys else "")


@dataclass(frozen=True, slots=True)
class _Multisets(Logical):
    """What the operators on two multisets of equal rows have in common: for each row, its multiplicities n
    and m in the inputs give the one in the output."""

    arity: ClassVar[int | None] = 2
    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the left input; the other agrees in names and types."""
        _common_schema(self.name, inputs)
        return inputs[0]


@dataclass(frozen=True, slots=True)
class Difference(_Multisets):
    """Each row n - m times, where that is positive (8.6)."""


@dataclass(frozen=True, slots=True)
class StrictDifference(_Multisets):
    """Each row n times where m is 0, else not at all (8.14)."""

    @property
    def name(self) -> str:
        """The word for it."""
        return "strict difference"


@dataclass(frozen=True, slots=True)
class Intersection(_Multisets):
    """Each row min(n, m) times (8.12)."""


@dataclass(frozen=True, slots=True)
class MaxUnion(_Multisets):
    """Each row max(n, m) times (8.13)."""

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the inputs, as of a union."""
        return _common_schema(self.name, inputs)

    @property
    def name(self) -> str:
        """The word for it."""
        return "max union"


@dataclass(frozen=True, slots=True)
class _Matching(Logical):
    """What semi-join and anti-join have in common.

    `condition` reads the columns of both sides by name, so no name may occur on both.
    """

    arity: ClassVar[int | None] = 2
    is_start_preserving: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False

    condition: Expression = TRUE

    def schema(self, inputs: tuple[Schema, ...]) -> Schema:
        """That of the left input."""
        _check_condition(self.condition, _both(self.name, inputs))
        return inputs[0]

    def __str__(self) -> str:
        return f"{self.name} {self.condition}"


@dataclass(frozen=True, slots=True)
class SemiJoin(_Matching):
    """The left rows for which some right row satisfies the condition, each as often as it is there (8.11,
    erratum 5)."""

    @property
    def name(self) -> str:
        """The word for it."""
        return "semi-join"


@dataclass(frozen=True, slots=True)
class AntiJoin(_Matching):
    """The left rows for which no right row satisfies the condition (8.16)."""

    @property
    def name(self) -> str:
        """The word for it."""
        return "anti-join"


def _both(name: str, inputs: tuple[Schema, ...]) -> Schema:
    """The columns of both sides."""
    left, right = inputs
    common = [column for column in left.names if column in right]
    if common:
        raise PlanError(
            f"{name}: both sides have a column {common[0]}; rename one, for example with .alias()",
            column=common[0],
        )
    return left.concat(right)


def _common_schema(name: str, inputs: tuple[Schema, ...]) -> Schema:
    first = inputs[0]
    for other in inputs[1:]:
        if [(c.name, c.type) for c in first] != [(c.name, c.type) for c in other]:
            raise PlanError(f"{name}: found inputs {first} and {other}, expected the same names and types")
    return Schema(
        tuple(
            Column(column.name, column.type, any(schema.columns[i].nullable for schema in inputs))
            for i, column in enumerate(first)
        )
    )


def _check_condition(condition: Expression, schema: Schema) -> None:
    kind = condition.kind(schema)
    if kind.type not in (Type.BOOLEAN, Type.ANY):
        raise PlanError(f"{condition} is {kind.type.value}, expected a condition")
