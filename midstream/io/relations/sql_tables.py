"""Tables that Midstream writes: column types, creation, and rows.

Statements use keys (c0, c1, …) for columns instead of their names, because SQLAlchemy gives some characters
in names a meaning.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.sql.type_api import TypeEngine

from midstream.io.errors import DatabaseError
from midstream.io.relations import sql_access
from midstream.io.relations.sql_database import load_sql
from midstream.plans.values.errors import SchemaError
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.streams import FOREVER, Batch, Element, Payload, Time

Existing = Literal["refuse", "replace", "append"]
"""The treatment of an existing table of the same name."""


class _Untyped(sa.types.UserDefinedType[Any]):
    """A column of SQLite that keeps numbers and texts as they are."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """The type BLOB, the only one that makes SQLite convert no value.

        JSON would become numbers, which SQLite rounds.
        """
        return "BLOB"


class AnyValue(sa.types.TypeDecorator[Any]):
    """Values of a column of type ANY: numbers, texts, booleans and NULL are read back equal.

    They are stored as JSON. SQLite, whose columns take values of any type, stores them as they are, with 1
    and 0 for true and false.
    """

    impl = sa.JSON
    cache_ok = True

    def __init__(self) -> None:
        super().__init__(none_as_null=True)

    def load_dialect_impl(self, dialect: sa.Dialect) -> TypeEngine[Any]:
        """The column type for a dialect."""
        return _Untyped() if dialect.name == "sqlite" else super().load_dialect_impl(dialect)

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        """Check a value; raises SchemaError for values that would not be read back equal."""
        if value is not None and type(value) not in (str, int, float, bool):
            raise SchemaError(
                f"found {value!r} ({type(value).__name__}), expected a number, a text, a boolean or None"
            )
        return value


_INTEGER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # only INTEGER is SQLite's own row number

SQL_TYPES: Mapping[Type, TypeEngine[Any]] = {
    Type.INTEGER: _INTEGER,
    Type.FLOAT: sa.Double(),
    Type.STRING: sa.Text(),
    Type.BOOLEAN: sa.Boolean(),
    Type.ANY: AnyValue(),
}
"""The type of table columns, by type of a schema's column."""


class _SqlTable:
    """A new or existing table of a database: some leading columns, and those of a schema.

    Raises   DatabaseError for an existing table that is to be refused, SchemaError where a table to append to
             has other columns.
    """

    def __init__(
        self,
        database: str | os.PathLike[str] | sa.Engine,
        name: str,
        leading: Sequence[sa.Column[Any]],
        schema: Schema,
        existing: Existing,
    ) -> None:
        self.is_ours = not isinstance(database, sa.Engine)
        self.engine = (
            database if isinstance(database, sa.Engine) else sql_access.connect(database, for_writing=True)
        )
        self.place = f"{sql_access.shown(self.engine)}, table {name}"
        self.table = sa.Table(name, sa.MetaData(), *leading, *_columns(schema))
        try:
            with self.transaction() as connection:
                if not sa.inspect(connection).has_table(self.table.name):
                    self.table.create(connection)
                elif existing == "replace":
                    self.table.drop(connection)
                    self.table.create(connection)
                elif existing == "append":
                    self._compare(connection)
                else:
                    raise DatabaseError(
                        f"{self.place}: found a table of this name, expected none; say existing='replace' "
                        "where it may go"
                    )
        except BaseException:
            self.close()
            raise

    def _compare(self, connection: sa.Connection) -> None:
        found = [column["name"] for column in sa.inspect(connection).get_columns(self.table.name)]
        expected = [column.name for column in self.table.columns]
        if found != expected:
            raise SchemaError(
                f"{self.place}: found columns {', '.join(found)} in the table to append to, expected "
                f"{', '.join(expected)}"
            )

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """One transaction: all changes of a block, or none."""
        with sql_access.translated(self.place), self.engine.begin() as connection:
            yield connection

    def insert(self, connection: sa.Connection, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows; the values of the leading columns come first."""
        keys = self.table.columns.keys()
        connection.execute(self.table.insert(), [dict(zip(keys, row, strict=True)) for row in rows])

    def close(self) -> None:
        """Close the database, unless the caller opened it."""
        if self.is_ours:
            self.engine.dispose()


def _columns(schema: Schema) -> list[sa.Column[Any]]:
    return [
        sa.Column(column.name, SQL_TYPES[column.type], key=f"c{position}", nullable=column.nullable)
        for position, column in enumerate(schema)
    ]


class SqlRows(_SqlTable):
    """A multiset of rows; a row that occurs n times is n rows, each with its own number as the key.

    State    The keys by row.
    """

    def __init__(
        self,
        database: str | os.PathLike[str] | sa.Engine,
        name: str,
        schema: Schema,
        key: str,
        existing: Existing,
    ) -> None:
        Schema((Column(key), *schema))  # refuses a key that is a column too
        number = sa.Column(key, _INTEGER, key="key", primary_key=True, autoincrement=False)
        super().__init__(database, name, [number], schema, existing)
        self._deletion = self.table.delete().where(self.table.c.key == sa.bindparam("gone"))
        self._numbers: dict[Payload, list[int]] = {}
        self._next = 1

    def apply(self, changes: Mapping[Payload, int]) -> None:
        """Add and remove rows in one transaction."""
        gone = {row: self._numbers[row][count:] for row, count in changes.items() if count < 0}
        come = [row for row, count in changes.items() for _ in range(count)]
        numbers = range(self._next, self._next + len(come))
        with self.transaction() as connection:
            if gone:
                deleted = [{"gone": number} for some in gone.values() for number in some]
                connection.execute(self._deletion, deleted)
            if come:
                self.insert(connection, ((number, *row) for number, row in zip(numbers, come, strict=True)))
        for row, some in gone.items():
            left = self._numbers[row]
            del left[-len(some) :]
            if not left:
                del self._numbers[row]
        for number, row in zip(numbers, come, strict=True):
            self._numbers.setdefault(row, []).append(number)
        self._next = numbers.stop

    def rows(self) -> Counter[Payload]:
        """The rows that another reader would see now."""
        with self.transaction() as connection:
            columns = list(self.table.columns)[1:]
            return Counter(tuple(row) for row in connection.execute(sa.select(*columns)))


class SqlElements(_SqlTable):
    """Elements as rows of a temporal relation: start, end (NULL is FOREVER), payload."""

    def __init__(
        self,
        database: str | os.PathLike[str] | sa.Engine,
        name: str,
        schema: Schema,
        period: tuple[str, str],
        existing: Existing,
        is_forgetting: bool,
    ) -> None:
        start, end = period
        Schema((Column(start), Column(end), *schema))  # refuses a column that is there twice
        self._schema, self._period = schema, period
        times = [
            sa.Column(start, _INTEGER, key="start", nullable=False),
            sa.Column(end, _INTEGER, key="end", nullable=True, index=is_forgetting),
        ]
        super().__init__(database, name, times, schema, existing)
        self._deletion = self.table.delete().where(self.table.c.end <= sa.bindparam("limit"))

    def apply(self, batch: Batch, limit: Time | None) -> None:
        """Add elements, then delete those that end at or before the limit, in one transaction."""
        with self.transaction() as connection:
            if batch:
                rows = ((start, None if end == FOREVER else end, *payload) for start, end, payload in batch)
                self.insert(connection, rows)
            if limit is not None:
                connection.execute(self._deletion, {"limit": limit})

    def elements(self) -> list[Element]:
        """The elements that another reader would see now."""
        return load_sql(self.engine, self._schema, table=self.table.name, period=self._period)
