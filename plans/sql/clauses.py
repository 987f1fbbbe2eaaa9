"""The clauses that are read, of all that sqlglot reads."""

from __future__ import annotations

from collections.abc import Mapping

_LEFT, _RIGHT = frozenset({"LEFT"}), frozenset({"RIGHT"})
JOINS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("", "INNER", "CROSS"), frozenset()),
    **dict.fromkeys(("LEFT", "LEFT OUTER"), _LEFT),
    **dict.fromkeys(("RIGHT", "RIGHT OUTER"), _RIGHT),
    **dict.fromkeys(("FULL", "FULL OUTER"), _LEFT | _RIGHT),
}
"""Joins, with the sides whose rows stay without a match."""

CLAUSES = frozenset(
    {"this", "expression", "expressions", "with_", "from_", "joins", "where", "group", "having", "distinct"}
    | {"alias", "on", "using", "method", "side", "kind"}
)
"""The clauses of queries, and of what stands in FROM, that are read; there are more in sqlglot's tree."""

UNSUPPORTED: Mapping[str, str] = {
    "order": "ORDER BY (results come in order of time)",
    "windows": "WINDOW behind FROM (put it behind the stream)",
    "laterals": "LATERAL",
    "pivots": "PIVOT",
    "sample": "TABLESAMPLE",
    "db": "a name with a dot before it",
    "by_name": "BY NAME",
    "match": "MATCH_RECOGNIZE",
    "locks": "FOR UPDATE",
}
"""What to call some of the others."""
