"""The findings in a file, as lines for the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from midstream.io.sniffing.row_order import RowOrder
from midstream.io.sniffing.tables import Kind, Table
from midstream.plans.sql.declarations import ISO, StreamDeclaration, literal, option_words
from midstream.plans.sql.statements import column_words
from midstream.plans.values.units import TimeUnit

FUNCTIONS: Mapping[str, Kind] = {"read_csv": "csv", "read_json": "jsonl", "read_parquet": "parquet"}
"""The functions that read files in FROM, and the formats that they read."""


def findings(
    path: str,
    stream: StreamDeclaration,
    table: Table,
    unit: TimeUnit | None,
    order: RowOrder | None,
) -> Iterator[str]:
    """The findings in three lines: the layout and types, the time and the order, the way to overrule them.

    unit     the unit of integer timestamps
    order    the order of rows; None if nobody looked
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
    function = next(word for word, kind in FUNCTIONS.items() if kind == table.kind)
    overrides = [*source.options, ("time", stream.ordered_by)]
    if unit is not None:
        overrides.append(("unit", unit.name))
    words = ", ".join(option_words(name, value) for name, value in overrides)
    yield (
        f"{path}: change what is wrong in FROM {function}({literal(path)}, {words}), or in the declaration "
        "that midstream init writes"
    )
