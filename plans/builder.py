"""Write a query in Python, operator by operator.

>>> bids = stream("bids", item="integer", price="float").alias("b").window(60)
>>> asks = stream("asks", item="integer", price="float").alias("a").window(60)
>>> pairs = bids.join(asks, on=bids["b.item"] == asks["a.item"])
    >>> query = pairs.group_by("b.item").aggregate(best=max_("b.price"))
>>> print(query.plan())
aggregate max(b.price) as best by b.item
└─ join a.item = b.item
   ├─ window 60
   │  └─ project item as b.item, price as b.price
   │     └─ source bids
   └─ window 60
      └─ project item as a.item, price as a.price
         └─ source asks
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from midstream.plans.aggregates import AggregateCall, max_
from midstream.plans.arrangements import Coalesce, Split
from midstream.plans.errors import ExpressionError, PlanError, SchemaError
from midstream.plans.expressions import Col, Expression, conjunction, conjuncts, equality, ordered
from midstream.plans.logical import (
    Aggregate,
    AntiJoin,
    Difference,
    Distinct,
    Filter,
    Intersection,
    Join,
    Logical,
    MaxUnion,
    Project,
    Relation,
    SemiJoin,
    Source,
    StrictDifference,
    Union,
)
from midstream.plans.operands import Operand, col, expression_of
from midstream.plans.plan import Node, Plan
from midstream.plans.schema import ColumnType, Schema, parse_column
from midstream.plans.windows import (
    CountWindow,
    Dstream,
    Granularity,
    Istream,
    PartitionedWindow,
    Ties,
    TimeWindow,
)

On = Operand | Expression | Iterable[tuple[str, str]] | None
"""What a join matches by."""

__all__ = ["Group", "Stream", "max_", "relation", "stream"]


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream under construction: every method gives a new one."""

    node: Node

    @property
    def schema(self) -> Schema:
        """Its columns."""
        return self.node.schema

    def __getitem__(self, name: str) -> Operand:
        """A column of it. Raises SchemaError where there is none."""
        self.schema.index(name)
        return col(name)

    def plan(self) -> Plan:
        """The finished plan, with this stream as its output."""
        return Plan(self.node)

    def window(self, size: int | None, slide: int = 1) -> Stream:
        """Keep each row valid for `size` chronons, None for ever; advance by `slide` chronons at once."""
        return self._then(TimeWindow(size, slide))

    def last(
        self,
        rows: int | None,
        *,
        by: Sequence[str] = (),
        slide: int = 1,
        ties: Ties = "error",
        delay: int | None = None,
    ) -> Stream:
        """Keep the last `rows` rows valid, None for all; with `by`, those of each group of equal columns.

        The window advances once every `slide` rows. Rows with the same timestamp are refused, unless
        `ties="arrival"` declares that they count in order of arrival. `delay` bounds by how many chronons a
        group without new rows may hold back the others.
        """
        if by:
            return self._then(PartitionedWindow(tuple(by), rows, slide, ties, delay))
        if delay is not None:
            raise PlanError("found a delay without groups, expected `by`: there is nobody to wait for")
        return self._then(CountWindow(rows, slide, ties))

    def granularity(self, granule: int) -> Stream:
        """Look at the rows at multiples of `granule` chronons only, and hold them until the next."""
        return self._then(Granularity(granule))

    def istream(self) -> Stream:
        """The rows that appear, each for the chronon in which it does."""
        return self._then(Istream())

    def dstream(self) -> Stream:
        """The rows that disappear, each for the first chronon in which it is gone."""
        return self._then(Dstream())

    def rstream(self) -> Stream:
        """All rows, chronon by chronon."""
        return self.split(1)

    def split(self, length: int) -> Stream:
        """Cut validity into pieces of at most `length` chronons; the meaning stays."""
        return self._then(Split(length))

    def coalesce(self, longest: int) -> Stream:
        """Put validity together where it was cut, holding nothing back for longer than `longest` chronons;
        the meaning stays."""
        return self._then(Coalesce(longest))

    def filter(self, condition: Operand | Expression) -> Stream:
        """Keep the rows for which a condition is true."""
        return self._then(Filter(conjunction([_condition("filter", condition)])))

    def select(self, *columns: str | Operand, **computed: Any) -> Stream:
        """Keep columns, then add computed ones, which have names: `select("x", y=col("x") * 2)`, or
        `select("x", (col("x") * 2).alias("y"))`.

        Raises   PlanError where an expression has no name.
        """
        named = [*map(_column, columns), *((name, expression_of(e)) for name, e in computed.items())]
        return self._then(Project(tuple(named)))

    def rename(self, names: Mapping[str, str]) -> Stream:
        """Give columns other names."""
        for name in names:
            self.schema.index(name)
        return self._then(Project(tuple((names.get(name, name), Col(name)) for name in self.schema.names)))

    def alias(self, prefix: str) -> Stream:
        """Put `prefix.` before every column's name, as SQL's qualified names have it."""
        return self.rename({name: f"{prefix}.{name}" for name in self.schema.names})

    def union(self, *others: Stream) -> Stream:
        """All rows of all streams."""
        return Stream(Node(Union(), (self.node, *(other.node for other in others))))

    def difference(self, other: Stream) -> Stream:
        """Take away one row for each equal row of the other stream that is valid together with it."""
        return Stream(Node(Difference(), (self.node, other.node)))

    def strict_difference(self, other: Stream) -> Stream:
        """Take away all rows that equal one of the other stream that is valid together with them."""
        return Stream(Node(StrictDifference(), (self.node, other.node)))

    def intersection(self, other: Stream) -> Stream:
        """The rows that both streams have, each as often as both have it."""
        return Stream(Node(Intersection(), (self.node, other.node)))

    def max_union(self, other: Stream) -> Stream:
        """The rows of either stream, each as often as the one that has it more often."""
        return Stream(Node(MaxUnion(), (self.node, other.node)))

    def semi_join(self, other: Stream, on: On = None) -> Stream:
        """The rows for which the other stream has a matching row that is valid together with them; `on` as in
        `join`."""
        return Stream(Node(SemiJoin(_matching(on)), (self.node, other.node)))

    def anti_join(self, other: Stream, on: On = None) -> Stream:
        """The rows for which the other stream has no matching row that is valid together with them; `on` as
        in `join`."""
        return Stream(Node(AntiJoin(_matching(on)), (self.node, other.node)))

    def join(
        self,
        other: Stream,
        on: On = None,
        columns: Sequence[str] | None = None,
    ) -> Stream:
        """Pair the rows of two streams that are valid together.

        `on` is a condition over the columns of both, or a list of pairs (left column, right column) to be
        equal; without it every pair counts. `columns` chooses and orders the output; by default the left
        columns, then the right ones.
        """
        names = tuple(columns) if columns is not None else self.schema.names + other.schema.names
        return Stream(Node(Join(_matching(on), names), (self.node, other.node)))

    def distinct(self) -> Stream:
        """Every valid row once."""
        return self._then(Distinct())

    def group_by(self, *keys: str) -> Group:
        """Group rows that agree on some columns; say what to compute with `.aggregate`."""
        for key in keys:
            self.schema.index(key)
        return Group(self, keys)

    def aggregate(self, **calls: AggregateCall) -> Stream:
        """Aggregate functions over all valid rows."""
        return Group(self, ()).aggregate(**calls)

    def _then(self, operator: Logical) -> Stream:
        return Stream(Node(operator, (self.node,)))


