"""The findings in a file, as lines for the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from midstream.io.sniffing.row_order import RowOrder
from midstream.io.sniffing.tables import Kind, Table
from midstream.plans.sql.declarations import ISO, OptionValue, StreamDeclaration, literal, option_words
from midstream.plans.sql.statements import column_words
from midstream.plans.values.units import TimeUnit

Options = Sequence[tuple[str, OptionValue]]
"""Options by their names in SQL."""

FUNCTIONS: Mapping[str, Kind] = {"read_csv": "csv", "read_json": "jsonl", "read_parquet": "parquet"}
"""The functions that read files in FROM, and the formats that they read."""


def findings(
    path: str,
    stream: StreamDeclaration,
    table: Table,
    unit: TimeUnit | None,
    order: RowOrder | None,
    overrides: Options,
) -> Iterator[str]:
    """The findings in three lines: the layout and types, the time and the order, the way to overrule them.

    unit     the unit of integer timestamps
    order    the order of rows; None if nobody looked
    overrides    all options that say so
    """
    assert stream.source is not None and stream.ordered_by is not None
    source = stream.source
    types = ", ".join(map(column_words, stream.columns))
    yield f"{path}: {table.layout}; columns {types}{''.join(f'; {note}' for note in table.notes)}"
    forms = [form for form in source.formats if form != ISO] or ["ISO 8601"]
    how = f"timestamps like {forms[0]}, in UTC unless they name a zone"
    if unit is not None:
        how = f"integers of {unit.name}"
    rows = "taken as they come"
    if order is not None:
        rows = f"{order.rows:,}, in order"
        if not order.is_sorted:
            rows = f"{order.rows:,}, not in order (first in {order.unsorted}), so they are sorted"
    elif source.sort:
        rows = "sorted"
    yield f"{path}: ordered by {stream.ordered_by}, {how}; rows: {rows}"
    yield (
        f"{path}: change what is wrong in FROM {call_words(table.kind, path, overrides)}, or in the "
        "declaration that midstream init writes"
    )


def overriding_options(stream: StreamDeclaration, unit: TimeUnit | None, options: Options) -> Options:
    """The options by which a file is found to be so again: those that were found, and the given types.

    A unit stands among them if integers count it.
    """
    assert stream.source is not None and stream.ordered_by is not None
    overrides = [*stream.source.options, ("time", stream.ordered_by)]
    if unit is not None:
        overrides.append(("unit", unit.name))
    return (*overrides, *((name, value) for name, value in options if name == "types"))


def call_words(kind: Kind, path: str, options: Options) -> str:
    """The call that reads a file with some options, as it stands in FROM.

    >>> print(call_words("csv", "a.csv", [("delim", ";"), ("time", "at")]))
    read_csv('a.csv', delim = ';', time = 'at')
    """
    function = next(word for word, one in FUNCTIONS.items() if one == kind)
    words = [literal(path), *(option_words(name, value) for name, value in options)]
    return f"{function}({', '.join(words)})"
