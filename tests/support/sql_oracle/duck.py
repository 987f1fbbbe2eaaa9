"""Plain SQL on windowed relations, at any instants, by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import duckdb

from sql_oracle.data import Table, World
from sql_oracle.queries import GIVEN_ROWS, REFERENCE, Query, Reference, references
from sql_oracle.windows import NEVER, parse, validity

EPOCH = datetime(1970, 1, 1)


class Oracle:
    """A database of the windowed relations of a world, each made when a query first refers to it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._connection = duckdb.connect(config={"threads": 1})
        for setting in ("error_on_division_by_zero", "ieee_floating_point_ops"):
            self._connection.execute(f"SET {setting} = false")  # x / 0 is unknown
        self._held: dict[tuple[str, str], tuple[str, set[int]]] = {}

    def instants(self, query: Query) -> set[int]:
        """Where something starts or ends in the relations that a query reads."""
        changes: set[int] = set()
        for reference in references(query.theirs):
            late = reference.style == "previous"
            changes.update(at + late for at in self._relation(reference)[1])
        return changes

    def answers(self, query: Query, instants: Sequence[int]) -> list[list[tuple[Any, ...]]]:
        """The rows of a query at each of some instants.

        DuckDB takes longer to plan a query than to answer it, so it is asked for all instants at once: the
        query is a lateral subquery of each. Where it cannot do that, it is asked one by one.
        """
        asked = "(SELECT unnest($1) AS number, unnest($2) AS instant) asked"
        lateral = f"LATERAL ({self._at(query, 'asked.instant')}\n) answer"
        text = f"SELECT asked.number, answer.* FROM {asked}, {lateral}"
        try:
            found = self._connection.execute(text, [list(range(len(instants))), list(instants)]).fetchall()
        except duckdb.Error:
            return [self.answer(query, instant) for instant in instants]
        answers: list[list[tuple[Any, ...]]] = [[] for _ in instants]
        for number, *row in found:
            answers[number].append(tuple(map(self._plain, row)))
        return answers

    def answer(self, query: Query, instant: int) -> list[tuple[Any, ...]]:
        """The rows of a query at an instant."""
        rows = self._connection.execute(self._at(query, str(instant))).fetchall()
        return [tuple(map(self._plain, row)) for row in rows]

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()

    def _at(self, query: Query, instant: str) -> str:
        """The query on what the windows hold at an instant."""
        text = query.theirs.replace(GIVEN_ROWS, "HAVING COUNT(*) > 0")
        found = references(text)
        return REFERENCE.sub(lambda _: self._held_at(next(found), instant), text)

    def _held_at(self, reference: Reference, instant: str) -> str:
        name, _ = self._relation(reference)
        columns = ", ".join(self._table(reference).columns) + (", ts" if reference.style == "timed" else "")
        alias = reference.alias or reference.stream
        if reference.style == "previous":
            instant += " - 1"
        return f"(SELECT {columns} FROM {name} WHERE since <= {instant} AND {instant} < until) {alias}"

    def _table(self, reference: Reference) -> Table:
        return self._world.tables[reference.stream.lower()]

    def _relation(self, reference: Reference) -> tuple[str, set[int]]:
        """The database's name of a windowed relation, and the instants at which it changes."""
        key = (reference.stream.lower(), reference.window)
        if key not in self._held:
            table = self._table(reference)
            if table.is_relation:
                runs = [(i, -NEVER, NEVER) for i in range(len(table.rows))]
            else:
                runs = validity(parse(reference.window, self._world.chronon), table.rows, list(table.columns))
            self._base(table)
            name = f"held_{len(self._held)}"
            self._connection.execute(
                f"CREATE TABLE {name} AS SELECT base.*, since, until FROM base_{table.name} base JOIN "
                "(SELECT unnest($1) AS number, unnest($2) AS since, unnest($3) AS until) USING (number)",
                [list(column) for column in zip(*runs, strict=True)],
            )
            changes = {at for _, *run in runs for at in run if abs(at) != NEVER}
            self._held[key] = (name, changes)
        return self._held[key]

    def _base(self, table: Table) -> None:
        """All rows of a stream, with their numbers and timestamps."""
        columns = ", ".join(f"{name} {type_}" for name, type_ in table.columns.items())
        self._connection.execute(
            f"CREATE TABLE IF NOT EXISTS base_{table.name} (number INTEGER, ts BIGINT, {columns})"
        )
        if self._connection.execute(f"SELECT COUNT(*) FROM base_{table.name}").fetchall() != [(0,)]:
            return
        values = [(i, t, *self._loaded(table, row)) for i, (t, row) in enumerate(table.rows)]
        marks = ", ".join("?" * (len(table.columns) + 2))
        self._connection.executemany(f"INSERT INTO base_{table.name} VALUES ({marks})", values)

    def _loaded(self, table: Table, row: tuple[Any, ...]) -> Iterator[Any]:
        """A row with timestamps in DuckDB's type."""
        for value, type_ in zip(row, table.columns.values(), strict=True):
            is_time = type_.startswith("TIMESTAMP") and value is not None
            yield EPOCH + timedelta(seconds=value * self._world.chronon) if is_time else value

    def _plain(self, value: Any) -> Any:
        """A value of a result as the project has it: times are chronons, numbers integers or floats."""
        match value:
            case datetime():
                since = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
                return (since - EPOCH) // timedelta(seconds=self._world.chronon)
            case date():
                return (datetime.combine(value, time()) - EPOCH) // timedelta(seconds=self._world.chronon)
            case timedelta():
                return value // timedelta(seconds=self._world.chronon)
            case Decimal():
                return float(value)
        return value
