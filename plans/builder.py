"""Write a query in Python, operator by operator.

>>> bids = stream("bids", item="integer", price="float").alias("b").window(60)
>>> asks = stream("asks", item="integer", price="float").alias("a").window(60)
>>> pairs = bids.join(asks, on=bids["b.item"].eq(asks["a.item"]))
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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from midstream.plans.aggregates import AggregateCall, max_
from midstream.plans.errors import PlanError, SchemaError
from midstream.plans.expressions import (
    Col,
    Expression,
    column_equality,
    conjunction,
    conjuncts,
    equality,
    lift,
)
from midstream.plans.logical import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Logical,
    Project,
    Source,
    TimeWindow,
    Union,
)
from midstream.plans.plan import Node, Plan
from midstream.plans.schema import Schema, Type, parse_column

__all__ = ["Group", "Stream", "max_", "stream"]


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream under construction: every method gives a new one."""

    node: Node

    @property
    def schema(self) -> Schema:
        """Its columns."""
        return self.node.schema

    def __getitem__(self, name: str) -> Expression:
        """A column of it. Raises SchemaError where there is none."""
        self.schema.index(name)
        return Col(name)

    def plan(self) -> Plan:
        """The finished plan, with this stream as its output."""
        return Plan(self.node)

    def window(self, size: int | None) -> Stream:
        """Keep each row valid for `size` chronons; None for ever."""
        return self._then(TimeWindow(size))

    def filter(self, condition: Expression) -> Stream:
        """Keep the rows for which a condition is true."""
        return self._then(Filter(conjunction([condition])))

    def select(self, *names: str, **computed: Any) -> Stream:
        """Keep the named columns, then add computed ones."""
        kept = [(name, Col(name)) for name in names]
        return self._then(Project((*kept, *((name, lift(e)) for name, e in computed.items()))))

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

    def join(
        self,
        other: Stream,
        on: Expression | Sequence[tuple[str, str]] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Stream:
        """Pair the rows of two streams that are valid together.

        `on` is a condition over the columns of both, or a list of pairs (left column, right column) to be
        equal; without it every pair counts. `columns` chooses and orders the output; by default the left
        columns, then the right ones.
        """
        if on is None:
            on = ()
        conditions = (
            conjuncts(on) if isinstance(on, Expression) else [equality(left, right) for left, right in on]
        )
        names = tuple(columns) if columns is not None else self.schema.names + other.schema.names
        return Stream(Node(Join(conjunction(map(_ordered, conditions)), names), (self.node, other.node)))

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
    schema: Schema | Mapping[str, str | Type] | None = None,
    /,
    *,
    intervals: bool = False,
    **types: str,
) -> Stream:
    """A named input stream with its columns, for example `stream("bids", item="integer", price="float")`.

    Rows are valid for the chronon of their timestamp, unless `intervals` says that elements bring their own
    intervals.
    """
    if schema is not None and types:
        raise SchemaError(
            f"stream {name}: found columns both as a schema and as keywords, expected one of them"
        )
    if isinstance(schema, Schema):
        columns = schema
    else:
        columns = Schema(tuple(parse_column(key, value) for key, value in (schema or types).items()))
    return Stream(Node(Source(name, columns, intervals)))


def _ordered(condition: Expression) -> Expression:
    """Column equalities in one canonical order, so that equal joins are equal values."""
    columns = column_equality(condition)
    return equality(*columns) if columns else condition
