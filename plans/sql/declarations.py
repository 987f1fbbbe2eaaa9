"""Declarations of streams and relations in a catalog."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from midstream.plans.algebra.operators.declarations import Key, Reference
from midstream.plans.values.schema import Column, Schema, Time, Type
from midstream.plans.values.streams import FOREVER
from midstream.plans.values.units import TimeUnit

Constant = str | int | float | bool
"""A value that rows of a source are compared with."""


@dataclass(frozen=True)
class ColumnDeclaration:
    """A declared column; a timestamp is an integer, the number of chronons since 1970 (UTC)."""

    name: str
    type: Type
    nullable: bool = True
    is_timestamp: bool = False
    is_date: bool = False

    @property
    def time(self) -> Time | None:
        """ "date" or "timestamp" if the column holds these."""
        return ("date" if self.is_date else "timestamp") if self.is_timestamp else None


@dataclass(frozen=True)
class SourceClause:
    """The source of a stream: `SOURCE kind('argument', …, nullstr = 'text')`.

    unknown    texts that stand for a missing value in CSV, besides nothing
    """

    kind: str
    arguments: tuple[Any, ...] = ()
    unknown: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = [f"nullstr = {text!r}" for text in self.unknown]
        return f"{self.kind}({', '.join([*map(repr, self.arguments), *words])})"


@dataclass(frozen=True)
class ReferenceDeclaration:
    """A declared reference, as in a plan, but with time in nanoseconds; None is for all time."""

    columns: tuple[str, ...]
    to: str
    to_columns: tuple[str, ...]
    nanoseconds: int | None = 0
    is_enforced: bool = True

    def counted_in(self, unit: TimeUnit) -> Reference:
        """The reference with time in chronons of a unit, rounded up."""
        time = FOREVER if self.nanoseconds is None else -(-self.nanoseconds // unit.nanoseconds)
        return Reference(self.columns, self.to, self.to_columns, time, self.is_enforced)


@dataclass(frozen=True)
class StreamDeclaration:
    """A stream as declared by CREATE STREAM.

    ordered_by   the column that holds an element's timestamp; without it, elements are stamped on arrival
    source       the source that the statement names, if any
    unit         the unit of integer timestamps of the source; None if it is undeclared
    keys         the declared keys
    primary_key  the columns of the key to which references without columns refer
    references   the declared references of its rows
    where        columns of the source, and the constant that a row must have there to belong to the stream

    The timestamp is no part of the payload (thesis, Remark 7.1).
    """

    name: str
    columns: tuple[ColumnDeclaration, ...]
    ordered_by: str | None = None
    source: SourceClause | None = None
    unit: TimeUnit | None = None
    keys: tuple[Key, ...] = ()
    primary_key: tuple[str, ...] | None = None
    references: tuple[ReferenceDeclaration, ...] = ()
    where: tuple[tuple[str, Constant], ...] = ()

    @property
    def has_intervals(self) -> bool:
        """True if the elements carry intervals of their own, as results of another query do."""
        return self.source is not None and self.source.kind.lower() == "elements"

    @property
    def time_column(self) -> tuple[str, int] | None:
        """The column that holds the timestamp, with its place; None if elements are stamped on arrival."""
        names = [column.name for column in self.columns]
        return None if self.ordered_by is None else (self.ordered_by, names.index(self.ordered_by))

    @cached_property
    def schema(self) -> Schema:
        """The columns of the payload."""
        return _payload(self.columns, self.ordered_by)


@dataclass(frozen=True)
class RelationDeclaration:
    """A relation as declared by CREATE RELATION.

    valid_from, valid_to    the columns of a temporal relation that hold the period in which a row is valid;
                            both None if the relation is constant
    source, unit, keys, primary_key, references   as of a stream
    """

    name: str
    columns: tuple[ColumnDeclaration, ...]
    valid_from: str | None = None
    valid_to: str | None = None
    source: SourceClause | None = None
    unit: TimeUnit | None = None
    keys: tuple[Key, ...] = ()
    primary_key: tuple[str, ...] | None = None
    references: tuple[ReferenceDeclaration, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        """The columns of the rows, without the period."""
        return _payload(self.columns, self.valid_from, self.valid_to)


def _payload(columns: tuple[ColumnDeclaration, ...], *times: str | None) -> Schema:
    return Schema(tuple(Column(c.name, c.type, c.nullable, c.time) for c in columns if c.name not in times))
