"""The relations of a script, loaded from where it says they are."""

from __future__ import annotations

from pathlib import Path

from midstream.plans.errors import InputFileError
from midstream.plans.sql import RelationDeclaration, SourceClause, TimeUnit
from midstream.plans.streams import Element
from midstream.scenarios.relations.csv_file import load_csv
from midstream.scenarios.relations.parquet_file import load_parquet
from midstream.scenarios.relations.sql_database import load_sql
from midstream.scenarios.scripts import generated
from midstream.scenarios.studies.time_units import NANOSECONDS

KINDS = "csv('path'), parquet('path') or database('url or SQLite file', 'table')"


def load(
    declared: RelationDeclaration,
    unit: TimeUnit,
    source: SourceClause | str | None = None,
    rows: int | None = None,
) -> list[Element]:
    """The rows of a relation, from the source of its declaration, or another one: a clause or a path. Of
    generated ones, `rows` is how many events there are in all.

    Raises   InputFileError where there is no source, or none of a known kind; what the loaders raise.
    """
    clause = source if isinstance(source, SourceClause) else declared.source
    if isinstance(source, str):
        clause = SourceClause(Path(source).suffix.removeprefix(".").lower(), (source,))
    if clause is None:
        raise InputFileError(f"relation {declared.name}: found no SOURCE, expected {KINDS}, or a path")
    period = None
    if declared.valid_from is not None and declared.valid_to is not None:
        period = declared.valid_from, declared.valid_to
    clock = next((name for name, length in NANOSECONDS.items() if length == unit.nanoseconds), None)
    match clause.kind.lower(), clause.arguments:
        case "csv", (str() as path,):
            return load_csv(path, declared.schema, period=period, clock=clock)
        case "parquet", (str() as path,):
            return load_parquet(path, declared.schema, period=period, clock=clock)
        case "database", (str() as database, str() as table):
            return load_sql(database, declared.schema, table=table, period=period, clock=clock)
        case generated.KIND, _:
            return generated.generated_relation(declared, unit, clause, rows)
    raise InputFileError(f"relation {declared.name}: found source {clause}, expected {KINDS}")
