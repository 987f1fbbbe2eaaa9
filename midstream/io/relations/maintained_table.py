"""A stream's snapshot as a table that is kept up to date."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Literal, Self

from midstream.io.relations.received import check_batch
from midstream.io.requirements import require_libraries
from midstream.operators.base.expiry import Expiry
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload, Time, chronon_end

if TYPE_CHECKING:
    import sqlalchemy as sa

    from midstream.io.relations.sql_tables import SqlRows


class MaintainedTable:
    """A table that always holds a stream's snapshot at the table's time.

        table  =  τ_time(S),      time = progress − 1: the last instant that cannot change any more

    Rows are inserted when elements start, and deleted when they end. One transaction makes all changes of a
    step in time, so that a reader sees one snapshot or the next. A row that is valid n times is n rows of the
    table, as in SQL, so that queries need not handle multiplicities. A table in a database numbers its rows
    in a further column, so that one of several equal rows can be deleted.

    schema     the stream's columns
    database   a URL of SQLAlchemy, the path of an SQLite file, which is made if it is missing, or an engine
               of SQLAlchemy; without it, the table is in memory
    table      its name
    key        the name of the column with the row numbers
    existing   "refuse" or "replace" an existing table of this name

    Input    Batches of results, ordered by start; progress, as far as batches do not imply it.
    State    The elements valid at `time`, those that start after it, and the row numbers.
    Cost     One transaction for a batch or a step in time, whatever the number of changes; O(1) amortised per
             element where ends are ordered, else O(log n), and the database's own cost.
    Raises   StreamOrderError, SchemaError; DatabaseError where the database refuses: then the table has no
             change of the step, nothing is lost, and the next call tries again.
    Source   thesis, section 17.4.3

    >>> table = MaintainedTable(Schema.of(item="integer"))
    >>> table.push([(0, 10, (7,)), (2, 5, (7,)), (4, 20, (8,))])
    >>> table.time, dict(table.rows())              # (8,) starts at 4, and more may start there
    (3, {(7,): 2})
    >>> table.advance(6)
    >>> table.time, dict(table.rows())
    (5, {(7,): 1, (8,): 1})
    """

    def __init__(
        self,
        schema: Schema,
        database: str | os.PathLike[str] | sa.Engine | None = None,
        table: str = "results",
        *,
        key: str = "row_number",
        existing: Literal["refuse", "replace"] = "refuse",
    ) -> None:
        self.schema = schema
        self._rows: _MemoryRows | SqlRows = _MemoryRows()
        if database is not None:
            require_libraries(("sqlalchemy",), "sql")
            from midstream.io.relations.sql_tables import SqlRows

            self._rows = SqlRows(database, table, schema, key, existing)
        self._name = f"table {table}"
        self._received: Time = BEGINNING
        self._shown: Time = BEGINNING
        self._waiting: deque[Element] = deque()
        self._expiry: Expiry[Payload] = Expiry()
        self._due: Counter[Payload] = Counter()

    @property
    def time(self) -> Time:
        """The instant of the table's snapshot; BEGINNING at first, FOREVER after the end of the stream."""
        return self._shown if self._shown in (BEGINNING, FOREVER) else self._shown - 1

    def push(self, batch: Iterable[Element]) -> None:
        """Take results, and advance the table to the start of the last one."""
        elements = list(batch)
        if elements:
            check_batch(elements, self.schema, self._received, self._name)
            self._waiting.extend(elements)
            self._received = elements[-1][0]
            self._show(self._received)

    def advance(self, progress: Time) -> None:
        """Advance the table: no later result starts before `progress`, which is FOREVER at the end.

        Progress that is not new is ignored.
        """
        self._received = max(self._received, chronon_end(progress))
        self._show(self._received)

    def rows(self) -> Counter[Payload]:
        """The rows of the table, with their multiplicities.

        Cost     O(rows).
        """
        return self._rows.rows()

    def close(self) -> None:
        """Close the database; the table stays as it is."""
        self._rows.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _show(self, progress: Time) -> None:
        """Change the table to the snapshot of the last instant before `progress`."""
        if progress == self._shown:
            return
        last = progress - 1
        due, waiting, expiry = self._due, self._waiting, self._expiry
        while waiting and waiting[0][0] < progress:
            _, end, payload = waiting.popleft()
            if end > last or end == FOREVER:
                due[payload] += 1
            if last < end < FOREVER:
                expiry.add(end, payload)
        for _, payload in expiry.expired(last):
            due[payload] -= 1
        # If this fails, all changes stay due.
        if changes := {payload: count for payload, count in due.items() if count}:
            self._rows.apply(changes)
        due.clear()
        self._shown = progress


class _MemoryRows:
    """A multiset of rows in memory that readers in any thread see change as a whole."""

    def __init__(self) -> None:
        self._rows: Counter[Payload] = Counter()
        self._lock = Lock()

    def apply(self, changes: Mapping[Payload, int]) -> None:
        """Add rows, and remove those with negative counts: all changes, or none."""
        with self._lock:
            for row, count in changes.items():
                self._rows[row] += count
                if not self._rows[row]:
                    del self._rows[row]

    def rows(self) -> Counter[Payload]:
        """A copy of the rows."""
        with self._lock:
            return Counter(self._rows)

    def close(self) -> None:
        """Do nothing: memory need not be closed."""
