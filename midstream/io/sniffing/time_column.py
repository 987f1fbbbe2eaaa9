"""The column that orders the rows of a file, and the form of its timestamps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from midstream.io.errors import ConnectorError
from midstream.io.sniffing.given_options import GivenOptions, no_column
from midstream.io.sniffing.row_order import Unheeded, columns_beside
from midstream.io.sniffing.tables import FoundColumn, Table
from midstream.io.sniffing.times import (
    compact_forms,
    is_name_of_time,
    likeliest,
    narrowed,
    readings,
)
from midstream.io.sources.bad_rows import shown
from midstream.io.sources.sources import open_source
from midstream.plans.sql.declarations import (
    ColumnDeclaration,
    SourceClause,
    StreamDeclaration,
    literal,
)
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import DAY, iso_format
from midstream.plans.values.schema import Type
from midstream.plans.values.unit_words import plausible_unit
from midstream.plans.values.units import MICROSECONDS, TimeUnit


def time_column(path: str, columns: Sequence[FoundColumn], options: GivenOptions) -> FoundColumn:
    """The column that orders the rows.

    Columns of timestamps can, and columns of integers whose names say that they hold times, and whose values
    are from 1980 to 2100 in some unit, or are dates such as 20261127.

    Raises   InputFileError for none, and for several whose names do not decide.
    """
    names = [column.name for column in columns]
    if options.time is not None:
        position = {name.lower(): i for i, name in enumerate(names)}.get(options.time.lower())
        if position is None:
            raise no_column(path, "time", options.time, names)
        return _with_forms(columns[position])
    formats = options.source.get("format", [])
    candidates = {
        one.name: one
        for one in (_with_forms(column, formats) for column in columns)
        if one.forms or (is_name_of_time(one.name) and magnitude(one.values) is not None)
    }
    found = [candidates[name] for name in likeliest(list(candidates))]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputFileError(
            f"{path}: found timestamps in {', '.join(one.name for one in found)}, expected one column that "
            f"orders the rows; time = {literal(found[0].name)} chooses it",
            path=path,
        )
    integers = [column.name for column in columns if column.type is Type.INTEGER]
    instead = (
        f"time = {literal(integers[0])}, unit = 's' would take integers ({', '.join(integers)})"
        if integers
        else "format = '%d.%m.%Y %H:%M' says how they are written"
    )
    raise InputFileError(
        f"{path}: found no column of timestamps among {', '.join(names)}, expected one that orders the rows; "
        f"{instead}; CREATE RELATION declares rows that have no time",
        path=path,
    )


def _with_forms(column: FoundColumn, formats: Sequence[str] = ()) -> FoundColumn:
    """A column as dates such as 20261127, if its name says that it holds times, or in other forms."""
    texts = [value for value in column.values if isinstance(value, str)]
    if not texts or column.is_iso:
        return column
    if column.type is Type.INTEGER and is_name_of_time(column.name):
        return replace(column, forms=compact_forms(texts))
    if column.type is Type.STRING and formats:
        return replace(column, forms=tuple(narrowed(formats, texts)))
    return column


def magnitude(values: Sequence[Any]) -> str | None:
    """The unit of numbers, by their magnitude; None if nothing tells it."""
    try:
        numbers = [int(float(value)) for value in values]
    except (ValueError, OverflowError):
        return None
    return plausible_unit(min(numbers), max(numbers)) if numbers else None


def unit_of_time(path: str, time: FoundColumn, options: GivenOptions) -> TimeUnit:
    """The unit of integer timestamps: the option, or the one in which they are from 1980 to 2100.

    Raises   InputFileError where nothing tells it.
    """
    word = magnitude(time.values)
    if options.unit is None and word is None:
        raise InputFileError(
            f"{path}, column {time.name}: found integers such as {next(iter(time.values), None)}, expected a "
            "unit, such as unit = 's'",
            path=path,
        )
    return options.unit or TimeUnit.of(word or "")


def form_of_time(path: str, time: FoundColumn, table: Table, options: GivenOptions) -> tuple[str, ...]:
    """The form of the timestamps of a column; () for integers.

    The whole file is read where several forms fit its beginning.

    Raises   InputFileError for values that are no timestamps, and for dates with two readings; ConnectorError
             for a unit of something else than integers.
    """
    if time.type is Type.INTEGER and not time.forms and "format" not in options.source:
        return ()
    if options.unit is not None:
        raise ConnectorError(
            f"{path}: unit: found {options.unit.name}, expected none, as column {time.name} has no integers",
            path=path,
        )
    if "format" in options.source:
        return tuple(options.source["format"])
    if not time.forms:
        instead = "format = '%d.%m.%Y %H:%M' says how they are written"
        if time.type is Type.FLOAT:
            instead = "write numbers with decimals as integers of a finer unit"
        example = shown(next(iter(time.values), None))
        raise InputFileError(
            f"{path}, column {time.name}: found {example}, expected timestamps or integers; {instead}",
            path=path,
        )
    forms: Sequence[str] = time.forms
    texts: Iterable[str] = time.values
    if len(forms) > 1 and not table.is_whole:
        forms = narrowed(forms, _texts(path, table, time.name), enough=1)
        texts = _texts(path, table, time.name)
    doubt = readings(forms, texts)
    if doubt is None:
        return tuple(forms[:1])
    text, instants = doubt
    day = iso_format(DAY)
    ways = " or ".join(f"{day(at // DAY)} by format = {literal(form)}" for form, at in instants.items())
    raise InputFileError(
        f"{path}, column {time.name}: found {text}, which is {ways}, and no row tells which; expected one of "
        "these options",
        path=path,
    )


def _texts(path: str, table: Table, name: str) -> Iterator[str]:
    """The texts of a column of a whole file."""
    source = SourceClause.of(table.kind, (path,), table.options)
    columns = tuple(ColumnDeclaration(column.name, column.type) for column in table.columns)
    stream = StreamDeclaration("", columns, source=source)
    stream = replace(stream, columns=columns_beside(stream, name, keep_type=False))
    position = [column.name for column in stream.columns].index(name)
    with open_source(stream, MICROSECONDS, bad_rows=Unheeded()) as rows:
        for batch in rows:
            yield from (payload[position] for _, _, payload in batch if payload[position] is not None)
