"""Write results in Parquet files."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from midstream.plans.schema import Column, Schema, Type
from midstream.plans.streams import BEGINNING, FOREVER, Batch
from midstream.scenarios.connectors.csv_sink import VALIDITY, refuse_validity
from midstream.scenarios.connectors.errors import ConnectorError
from midstream.scenarios.connectors.output import TextOutput
from midstream.scenarios.connectors.sink import Sink
from midstream.scenarios.studies.requirements import require_libraries

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 1 << 16
"""How many rows are written at once; Parquet files get slow to read with small groups."""


class ParquetSink(Sink):
    """Writes the columns start and end, and those of the row; null is FOREVER as an end.

    Rows are written by groups of 65,536: that many stay in memory, and `flush` does not hurry them, because
    no reader sees anything of a Parquet file before it is closed. A column of type any holds JSON.

    Raises   ConnectorError for integers of more than 64 bits, and for a column called start or end;
             MissingExtra without pyarrow.
    """

    def __init__(self, path: str, schema: Schema, name: str | None = None) -> None:
        require_libraries(("pyarrow",), "arrow")
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._name = name or path
        refuse_validity(self._name, schema)
        self.schema = schema
        times = [pa.field("start", pa.int64()), pa.field("end", pa.int64())]
        self._fields = pa.schema([*times, *(pa.field(c.name, _type(c), c.nullable) for c in schema)])
        self._waiting: list[pa.RecordBatch] = []
        self._count = 0
        self._output = TextOutput(path, name)
        self._writer = pq.ParquetWriter(_Bytes(self._output), self._fields)

    @property
    def is_wanted(self) -> bool:
        return self._output.is_wanted

    def write(self, batch: Batch) -> None:
        import pyarrow as pa

        if not batch:
            return
        starts, ends, rows = zip(*batch, strict=True)
        columns = [
            [None if start == BEGINNING else start for start in starts],
            [None if end == FOREVER else end for end in ends],
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
            raise ConnectorError(
                f"{self._name}: found a row that Parquet has no type for: {error}", path=self._name
            ) from error
        self._waiting.append(pa.RecordBatch.from_arrays(arrays, schema=self._fields))
        self._count += len(batch)
        if self._count >= ROW_GROUP:
            self._write()

    def close(self) -> None:
        try:
            self._write()
            self._writer.close()
        finally:
            self._output.close()

    def _write(self) -> None:
        import pyarrow as pa

        waiting, self._waiting, self._count = self._waiting, [], 0
        if waiting:
            self._writer.write_table(pa.Table.from_batches(waiting, self._fields))


class _Bytes(io.RawIOBase):
    """What pyarrow takes for a file."""

    def __init__(self, output: TextOutput) -> None:
        self._output = output

    def writable(self) -> bool:
        return True

    def write(self, some: Any) -> int:
        self._output.write(bytes(some))
        return len(some)


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
