"""Errors of sources, sinks and relations as such; their rows have errors of their own."""

from __future__ import annotations

from midstream.plans.values.errors import MidstreamError


class ConnectorError(MidstreamError):
    """A source or a sink cannot be made, opened or written to as was asked.

    What a sink had written before is kept, and ends with a complete row.
    """


class RelationError(MidstreamError):
    """A relation was asked for a row that it does not hold, or for instants that it does not know.

    Delete what is there; ask for instants that have passed and are still remembered.
    """


class DatabaseError(MidstreamError):
    """A database cannot be opened, read or written as was asked.

    What a failed call was to write is not there, not even a part of it.
    """
