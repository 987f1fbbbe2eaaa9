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
    """A table that is, at every moment, a stream's snapshot at the table's time.

        table  =  τ_time(S),      time = progress − 1: the last instant that is known for good

    Rows are inserted when elements start, and deleted when they end. What has to change when time moves on
    is changed in one transaction, so that a reader finds one snapshot or the next. A row that is valid n
    times is there n times, as SQL has it: queries on the table need not know of multiplicities. So that one
    of several equal rows can be deleted, a table of a database numbers them in a further column.

    schema     the stream's columns
    database   a URL as SQLAlchemy has them, the path of an SQLite file, which is made where there is none,
               or an engine of SQLAlchemy; without it, the table is in memory
    table      its name
    key        the name of the column with the rows' numbers
    existing   what is to become of a table of this name: "refuse" it, or "replace" it

    Input    Batches of results, ordered by start; progress, as far as batches do not tell it.
    State    The elements valid at `time`, those that start after it, and their rows' numbers.
    Cost     One transaction for a batch or a step in time, however many rows change; O(1) amortised per
             element where ends are ordered, else O(log n), and the database's own.
    Raises   StreamOrderError, SchemaError; DatabaseError where the database refuses: then nothing of the step
             is in the table, nothing is lost, and the next call tries again.
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
        """The instant whose snapshot the table is; BEGINNING at first, FOREVER where the stream has ended."""
        return self._shown if self._shown in (BEGINNING, FOREVER) else self._shown - 1

    def push(self, batch: Iterable[Element]) -> None:
        """Take results, and move on to where the last of them starts."""
        elements = list(batch)
        if elements:
            check_batch(elements, self.schema, self._received, self._name)
            self._waiting.extend(elements)
            self._received = elements[-1][0]
            self._show(self._received)

    def advance(self, progress: Time) -> None:
        """No later result starts before `progress`, which is FOREVER at the end. What tells nothing new is
        ignored."""
        self._received = max(self._received, chronon_end(progress))
        self._show(self._received)

    def rows(self) -> Counter[Payload]:
        """The rows that are in the table, with how often they are. Cost: O(rows)."""
        return self._rows.rows()

    def close(self) -> None:
        """Let go of the database; the table stays as it is."""
        self._rows.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _show(self, progress: Time) -> None:
        """Make the table the snapshot of the last instant before some progress."""
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
        # If this fails, all that is due stays so.
        if changes := {payload: count for payload, count in due.items() if count}:
            self._rows.apply(changes)
        due.clear()
        self._shown = progress


class _MemoryRows:
    """A multiset of rows in memory that changes as a whole, for readers in any thread."""

    def __init__(self) -> None:
        self._rows: Counter[Payload] = Counter()
        self._lock = Lock()

    def apply(self, changes: Mapping[Payload, int]) -> None:
        """Add rows, and take away as many as a count is negative; all of it or nothing."""
        with self._lock:
            for row, count in changes.items():
                self._rows[row] += count
                if not self._rows[row]:
                    del self._rows[row]

    def rows(self) -> Counter[Payload]:
        """The rows that are there."""
        with self._lock:
            return Counter(self._rows)

    def close(self) -> None:
        """Nothing was opened."""
