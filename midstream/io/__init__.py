"""Sources and sinks of streams: files, standard input and output, sockets, Python."""

from midstream.io.errors import ConnectorError
from midstream.io.sinks.sink import Sink
from midstream.io.sinks.sinks import open_sink
from midstream.io.sources.bad_rows import BadRows
from midstream.io.sources.clock import Now, system_clock
from midstream.io.sources.iterables import async_rows_source, rows_source
from midstream.io.sources.source import Source
from midstream.io.sources.sources import open_source

__all__ = [
    "BadRows",
    "ConnectorError",
    "Now",
    "Sink",
    "Source",
    "async_rows_source",
    "open_sink",
    "open_source",
    "rows_source",
    "system_clock",
]
