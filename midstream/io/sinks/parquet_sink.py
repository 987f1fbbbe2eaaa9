"""Write results in Parquet files."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from midstream.io.errors import ConnectorError
from midstream.io.file_formats import VALIDITY
from midstream.io.output import TextOutput
from midstream.io.requirements import require_libraries
from midstream.io.sinks.csv_sink import refuse_validity
from midstream.io.sinks.sink import Sink, Times, integers
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch
from midstream.plans.values.units import TimeUnit

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROW_GROUP = 1 << 16
"""The number of rows written at once; small groups make Parquet files slow to read."""


class ParquetSink(Sink):
    """Writes the columns start and end, and those of the row; the end FOREVER is null.

    Times are integers, or timestamps without a zone, in UTC. A column of type any holds JSON.

    Rows are written in groups of 65,536, which stay in memory until then. `flush` does not write them
    earlier, because a Parquet file cannot be read before it is closed.

    Raises   ConnectorError for integers of more than 64 bits, and for a column called start or end;
             MissingExtra without pyarrow.
    """

    def __init__(self, path: str, schema: Schema, name: str | None = None, times: Times = integers) -> None:
        require_libraries(("pyarrow",), "arrow")

        self._name = name or path
        refuse_validity(self._name, schema)
        self.schema = schema
        self._times = times
        self._waiting: list[pa.RecordBatch] = []
        self._count = 0
        self._written = 0
        self._output = TextOutput(path, name)
        self._writer: pq.ParquetWriter | None = None

    @property
    def is_wanted(self) -> bool:
        return self._output.is_wanted

    def write(self, batch: Batch) -> None:
        import pyarrow as pa

        if not batch:
            return
        self._begin()
        starts, ends, rows = zip(*batch, strict=True)
        scale = self._scale
        columns = [
            [None if start == BEGINNING else start * scale for start in starts],
            [None if end == FOREVER else end * scale for end in ends],
            *(map(list, zip(*rows, strict=True))),
        ]
        for position, column in enumerate(self.schema, len(VALIDITY)):
            if column.type is Type.ANY:
                columns[position] = list(map(_json, columns[position]))
        try:
            arrays = [
                pa.array(values, field.type) for values, field in zip(columns, self._fields, strict=True)
            ]
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            fault = self._too_large(batch) or f"found a row that Parquet has no type for: {error}"
            raise ConnectorError(f"{self._name}: {fault}", path=self._name) from error
        self._written += len(batch)
        self._waiting.append(pa.RecordBatch.from_arrays(arrays, schema=self._fields))
        self._count += len(batch)
        if self._count >= ROW_GROUP:
            self._write()

    def _too_large(self, batch: Batch) -> str:
        """Describe the first integer of a batch that has more than 64 bits; empty if there is none."""
        for number, (_, _, row) in enumerate(batch, self._written + 1):
            for column, value in zip(self.schema, row, strict=True):
                if column.type is Type.INTEGER and value is not None and not -(2**63) <= value < 2**63:
                    return (
                        f"result {number}, column {column.name}: found an integer beyond 64 bits, for which "
                        f"Parquet has no type; write CAST({column.name} AS TEXT), or a file in .jsonl or .csv"
                    )
        return ""

    def close(self) -> None:
        try:
            writer = self._begin()
            self._write()
            writer.close()
        finally:
            self._output.close()

    def _begin(self) -> pq.ParquetWriter:
        """The writer; it is made with the first result, because the form of times is unknown before."""
        if self._writer is not None:
            return self._writer
        import pyarrow as pa
        import pyarrow.parquet as pq

        unit = self._times()
        kind, self._scale = (pa.int64(), 1) if unit is None else _instants(unit)
        times = [pa.field("start", kind), pa.field("end", kind)]
        self._fields = pa.schema([*times, *(pa.field(c.name, _type(c), c.nullable) for c in self.schema)])
        self._writer = pq.ParquetWriter(_Bytes(self._output), self._fields)
        return self._writer

    def _write(self) -> None:
        import pyarrow as pa

        waiting, self._waiting, self._count = self._waiting, [], 0
        if waiting:
            self._begin().write_table(pa.Table.from_batches(waiting, self._fields))


class _Bytes(io.RawIOBase):
    """A file for pyarrow that writes to a TextOutput."""

    def __init__(self, output: TextOutput) -> None:
        self._output = output

    def writable(self) -> bool:
        return True

    def write(self, some: Any) -> int:
        self._output.write(bytes(some))
        return len(some)


def _instants(unit: TimeUnit) -> tuple[pa.DataType, int]:
    """The Parquet type of instants, at most milliseconds, and the number of its units in a chronon."""
    import pyarrow as pa

    name = {1: "ns", 1000: "us"}.get(unit.nanoseconds, "ms")
    return pa.timestamp(name), unit.nanoseconds // {"ns": 1, "us": 10**3, "ms": 10**6}[name]


def _type(column: Column) -> pa.DataType:
    import pyarrow as pa

    return {
        Type.INTEGER: pa.int64(),
        Type.FLOAT: pa.float64(),
        Type.STRING: pa.string(),
        Type.BOOLEAN: pa.bool_(),
        Type.ANY: pa.string(),
    }[column.type]


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)
