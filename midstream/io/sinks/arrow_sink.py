"""Write results as a stream of Arrow's IPC format."""

from __future__ import annotations

from typing import Any

from midstream.io.sinks.parquet_sink import ParquetSink


class ArrowSink(ParquetSink):
    """Writes the columns of `ParquetSink` as a stream, whose readers see results as they come."""

    format = "Arrow"

    def flush(self) -> None:
        """Hand over what has been written so far."""
        self.write_waiting()
        self._output.flush()

    def _new_writer(self, file: Any) -> Any:
        import pyarrow as pa

        return pa.ipc.new_stream(file, self._results.fields)
