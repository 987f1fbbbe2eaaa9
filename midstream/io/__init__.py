"""Sources and sinks of streams: files, standard input and output, sockets, Python."""

from typing import TYPE_CHECKING

from midstream.plans.values.lazy_names import lazy_names

if TYPE_CHECKING:
    from midstream.io.errors import ConnectorError as ConnectorError
    from midstream.io.sinks.sink import Sink as Sink
    from midstream.io.sinks.sinks import open_sink as open_sink
    from midstream.io.sources.bad_rows import BadRows as BadRows
    from midstream.io.sources.clock import Now as Now, system_clock as system_clock
    from midstream.io.sources.iterables import (
        async_rows_source as async_rows_source,
        rows_source as rows_source,
    )
    from midstream.io.sources.source import Source as Source
    from midstream.io.sources.sources import open_source as open_source
else:
    # Help of commands needs checks of files, without sources and sinks.
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "errors": "ConnectorError",
            "sinks.sink": "Sink",
            "sinks.sinks": "open_sink",
            "sources.bad_rows": "BadRows",
            "sources.clock": "Now system_clock",
            "sources.iterables": "async_rows_source rows_source",
            "sources.source": "Source",
            "sources.sources": "open_source",
        },
    )
