"""The relations of a script, loaded from their sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from midstream.commands import generated
from midstream.io.instants import UNIX_EPOCH, DatesOnly
from midstream.io.relations.content import Period
from midstream.io.relations.csv_file import load_csv
from midstream.io.relations.parquet_file import load_parquet
from midstream.io.relations.sql_database import load_sql
from midstream.io.time_units import NANOSECONDS, Clock
from midstream.plans.sql.declarations import RelationDeclaration, SourceClause
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.streams import Element
from midstream.plans.values.unit_words import advice
from midstream.plans.values.units import TimeUnit

KINDS = "csv('path'), parquet('path') or database('url or SQLite file', 'table')"


def load(
    declared: RelationDeclaration,
    unit: TimeUnit,
    source: SourceClause | str | None = None,
    rows: int | None = None,
) -> list[Element]:
    """Load the rows of a relation, from the source of its declaration, a clause or a path.

    `unit` is the chronon; the declaration gives the unit of integers. For generated relations, `rows` is the
    number of events in all.

    Raises   InputFileError where the source is missing or of an unknown kind; the loaders' errors.
    """
    clause = source if isinstance(source, SourceClause) else declared.source
    if isinstance(source, str):
        clause = SourceClause(Path(source).suffix.removeprefix(".").lower(), (source,))
    if clause is None:
        raise InputFileError(f"relation {declared.name}: found no SOURCE, expected {KINDS}, or a path")
    period = None
    if declared.valid_from is not None and declared.valid_to is not None:
        period = declared.valid_from, declared.valid_to
    if clause.kind.lower() == generated.KIND:
        return generated.generated_relation(declared, unit, clause, rows)
    counted = declared.unit or unit
    scale = counted.nanoseconds // unit.nanoseconds
    symbol = next((name for name, length in NANOSECONDS.items() if length == counted.nanoseconds), None)
    clock: Clock | None = None
    if symbol is not None:
        clock = (Clock if declared.unit is not None else DatesOnly)(symbol, UNIX_EPOCH)
    elements = _loaded(declared, clause, period, clock)
    stamps = {column.name for column in declared.columns if column.is_timestamp}
    moments = [position for position, name in enumerate(declared.schema.names) if name in stamps]
    if declared.unit is None:
        for position in moments:
            if found := [row[position] for _, _, row in elements if row[position] is not None]:
                what, wanted = advice(found)
                column = declared.schema.names[position]
                raise InputFileError(
                    f"relation {declared.name}, column {column}: found {what}, expected {wanted}"
                )
    if scale == 1:
        return elements
    return [(start * scale, end * scale, _scaled(row, moments, scale)) for start, end, row in elements]


def _scaled(row: tuple[Any, ...], positions: Sequence[int], scale: int) -> tuple[Any, ...]:
    if not positions:
        return row
    return tuple(
        value * scale if position in positions and value is not None else value
        for position, value in enumerate(row)
    )


def _loaded(
    declared: RelationDeclaration, clause: SourceClause, period: Period | None, clock: Clock | None
) -> list[Element]:
    match clause.kind.lower(), clause.arguments:
        case "csv", (str() as path,):
            return load_csv(path, declared.schema, period=period, clock=clock)
        case "parquet", (str() as path,):
            return load_parquet(path, declared.schema, period=period, clock=clock)
        case "database", (str() as database, str() as table):
            return load_sql(database, declared.schema, table=table, period=period, clock=clock)
    raise InputFileError(f"relation {declared.name}: found source {clause}, expected {KINDS}")
