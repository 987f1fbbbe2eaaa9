"""Queries with references to windowed streams in braces, and how they read for either side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REFERENCE = re.compile(r"\{(\w+)\|([^|}]*)(?:\|(\w*))?(?:\|(\w+))?\}")

GIVEN_ROWS = "{?}"
"""Stands behind a scalar aggregation: over no row it gives no row, where SQL gives one (erratum 10)."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A windowed stream: its name, the specification, an alias, and a style.

    With style `before` the alias stands before the window; `cql` is a window in brackets; `as` says AS;
    `timed` shows DuckDB the timestamps as a column ts, `previous` what was held one chronon before.
    """

    stream: str
    window: str
    alias: str
    style: str

    def ours(self) -> str:
        """As the catalog reads it."""
        window, _, granularity = self.window.partition("; ")
        shown = f" WINDOW({window})" if window else ""
        if self.style == "cql":
            shown = f" [{window}]"
        if granularity:
            keyword, _, size = granularity.partition(" ")
            shown += f" {keyword}({size})"
        alias = f" {'AS ' if self.style == 'as' else ''}{self.alias}" if self.alias else ""
        return f"{self.stream}{alias}{shown}" if self.style == "before" else f"{self.stream}{shown}{alias}"


@dataclass(frozen=True, slots=True)
class Query:
    """A query under a name; `theirs` is for DuckDB, where it needs other words."""

    name: str
    ours: str
    theirs: str

    def statement(self) -> str:
        """What the catalog gets."""
        return REFERENCE.sub(lambda found: _reference(found).ours(), self.ours.replace(GIVEN_ROWS, ""))


def references(text: str) -> Iterator[Reference]:
    """The references in a text."""
    return map(_reference, REFERENCE.finditer(text))


def _reference(found: re.Match[str]) -> Reference:
    stream, window, alias, style = found.groups(default="")
    return Reference(stream, window, alias, style)


def read(file: Path) -> list[Query]:
    """The queries of a file.

    A line `-- name` begins a query; behind `-- duckdb` comes what DuckDB reads instead. Three dashes are a
    comment.
    """
    queries: list[Query] = []
    for block in re.split(r"^-- ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, text = block.partition("\n")
        if name == "duckdb":
            queries[-1] = Query(queries[-1].name, queries[-1].ours, text.strip())
        else:
            queries.append(Query(name, text.strip(), text.strip()))
    return queries
