"""Rows on their way out of a worker, put together into batches of a good size."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

ROWS = 5000
"""The number of rows at which a batch is handed out."""

CODES = {pa.int64(): "q", pa.int32(): "i", pa.float64(): "d"}
"""The letters of the standard library for types of numbers."""


class RowBuffer:
    """Columns of rows without nulls, kept until there are enough of them.

    >>> kept = RowBuffer(pa.schema([("x", pa.int64())]), rows=3)
    >>> [batch.num_rows for part in ([1, 2], [3, 4], [5]) for batch in kept.add({"x": part})]
    [4]
    >>> [batch.num_rows for batch in kept.flush()]
    [1]
    """

    def __init__(self, schema: pa.Schema, rows: int = ROWS) -> None:
        self._schema, self._rows = schema, rows
        self._columns: dict[str, list[Any]] = {name: [] for name in schema.names}

    def add(self, columns: Mapping[str, Sequence[Any]]) -> Iterator[pa.RecordBatch]:
        """Take rows; yield a batch if there are enough."""
        for name, column in self._columns.items():
            column.extend(columns[name])
        if len(next(iter(self._columns.values()))) >= self._rows:
            yield from self.flush()

    def flush(self) -> Iterator[pa.RecordBatch]:
        """Hand out the remaining rows, if any."""
        if any(self._columns.values()):
            arrays = [column_of(self._columns[field.name], field.type) for field in self._schema]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)
            self._columns = {name: [] for name in self._schema.names}


def column_of(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """An Arrow column of numbers, truth values or texts, as `pa.array` makes it.

    `pa.array` also looks for objects of pandas, and imports it for this: half a second of processor time for
    every worker.

    >>> column_of(["a", "", "ä"], pa.string()).to_pylist(), column_of([True, False], pa.bool_()).to_pylist()
    (['a', '', 'ä'], [True, False])
    """
    if type_ == pa.string():
        texts = [value.encode() for value in values]
        ends = array("i", accumulate(map(len, texts), initial=0))
        parts: list[Any] = [ends, b"".join(texts)]
    elif type_ == pa.bool_():
        bits = int("".join("01"[value] for value in reversed(values)) or "0", 2)
        parts = [bits.to_bytes(-(-len(values) // 8), "little")]
    else:
        parts = [array(CODES[type_], values)]
    return pa.Array.from_buffers(type_, len(values), [None, *map(pa.py_buffer, parts)])
