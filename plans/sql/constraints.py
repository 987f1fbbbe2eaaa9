"""Constraints of CREATE: keys, and references to other streams and relations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from midstream.plans.algebra.operators.declarations import Key
from midstream.plans.sql.declarations import (
    ReferenceDeclaration,
    RelationDeclaration,
    StreamDeclaration,
)
from midstream.plans.sql.faults import Script, Span
from midstream.plans.sql.syntax import ColumnClause, CreateStatement, KeyClause, ReferenceClause, Value
from midstream.plans.sql.windowing import unit_of
from midstream.plans.values.schema import Schema
from midstream.plans.values.units import NANOSECONDS, TimeUnit

Declared = Mapping[str, StreamDeclaration | RelationDeclaration]
"""The declarations so far, by names in lower case."""

Names = Iterable[tuple[str, Span]]


@dataclass(frozen=True)
class Constraints:
    """The keys and references of a CREATE statement, whose columns make the payload `schema`.

    unit    the unit of a bare number; None if it is undeclared
    """

    script: Script
    name: str
    schema: Schema
    unit: TimeUnit | None

    def key(self, clause: KeyClause) -> Key:
        """The declaration of a key.

        Raises   SqlError where a column does not exist, or is nullable: SQL allows unknown values twice,
                 while rows with unknown values agree in groups.
        """
        columns = self._named(clause.columns, self.schema)
        for column, (_, at) in zip(columns, clause.columns, strict=True):
            if self.schema[column].nullable and not clause.nulls_agree:
                raise self.script.fault(
                    f"column {column} may be unknown, and unique columns may be so in several rows; declare "
                    f"it NOT NULL, or UNIQUE NULLS NOT DISTINCT ({', '.join(columns)})",
                    at,
                )
        return Key(columns, clause.is_lasting, clause.is_enforced)

    def reference(
        self, clause: ReferenceClause, declared: Declared, own: KeyClause | None
    ) -> ReferenceDeclaration:
        """The declaration of a reference.

        Raises   SqlError where a name is undeclared, or the numbers of columns differ.
        """
        columns = self._named(clause.columns, self.schema)
        name, at = clause.to
        if name.lower() == self.name.lower():
            to, schema = self.name, self.schema
            primary = None if own is None else self._named(own.columns, schema)
        else:
            other = declared.get(name.lower())
            if other is None:
                known = [self.name, *(one.name for one in declared.values())]
                raise self.script.unknown("stream or relation", name, known, at)
            to, schema, primary = other.name, other.schema, other.primary_key
        if clause.to_columns is not None:
            primary = self._named(clause.to_columns, schema)
        if primary is None:
            raise self.script.fault(f"{to} has no primary key; name the columns: REFERENCES {to} (…)", at)
        if len(primary) != len(columns):
            raise self.script.fault(
                f"found {len(columns)} columns that refer to {len(primary)}, expected as many", clause.at
            )
        time = None if clause.is_lasting else self._nanoseconds(clause.within)
        return ReferenceDeclaration(columns, to, primary, time, clause.is_enforced)

    def _named(self, names: Names, schema: Schema) -> tuple[str, ...]:
        """The columns as they are declared; names do not depend on case."""
        known = {column.lower(): column for column in schema.names}
        for name, at in names:
            if name.lower() not in known:
                raise self.script.unknown("column", name, schema.names, at)
        return tuple(known[name.lower()] for name, _ in names)

    def _nanoseconds(self, value: Value | None) -> int:
        if value is None:
            return 0
        if value.unit is None:
            if self.unit is None:
                raise self.script.fault(
                    f"nothing says what {value.number} counts; write {value.number} SECONDS, or another unit",
                    value.at,
                )
            return value.number * self.unit.nanoseconds
        return value.number * NANOSECONDS[unit_of(self.script, value.unit, value.at)]


def primary_key(script: Script, statement: CreateStatement) -> KeyClause | None:
    """The primary key; raises SqlError if there are two."""
    keys = [key for key in statement.keys if key.is_primary]
    if len(keys) > 1:
        raise script.fault(
            f"{statement.name} has two primary keys, expected one; the other may be UNIQUE", keys[1].at
        )
    return keys[0] if keys else None


def is_in_key(column: ColumnClause, key: KeyClause | None) -> bool:
    """True if a column belongs to a key."""
    return key is not None and column.name.lower() in {name.lower() for name, _ in key.columns}
