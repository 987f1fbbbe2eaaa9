"""Results as a temporal relation."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Literal, Self

from midstream.io.relations.content import Period
from midstream.io.relations.received import check_batch
from midstream.io.requirements import require_libraries
from midstream.operators.base.expiry import Expiry
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time, chronon_end

if TYPE_CHECKING:
    import sqlalchemy as sa

    from midstream.io.relations.sql_tables import SqlElements


class TemporalTable:
    """All results with the intervals in which they are valid, for queries on the past.

        table@t  =  S@t      for every instant t from progress − retention up to, not including, progress

    schema      the stream's columns
    database    a URL of SQLAlchemy, the path of an SQLite file, which is made if it is missing, or an engine
                of SQLAlchemy; without it, the table is in memory
    table       its name
    period      the names of the columns with start and end; an end of FOREVER is NULL
    existing    "refuse", "replace" or "append" to an existing table of this name
    retention   the number of chronons that results stay after their end; None for ever

    Input    Batches of results, ordered by start; progress, as far as batches do not imply it.
    State    In memory, the elements; with a database, nothing.
    Cost     One transaction per batch; O(log n) per element to delete it.
    Raises   StreamOrderError, SchemaError; DatabaseError where the database refuses: then the table has
             nothing of the batch.
    Source   thesis, section 17.4.3

    >>> table = TemporalTable(Schema.of(item="integer"), retention=10)
    >>> table.push([(0, 5, (7,)), (3, 40, (8,))])
    >>> table.advance(15)                           # from 5 on, (7,) is not valid
    >>> table.elements()
    [(3, 40, (8,))]
    """

    def __init__(
        self,
        schema: Schema,
        database: str | os.PathLike[str] | sa.Engine | None = None,
        table: str = "results",
        *,
        period: Period = ("valid_from", "valid_to"),
        existing: Literal["refuse", "replace", "append"] = "refuse",
        retention: int | None = None,
    ) -> None:
        self.schema = schema
        self._name = f"table {table}"
        self._retention = retention
        self._reached: Time = BEGINNING
        self._elements: _MemoryElements | SqlElements = _MemoryElements(retention is not None)
        if database is not None:
            require_libraries(("sqlalchemy",), "sql")
            from midstream.io.relations.sql_tables import SqlElements

            self._elements = SqlElements(database, table, schema, period, existing, retention is not None)

    def push(self, batch: Iterable[Element]) -> None:
        """Take results."""
        elements = list(batch)
        if elements:
            check_batch(elements, self.schema, self._reached, self._name)
            self._elements.apply(elements, self._limit(elements[-1][0]))
            self._reached = elements[-1][0]

    def advance(self, progress: Time) -> None:
        """Advance the table: no later result starts before `progress`, which is FOREVER at the end.

        Results whose retention is over are deleted; at the end of the stream none is. Progress that is not
        new is ignored.
        """
        progress = chronon_end(progress)
        if progress > self._reached:
            limit = self._limit(progress)
            if limit is not None:
                self._elements.apply([], limit)
            self._reached = progress

    def elements(self) -> list[Element]:
        """The content of the table, ordered by start, as the relation of an engine.

        Cost     O(rows).
        """
        return self._elements.elements()

    def close(self) -> None:
        """Close the database; the table stays as it is."""
        self._elements.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _limit(self, progress: Time) -> Time | None:
        """Results that end at or before this instant are deleted; None deletes nothing."""
        return None if self._retention is None or progress == FOREVER else progress - self._retention


class _MemoryElements:
    """Elements in memory, in order of arrival, which is the order of start."""

    def __init__(self, is_forgetting: bool) -> None:
        self._kept: dict[int, Element] = {}
        self._arrivals = count()
        self._expiry: Expiry[int] | None = Expiry() if is_forgetting else None

    def apply(self, batch: Batch, limit: Time | None) -> None:
        """Add elements, then delete those that end at or before the limit."""
        expiry = self._expiry
        for number, element in zip(self._arrivals, batch, strict=False):
            self._kept[number] = element
            if expiry is not None and element[1] != FOREVER:
                expiry.add(element[1], number)
        if expiry is not None and limit is not None:
            for _, number in expiry.expired(limit):
                del self._kept[number]

    def elements(self) -> list[Element]:
        """The elements, ordered by start."""
        return list(self._kept.values())

    def close(self) -> None:
        """Do nothing: memory need not be closed."""
