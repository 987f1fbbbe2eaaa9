"""What can be wrong with sources and sinks, besides what can be wrong with the rows of a source."""

from __future__ import annotations

from midstream.plans.values.errors import MidstreamError


class ConnectorError(MidstreamError):
    """A source or a sink cannot be made, opened or written to as was asked.

    What a sink had written before is kept, and ends with a complete row.
    """