@dataclass(frozen=True, slots=True)
class Group:
    """A stream with grouping columns chosen."""

    stream: Stream
    keys: tuple[str, ...]

    def aggregate(self, **calls: AggregateCall) -> Stream:
        """Aggregate functions per group; the keyword is the output column's name."""
        for name, call in calls.items():
            if not isinstance(call, AggregateCall):
                raise PlanError(
                    f"aggregate {name}: found {call!r}, expected an aggregate such as count() or max_('x')"
                )
        return Stream(Node(Aggregate(self.keys, tuple(calls.items())), (self.stream.node,)))


def stream(
    name: str,
    schema: Schema | Mapping[str, ColumnType] | None = None,
    /,
    *,
    intervals: bool = False,
    **types: ColumnType,
) -> Stream:
    """A named input stream with its columns, for example `stream("bids", item="integer", price="float")`.

    Rows are valid for the chronon of their timestamp, unless `intervals` says that elements bring their own
    intervals.
    """
    return Stream(Node(Source(name, _columns(name, schema, types), intervals)))


def relation(
    name: str,
    schema: Schema | Mapping[str, ColumnType] | None = None,
    /,
    *,
    temporal: bool = False,
    **types: ColumnType,
) -> Stream:
    """A named relation with its columns, to join streams to.

    Its rows are constant, unless it is `temporal` and its elements bring the intervals in which they are
    valid.
    """
    return Stream(Node(Relation(name, _columns(name, schema, types), not temporal)))


def _columns(
    name: str, schema: Schema | Mapping[str, ColumnType] | None, types: Mapping[str, ColumnType]
) -> Schema:
    if schema is not None and types:
        raise SchemaError(
            f"stream {name}: found columns both as a schema and as keywords, expected one of them"
        )
    if isinstance(schema, Schema):
        return schema
    return Schema(tuple(parse_column(key, value) for key, value in (schema or types).items()))


def _column(column: object) -> tuple[str, Expression]:
    """The name of a column to select, and what it is."""
    if isinstance(column, str):
        return column, Col(column)
    if isinstance(column, Operand | Expression):
        expression = expression_of(column)
        if isinstance(column, Operand) and column.name is not None:
            return column.name, expression
        if isinstance(expression, Col):
            return expression.name, expression
    raise PlanError(
        f"select: found {column}, expected the name of a column; what is computed gets one: select(name=…), "
        "or .alias(name)"
    )


def _condition(who: str, condition: object) -> Expression:
    """A condition of rows. A constant is refused, as Python has compared then what was meant for each row."""
    if isinstance(condition, Operand | Expression):
        return expression_of(condition)
    if callable(condition):
        return expression_of(condition)
    raise ExpressionError(f"{who}: found {condition!r}, expected a condition such as ms.col('price') > 10")


def _matching(on: Any) -> Expression:
    """The condition of a join."""
    if on is None:
        return conjunction([])
    if isinstance(on, Operand | Expression):
        parts = conjuncts(expression_of(on))
    elif isinstance(on, Iterable) and not isinstance(on, str | Mapping):
        parts = tuple(equality(*_pair(pair)) for pair in on)
    else:
        raise _wrong_match(on)
    return conjunction(map(ordered, parts))


def _pair(pair: object) -> tuple[str, str]:
    match pair:
        case (str(left), str(right)):
            return left, right
    raise _wrong_match(pair)


def _wrong_match(found: object) -> PlanError:
    return PlanError(
        f"on: found {found!r}, expected a condition over the columns of both sides, or a list of pairs "
        "(left column, right column) to be equal, such as [('item', 'id')]"
    )
