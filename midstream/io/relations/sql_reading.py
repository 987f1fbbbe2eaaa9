"""Rows read from a database in chunks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from midstream.io.errors import DatabaseError
from midstream.io.relations.content import CHUNK, Chunk, Declaration, RelationOrigin, rows_of
from midstream.plans.values.schema import Column, Type, suggest


def chunks(
    engine: sa.Engine, declared: Declaration, origin: RelationOrigin, table: str | None, query: str | None
) -> Iterator[Chunk]:
    """Read the rows of a table or a query.

    State    One chunk, if the driver can stream.
    """
    wanted = [*declared.sources, *(declared.period or ())]
    with engine.connect() as connection:
        statement: sa.Executable
        if table is not None:
            statement, texts = _selection(connection, table, wanted, origin)
        else:
            # A colon in the user's text is no parameter of SQLAlchemy.
            statement, texts = sa.text((query or "").replace(":", r"\:")), set()
        result = connection.execution_options(yield_per=CHUNK).execute(statement)
        if not result.returns_rows:
            raise DatabaseError(f"{origin.name}: found a statement without rows, expected a SELECT")
        names = list(result.keys())
        positions = [origin.position(names, name) for name in wanted]
        width = len(declared.schema)
        read = 0
        for partition in result.partitions(CHUNK):
            columns = list(zip(*partition, strict=True))
            values = [columns[position] for position in positions]
            numbers = range(read + 1, read + 1 + len(partition))
            payload = [
                _converted(numbers, name, column, some, name in texts, origin)
                for name, column, some in zip(declared.sources, declared.schema, values, strict=False)
            ]
            read += len(partition)
            yield Chunk(numbers, rows_of(payload, len(partition)), *values[width:])


def _selection(
    connection: sa.Connection, name: str, wanted: Sequence[str], origin: RelationOrigin
) -> tuple[sa.Executable, set[str]]:
    """A statement that reads the wanted columns of a table, and the columns that hold JSON as text."""
    try:
        table = sa.Table(name, sa.MetaData(), autoload_with=connection, resolve_fks=False)
    except sa.exc.NoSuchTableError:
        inspector = sa.inspect(connection)
        known = [*inspector.get_table_names(), *inspector.get_view_names()]
        expected = f"one of {', '.join(known) or 'none'}{suggest(name, known)}"
        raise DatabaseError(f"{origin.name}: found no such table, expected {expected}") from None
    names = [column.name for column in table.columns]
    columns = [table.columns[names.index(n)] for n in dict.fromkeys(wanted) if origin.position(names, n) >= 0]
    if connection.dialect.name != "sqlite":
        return sa.select(*columns), set()
    # SQLite's columns hold values of any type, whatever their declaration. Values are read unconverted: the
    # conversions by declared type fail on some texts of dates, and turn 7 into true.
    texts = {column.name for column in columns if isinstance(column.type, sa.JSON)}
    raw = [sa.type_coerce(column, sa.types.NullType()).label(column.name) for column in columns]
    return sa.select(*raw), texts


def _converted(
    numbers: Sequence[int],
    name: str,
    column: Column,
    values: Sequence[Any],
    is_json: bool,
    origin: RelationOrigin,
) -> Sequence[Any]:
    """Values converted from the database's types to the column's type.

    Values that do not fit stay as they are, and fail the check of the schema.
    """
    if column.type is Type.ANY:
        return (
            [_parsed(n, name, v, origin) for n, v in zip(numbers, values, strict=True)] if is_json else values
        )
    found = set(map(type, values)) & CONVERTERS[column.type].keys()
    for type_ in found:
        convert = CONVERTERS[column.type][type_]
        values = [convert(value) if type(value) is type_ else value for value in values]
    return values


def _parsed(number: int, name: str, value: Any, origin: RelationOrigin) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise origin.misfit(number, name, repr(value), "JSON") from None


def _whole(value: Decimal) -> int | Decimal:
    return int(value) if value.is_finite() and value == int(value) else value


def _flag(value: int) -> bool | int:
    return bool(value) if value in (0, 1) else value


CONVERTERS: Mapping[Type, Mapping[type, Callable[[Any], Any]]] = {
    Type.INTEGER: {Decimal: _whole},
    Type.FLOAT: {Decimal: float},
    Type.STRING: {},
    Type.BOOLEAN: {int: _flag},
}
"""By type of column, converters from other Python types: Decimal, and integers for booleans."""
