"""Write results in Parquet files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from midstream.io.output import TextOutput
from midstream.io.requirements import require_libraries
from midstream.io.sinks.arrow import ArrowResults
from midstream.io.sinks.csv_sink import refuse_validity
from midstream.io.sinks.sink import Sink, Times, integers
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Batch

if TYPE_CHECKING:
    import pyarrow as pa

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

    format = "Parquet"

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
        self._writer: Any = None

    @property
    def is_wanted(self) -> bool:
        return self._output.is_wanted

    def write(self, batch: Batch) -> None:
        if not batch:
            return
        self._begin()
        self._waiting.append(self._results.batch(batch, self._written))
        self._written += len(batch)
        self._count += len(batch)
        if self._count >= ROW_GROUP:
            self.write_waiting()

    def close(self) -> None:
        try:
            writer = self._begin()
            self.write_waiting()
            writer.close()
        finally:
            self._output.close()

    def _begin(self) -> Any:
        """The writer; it is made with the first result, because the form of times is unknown before."""
        if self._writer is not None:
            return self._writer
        self._results = ArrowResults(self._name, self.schema, self._times())
        self._writer = self._new_writer(_Bytes(self._output))
        return self._writer

    def _new_writer(self, file: Any) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(file, self._results.fields)

    def write_waiting(self) -> None:
        """Write the rows that wait."""
        import pyarrow as pa

        waiting, self._waiting, self._count = self._waiting, [], 0
        if waiting:
            self._begin().write_table(pa.Table.from_batches(waiting, self._results.fields))


class _Bytes(io.RawIOBase):
    """A file for pyarrow that writes to a TextOutput."""

    def __init__(self, output: TextOutput) -> None:
        self._output = output

    def writable(self) -> bool:
        return True

    def write(self, some: Any) -> int:
        self._output.write(bytes(some))
        return len(some)
