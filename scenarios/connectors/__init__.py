"""Where streams come from and where results go: files, standard input and output, sockets, Python."""

from midstream.scenarios.connectors.bad_rows import BadRows
from midstream.scenarios.connectors.clock import Clock, system_clock
from midstream.scenarios.connectors.errors import ConnectorError
from midstream.scenarios.connectors.iterables import async_rows_source, rows_source
from midstream.scenarios.connectors.sink import Sink
from midstream.scenarios.connectors.sinks import open_sink
from midstream.scenarios.connectors.source import Source
from midstream.scenarios.connectors.sources import open_source

__all__ = [
    "BadRows",
    "Clock",
    "ConnectorError",
    "Sink",
    "Source",
    "async_rows_source",
    "open_sink",
    "open_source",
    "rows_source",
    "system_clock",
]
