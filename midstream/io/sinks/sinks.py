"""Sinks for results, in files or on standard output."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from midstream.io.errors import ConnectorError
from midstream.io.new_file import is_special
from midstream.io.output import STDOUT
from midstream.io.sinks.arrow_sink import ArrowSink
from midstream.io.sinks.csv_sink import CsvSink
from midstream.io.sinks.json_sink import JsonSink
from midstream.io.sinks.parquet_sink import ParquetSink
from midstream.io.sinks.sink import Sink, Times, integers
from midstream.io.sinks.table_sink import TableSink
from midstream.io.sources.sources import required_format
from midstream.plans.values.schema import Schema, suggest

SINKS: dict[str, Callable[..., Sink]] = {
    "csv": CsvSink,
    "jsonl": JsonSink,
    "parquet": ParquetSink,
    "arrow": ArrowSink,
    "table": TableSink,
}
"""The sinks by format."""


def open_sink(
    target: str | os.PathLike[str],
    schema: Schema,
    form: str | None = None,
    *,
    name: str | None = None,
    times: Times = integers,
    query: str | None = None,
) -> Sink:
    """Open a sink for results of a schema, in a file, or on standard output for "-".

    form    csv, jsonl, parquet, arrow (a stream of IPC) or table; by default the suffix tells; without a
            suffix, standard output, devices and pipes take jsonl
    name    the target's name in errors; by default its path
    times   the form of times; integers by default
    query   the name of the query, if several write to this target; only JSON Lines have a place for it

    Raises   ConnectorError for a target that cannot be opened; MissingExtra for Parquet and Arrow without
             pyarrow.

    >>> with open_sink("results.csv", Schema.of(item="integer", name="string?")) as sink:
    ...     sink.write([(1000, 6000, (7, 'a "lamp"')), (1000, float("inf"), (8, None))])
    >>> print(Path("results.csv").read_text())
    start,end,item,name
    1000,6000,7,"a ""lamp\"""
    1000,,8,
    <BLANKLINE>
    """
    path = os.fspath(target)
    if form is None:
        form = _usual_format(path, name or path)
    sink = SINKS.get(form)
    if sink is None:
        raise ConnectorError(
            f"{name or path}: found the format {form!r}, expected one of {', '.join(SINKS)}"
            f"{suggest(form, SINKS)}",
            path=Path(path),
        )
    if query is None:
        return sink(path, schema, name, times)
    if sink is not JsonSink:
        raise ConnectorError(
            f"{name or path}: found several queries in the format {form}, expected jsonl, where each line "
            "names its query, or a file, of which each query gets one",
            path=Path(path),
        )
    return JsonSink(path, schema, name, times, query)


def _usual_format(path: str, name: str) -> str:
    if path == STDOUT or (is_special(Path(path)) and not Path(path).suffix):
        return "jsonl"
    if Path(name).suffix.lower() == ".arrow":
        return "arrow"
    return required_format(name)
