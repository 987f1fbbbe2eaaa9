"""What CREATE says of rows: keys, and references to other streams and relations."""

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
"""What is declared so far, by its name in small letters."""

Names = Iterable[tuple[str, Span]]


@dataclass(frozen=True)
class Constraints:
    """The keys and references of a CREATE statement, whose columns make the payload `schema`.

    unit    what a bare number counts; None where nothing says it
    """

    script: Script
    name: str
    schema: Schema
    unit: TimeUnit | None

    def key(self, clause: KeyClause) -> Key:
        """A key. Raises SqlError where a column is none, or may be unknown: SQL lets unknown values be there
        twice, and rows that agree on them in groups do not differ."""
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
        """A reference. Raises SqlError where it names what is not declared, or as many columns as there are
        not."""
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
        """Columns as they are declared; letters may be small or large."""
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
    """The primary key. Raises SqlError where there are two."""
    found = [key for key in statement.keys if key.is_primary]
    if len(found) > 1:
        raise script.fault(
            f"{statement.name} has two primary keys, expected one; the other may be UNIQUE", found[1].at
        )
    return found[0] if found else None


def is_in_key(column: ColumnClause, key: KeyClause | None) -> bool:
    """Whether a column is one of a key's."""
    return key is not None and column.name.lower() in {name.lower() for name, _ in key.columns}
