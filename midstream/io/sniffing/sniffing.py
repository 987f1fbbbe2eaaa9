"""A stream of a file that nobody declared: its declaration, with what was found and how to overrule it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from midstream.io.errors import ConnectorError
from midstream.io.file_formats import KNOWN, PACKED, file_format, files_of
from midstream.io.sniffing.csv_sniffing import sniffed_csv
from midstream.io.sniffing.findings import FUNCTIONS, Options, findings, overriding_options
from midstream.io.sniffing.given_options import GivenOptions
from midstream.io.sniffing.json_sniffing import sniffed_json
from midstream.io.sniffing.parquet_sniffing import sniffed_parquet
from midstream.io.sniffing.row_order import RowOrder, row_order
from midstream.io.sniffing.tables import FoundColumn, Kind, Table, doubtful
from midstream.io.sniffing.time_column import form_of_time, require_clock, time_column, unit_of_time
from midstream.io.sniffing.times import narrowed
from midstream.io.sources.sources import open_source
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import (
    ISO,
    ColumnDeclaration,
    OptionValue,
    SourceClause,
    StreamDeclaration,
    literal,
)
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Type
from midstream.plans.values.units import MICROSECONDS, TimeUnit

SUFFIXES: Mapping[str, Kind] = {".tsv": "csv", ".txt": "csv"}
"""Further ends of names of files that hold CSV."""


@dataclass(frozen=True, slots=True)
class SniffedStream:
    """A stream and what was found.

    notes      lines for the user
    options    the options by which the file is found to be so again
    """

    declaration: StreamDeclaration
    notes: tuple[str, ...]
    options: Options


def sniff(
    path: str,
    name: str,
    kind: Kind | None = None,
    options: Sequence[tuple[str, OptionValue]] = (),
) -> SniffedStream:
    """Look through a file, or the files of a pattern, and declare their rows as a stream.

    - Types and layout are those of the first file's beginning.
    - Rows are ordered by the only column of timestamps; of several by one whose name says so.
    - The unit of integer timestamps is the one in which they are from 1980 to 2100.
    - The column of timestamps is read through once, to see if rows are in order, and else are to be sorted.

    path       a path, or a pattern whose files are one stream
    name       the name of the stream
    kind       the format; by default the file's name tells it
    options    options of the source, which overrule what is found, and `time`, `unit` and `types`

    Raises   InputFileError for files that cannot be read, or in more than one way; ConnectorError for options
             that do not fit; MissingExtra.
    """
    kind = kind or kind_of(path)
    given = GivenOptions.of(path, kind, options)
    first = _first_of(path)
    table = _table(first, kind, given.source)
    _require_distinct(first, table.columns)
    is_whole = table.is_whole and files_of(path) == [first]
    columns = given.retyped(path, table)
    notes = [
        f"column {one.name} is in types alone, and NULL where it is lacking"
        for one in columns[len(table.columns) :]
    ]
    table = replace(table, columns=columns, is_whole=is_whole, notes=(*table.notes, *notes))
    time = time_column(path, first, table.columns, given)
    _require_no_doubt(first, [column for column in table.columns if column.name != time.name])
    formats = form_of_time(path, first, time, table, given)
    unit = unit_of_time(first, time, given) if not formats else None
    require_clock(path, time, table.columns, formats, given)
    stream = _declared(path, name, table, time, formats, given)
    stream = replace(stream, unit=unit)
    order = _order(path, first, stream) if "sort" not in given.source else None
    if order is not None and stream.source is not None:
        stream = replace(stream, source=replace(stream.source, sort=not order.is_sorted))
        if order.is_finer:
            stream = replace(stream, unit=TimeUnit.of("nanoseconds"))
    overrides = overriding_options(stream, unit, options)
    return SniffedStream(stream, tuple(findings(path, stream, table, unit, order, overrides)), overrides)


def _order(path: str, first: str, stream: StreamDeclaration) -> RowOrder:
    try:
        return row_order(stream)
    except InputFileError as error:
        if str(getattr(error, "path", first)) == first:
            raise
        advice = "files of a pattern are written like the first; read others by a pattern of their own"
        raise InputFileError(f"{error}; {advice}", **vars(error)) from error


def first_misfit(stream: StreamDeclaration) -> InputFileError | None:
    """The error for the first row of a sniffed file that does not fit; None if all rows do.

    A statement does not say that nobody declared the columns: reading it, 02139 is an integer.
    """
    unit = stream.unit or MICROSECONDS
    try:
        with open_source(stream, Timestamps(unit, stream.unit)) as source:
            for _ in source:
                pass
    except InputFileError as error:
        return error
    return None


def kind_of(path: str) -> Kind:
    """The format of a file by its name; raises ConnectorError where that tells none."""
    unpacked = path.lower()
    for packing in PACKED:
        unpacked = unpacked.removesuffix(packing)
    match found := file_format(path) or SUFFIXES.get(os.path.splitext(unpacked)[1]):
        case "csv" | "jsonl" | "parquet":
            return found
    raise ConnectorError(
        f"{path}: found no suffix of a known format, expected {KNOWN}; "
        f"{', '.join(f'{function}({literal(path)})' for function in FUNCTIONS)} say the format",
        path=path,
    )


def _first_of(path: str) -> str:
    paths = files_of(path)
    if not paths or not os.path.isfile(paths[0]):
        reason = "a pipe or a folder" if paths and os.path.exists(paths[0]) else "no such file"
        raise InputFileError(
            f"{path}: found {reason}, expected a file; declare a stream to read anything else", path=path
        )
    return paths[0]


def _table(path: str, kind: Kind, options: Mapping[str, Any]) -> Table:
    match kind:
        case "csv":
            return sniffed_csv(path, options)
        case "jsonl":
            return sniffed_json(path, options)
        case "parquet":
            return sniffed_parquet(path)


def _require_distinct(path: str, columns: Sequence[FoundColumn]) -> None:
    names = [column.name.lower() for column in columns]
    for column in columns:
        if names.count(column.name.lower()) > 1:
            raise InputFileError(
                f"{path}: found several columns {column.name}, expected different names in any case; "
                "rename them in the file",
                path=path,
                column=column.name,
            )


def _require_no_doubt(path: str, columns: Sequence[FoundColumn]) -> None:
    for column in columns:
        if column.doubt is not None:
            raise doubtful(path, column, column.doubt)


def _declared(
    path: str,
    name: str,
    table: Table,
    time: FoundColumn,
    formats: Sequence[str],
    given: GivenOptions,
) -> StreamDeclaration:
    """The declaration, with rows as they come.

    Other columns than the one that orders rows are timestamps if they are in ISO 8601, with or without
    leading zeros, or of the same form.
    """
    own = {one.name.lower(): one for one in given.types}
    forms = list(dict.fromkeys((*formats, *_unpadded(table, time))))
    columns = []
    for column in table.columns:
        fitting = narrowed(forms, map(str, column.values)) if column.forms else []
        if column.name == time.name:
            fitting = list(formats)
        is_time = bool(fitting) or (column.is_iso and column.name != time.name)
        is_date = is_time and (column.is_date if column.is_iso else not _have_clock(fitting))
        type_ = Type.INTEGER if is_time else column.type
        is_sniffed = column.name != time.name or is_time or given.unit is None
        declared = ColumnDeclaration(column.name, type_, True, is_time, is_date, is_sniffed, column.decimals)
        if (given_type := own.get(column.name.lower())) is not None:
            # A name may be given in another case, and the column of time must have a form.
            is_time = is_time and column.name == time.name
            declared = replace(given_type, name=column.name, is_timestamp=given_type.is_timestamp or is_time)
        columns.append(declared)
    if any(one.is_timestamp and one.name in _iso(table) for one in columns):
        forms = list(dict.fromkeys((*forms, ISO)))
    clause = [*table.options]
    if forms != [ISO]:
        clause += [("format", form) for form in forms]
    for option in ("time_of_day", "sort"):
        if given.source.get(option):
            clause.append((option, given.source[option]))
    if table.kind != "jsonl" and given.source.get("sparse"):
        clause.append(("sparse", True))
    source = SourceClause.of(table.kind, (path,), clause)
    return StreamDeclaration(name, tuple(columns), time.name, source, left_out=table.left_out)


def _iso(table: Table) -> set[str]:
    return {column.name for column in table.columns if column.is_iso}


def _unpadded(table: Table, time: FoundColumn) -> list[str]:
    """The forms of other columns in ISO 8601 without leading zeros, such as 2026-1-7."""
    others = (column.forms for column in table.columns if column.name != time.name)
    return [forms[0] for forms in others if len(forms) == 1 and forms[0].startswith("%Y-")]


def _have_clock(formats: Sequence[str]) -> bool:
    return any("%H" in form or "%I" in form for form in formats)


def stream_name(path: str, taken: Collection[str] = ()) -> str:
    """A name for the stream of a file, which is not among `taken` ones, in lower case.

    >>> stream_name("data/orders-2026-*.csv.gz"), stream_name("orders.csv", {"orders"})
    ('orders_2026', 'orders_2')
    """
    stem = os.path.basename(path).partition(".")[0]
    name = re.sub(r"\W+", "_", stem).strip("_") or "rows"
    name = f"_{name}" if name[0].isdigit() else name
    number = 1
    found = name
    while found.lower() in taken:
        number += 1
        found = f"{name}_{number}"
    return found
