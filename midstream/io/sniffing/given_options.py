"""Options that a user gives for a file that nobody declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from midstream.io.errors import ConnectorError
from midstream.io.sniffing.tables import FoundColumn, Kind, Table
from midstream.io.sniffing.times import nearest_form
from midstream.io.sources.sources import OPTIONS
from midstream.plans.sql.catalog import Catalog
from midstream.plans.sql.declarations import REPEATABLE, ColumnDeclaration, OptionValue, literal
from midstream.plans.sql.source_options import checked_options, name_fault
from midstream.plans.sql.statements import column_words
from midstream.plans.values.errors import SqlError
from midstream.plans.values.schema import Type, suggest_in_any_case
from midstream.plans.values.units import TimeUnit

OWN_OPTIONS = ("time", "unit", "types")
"""The options of what a source does not say: the column that orders rows, the unit of integers, types."""


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """The options that the user gave.

    source    those of the source, by name; of repeatable ones, a list
    """

    source: Mapping[str, Any]
    time: str | None = None
    unit: TimeUnit | None = None
    types: tuple[ColumnDeclaration, ...] = ()

    @classmethod
    def of(cls, path: str, kind: Kind, options: Sequence[tuple[str, OptionValue]]) -> GivenOptions:
        """The options, checked.

        Raises   ConnectorError.
        """
        source: dict[str, Any] = {}
        own: dict[str, Any] = {}
        try:
            for name, value in options:
                if name not in (*OPTIONS[kind], *OWN_OPTIONS):
                    raise ValueError(name_fault(name, (*OPTIONS[kind], *OWN_OPTIONS)))
                if name in OWN_OPTIONS:
                    if not isinstance(value, str):
                        raise ValueError(f"{name}: found {literal(value)}, expected a text")
                    own[name] = value
            for name, value in checked_options([one for one in options if one[0] not in OWN_OPTIONS]):
                if name in REPEATABLE:
                    source.setdefault(name, []).append(value)
                else:
                    source[name] = value
            unit = TimeUnit.of(own["unit"]) if "unit" in own else None
            types = declared_types(own["types"]) if "types" in own else ()
        except ValueError as error:
            raise ConnectorError(f"{path}: {error}", path=path) from error
        return cls(source, own.get("time"), unit, types)

    def retyped(self, path: str, table: Table) -> tuple[FoundColumn, ...]:
        """Columns with the types that the user gave; such a column has timestamps only if its type says so.

        Behind them are columns that the file's beginning lacks, if the file is declared as sparse.

        Raises   ConnectorError for a type of a column that is not there.
        """
        names = [column.name for column in table.columns]
        own = {one.name.lower(): one for one in self.types}
        further = [one for lower, one in own.items() if lower not in map(str.lower, names)]
        if further and ("header", False) in table.options:
            raise no_column(path, "types", further[0].name, names)
        if further and not self.source.get("sparse"):
            types = literal(", ".join(map(column_words, self.types)))
            advice = f"; types = {types}, sparse = true takes it as a column that the file's beginning lacks"
            raise no_column(path, "types", further[0].name, names, advice)
        columns = [*table.columns, *(FoundColumn(one.name, one.type) for one in further)]
        return tuple(_as_declared(column, own.get(column.name.lower())) for column in columns)


def _as_declared(column: FoundColumn, declared: ColumnDeclaration | None) -> FoundColumn:
    if declared is None:
        return column
    forms = column.forms if declared.is_timestamp else ()
    if declared.is_timestamp and column.type is Type.STRING and not forms:
        # The rows of another form are left to the run.
        forms = () if (near := nearest_form(column.values)) is None else (near.form,)
    return replace(column, type=declared.type, forms=forms, is_date=declared.is_date, doubt=None)


def declared_types(text: str) -> tuple[ColumnDeclaration, ...]:
    """Columns with types, as CREATE STREAM has them; raises ValueError."""
    catalog = Catalog(None)
    try:
        catalog.execute(f"CREATE STREAM types({text})", "types")
    except SqlError as error:
        raise ValueError(str(error)) from None
    return catalog.streams["types"].columns


def no_column(path: str, option: str, name: str, names: Sequence[str], advice: str = "") -> ConnectorError:
    """The error for a column that a file does not have."""
    near = suggest_in_any_case(name, names)
    return ConnectorError(
        f"{path}: {option}: found {name}, expected one of {', '.join(names)}{near}{advice}", path=path
    )
