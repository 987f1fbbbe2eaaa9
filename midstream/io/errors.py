"""Errors of sources, sinks and relations as such; their rows have errors of their own."""

from __future__ import annotations

from midstream.plans.values.errors import MidstreamError


class ConnectorError(MidstreamError):
    """A source or a sink cannot be made, opened or written as requested.

    The earlier output of a sink is kept, and ends with a complete row.
    """


class RelationError(MidstreamError):
    """A request for a row that a relation lacks, or for instants that it does not know.

    Delete existing rows; ask for instants that have passed and are still remembered.
    """


class DatabaseError(MidstreamError):
    """A database cannot be opened, read or written as requested.

    A failed call writes nothing.
    """
