"""Relations in SQL databases."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from midstream.io.instants import as_clock
from midstream.io.progress import Progress
from midstream.io.relations.content import Declaration, Period, RelationOrigin, collect
from midstream.io.requirements import require_libraries
from midstream.io.time_units import Clock
from midstream.plans.values.errors import SchemaError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Element

if TYPE_CHECKING:
    import sqlalchemy as sa


def load_sql(
    database: str | os.PathLike[str] | sa.Engine,
    schema: Schema,
    *,
    table: str | None = None,
    query: str | None = None,
    period: Period | None = None,
    columns: Mapping[str, str] | None = None,
    clock: Clock | str | None = None,
    progress: Progress | None = None,
) -> list[Element]:
    """Load the content of a relation from a database.

    database  a URL of SQLAlchemy, the path of an SQLite file, or an engine of SQLAlchemy
    table     the name of a table or view; or instead
    query     the text of a SELECT

    The other arguments are those of `load_csv`, with names of columns of the table or query. NULL stands for
    None, and for FOREVER as an end. Rows are converted while they arrive.

    Raises   SchemaError, naming table, row and column, what was found and what was expected; IntervalError
             where validity is empty; InputFileError where the SQLite file is missing; DatabaseError where the
             database refuses; MissingExtra without SQLAlchemy, or without a database's driver.

    >>> import sqlite3
    >>> with sqlite3.connect("shop.db") as connection:
    ...     made = connection.executescript('''
    ...         CREATE TABLE price (item INTEGER, euros REAL, since TEXT, until TEXT);
    ...         INSERT INTO price VALUES (7, 12.5, '1970-01-01', '1970-01-03'), (7, 9, '1970-01-03', NULL);
    ...     ''')
    >>> prices = Schema.of(item="integer", euros="float")
    >>> load_sql("shop.db", prices, table="price", period=("since", "until"), clock="d")
    [(0, 2, (7, 12.5)), (2, inf, (7, 9.0))]
    >>> load_sql("shop.db", Schema.of(euros="float"), query="SELECT max(euros) AS euros FROM price")
    [(-inf, inf, (12.5,))]
    """
    require_libraries(("sqlalchemy",), "sql")
    from midstream.io.relations import sql_access, sql_reading

    if (table is None) == (query is None):
        found = "neither" if table is None else "both"
        raise SchemaError(f"load_sql: found {found}, expected either a table or a query")
    declared = Declaration(schema, columns or {}, period, as_clock(clock))
    with sql_access.opened(database) as engine:
        source = "query" if table is None else f"table {table}"
        origin = RelationOrigin(f"{sql_access.shown(engine)}, {source}", "row", SchemaError)
        with sql_access.translated(origin.name):
            return collect(
                sql_reading.chunks(engine, declared, origin, table, query), declared, origin, progress
            )
