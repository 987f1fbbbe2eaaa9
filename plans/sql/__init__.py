"""Queries in SQL: a catalog of streams, and the translation of statements into logical plans."""

from midstream.plans.sql.catalog import Catalog, Query
from midstream.plans.sql.declarations import (
    ColumnDeclaration,
    RelationDeclaration,
    SourceClause,
    StreamDeclaration,
)
from midstream.plans.values.units import TimeUnit

__all__ = [
    "Catalog",
    "ColumnDeclaration",
    "Query",
    "RelationDeclaration",
    "SourceClause",
    "StreamDeclaration",
    "TimeUnit",
]
