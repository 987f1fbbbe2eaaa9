"""Rows on their way out of a worker: put together to batches of a good size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

ROWS = 5000
"""From so many rows on, a batch is handed out."""


class RowBuffer:
    """Columns of rows, kept until there are enough of them.

    >>> kept = RowBuffer(pa.schema([("x", pa.int64())]), rows=3)
    >>> [batch.num_rows for part in ([1, 2], [3, 4], [5]) for batch in kept.add({"x": part})]
    [4]
    >>> [batch.num_rows for batch in kept.rest()]
    [1]
    """

    def __init__(self, schema: pa.Schema, rows: int = ROWS) -> None:
        self._schema, self._rows = schema, rows
        self._columns: dict[str, list[Any]] = {name: [] for name in schema.names}

    def add(self, columns: Mapping[str, Sequence[Any]]) -> Iterator[pa.RecordBatch]:
        """Take rows; gives a batch if there are enough."""
        for name, column in self._columns.items():
            column.extend(columns[name])
        if len(next(iter(self._columns.values()))) >= self._rows:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is left, if anything."""
        if any(self._columns.values()):
            yield pa.RecordBatch.from_pydict(self._columns, schema=self._schema)
            self._columns = {name: [] for name in self._schema.names}
