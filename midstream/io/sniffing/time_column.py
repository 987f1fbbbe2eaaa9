"""The column that orders the rows of a file, and the form of its timestamps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from midstream.io.errors import ConnectorError
from midstream.io.sniffing.given_options import GivenOptions, no_column
from midstream.io.sniffing.row_order import Unheeded, columns_beside
from midstream.io.sniffing.tables import Doubt, FoundColumn, Table, doubtful
from midstream.io.sniffing.times import (
    IN_UTC,
    compact_forms,
    forms_of,
    instant,
    is_name_of_time,
    likeliest,
    may_hold_time,
    narrowed,
    nearest_form,
    readings,
)
from midstream.io.sources.bad_rows import shown
from midstream.io.sources.sources import open_source
from midstream.io.times_of_day import are_times_of_day, time_of_day
from midstream.plans.sql.declarations import (
    ColumnDeclaration,
    SourceClause,
    StreamDeclaration,
    literal,
)
from midstream.plans.sql.statements import identifier
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import DAY, iso_format
from midstream.plans.values.schema import Type
from midstream.plans.values.unit_words import plausible_unit
from midstream.plans.values.units import MICROSECONDS, TimeUnit


def time_column(path: str, first: str, columns: Sequence[FoundColumn], options: GivenOptions) -> FoundColumn:
    """The column that orders the rows.

    Columns of timestamps can, and columns of integers whose names say that they hold times, and whose values
    are from 1980 to 2100 in some unit, or are dates such as 20261127.

    path     the file or the pattern
    first    the file that was looked at

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
    raise _no_time(path, first, columns)


def _no_time(path: str, first: str, columns: Sequence[FoundColumn]) -> InputFileError:
    """The error where no column holds times: a value that keeps one from it, or options that make one."""
    for column in columns:
        error = odd_time(first, column) or odd_unit(first, column) or named_zone(first, column)
        if error is not None:
            return error
        if column.doubt is not None:
            return _doubtful_time(first, column, column.doubt)
    names = ", ".join(column.name for column in columns)
    declared = [one for one in columns if one.type is Type.STRING and forms_of([str(v) for v in one.values])]
    likely = [column for column in columns if may_hold_time(column.name) and column.values]
    instead = "format = '%d.%m.%Y %H:%M' says how they are written"
    if not any(column.values for column in columns):
        instead = "there are no rows, and CREATE STREAM declares a file that is still empty"
    for column in columns:
        if column.type is Type.INTEGER and (unit := magnitude(column.values)) is not None:
            instead = (
                f"time = {literal(column.name)}, unit = {literal(unit)} takes the integers of {column.name}"
            )
            break
    else:
        if declared:
            name = declared[0].name
            instead = f"time = {literal(name)}, types = '{identifier(name)} TIMESTAMP' takes {name}"
        elif likely:
            instead = (
                f"time = {literal(likely[0].name)}, format = '%d.%m.%Y %H:%M' says how "
                f"{shown(likely[0].values[0])} is written, with directives of its own"
            )
    return InputFileError(
        f"{path}: found no column of timestamps among {names}, expected one that orders the rows; "
        f"{instead}; CREATE RELATION declares rows that have no time",
        path=path,
    )


def _doubtful_time(path: str, column: FoundColumn, doubt: Doubt) -> InputFileError:
    """The error for a doubt, where no column holds times: a column of times is of no use as texts."""
    if may_hold_time(column.name) and "types =" in (doubt.expected or "types ="):
        expected = "timestamps of one form, or integers, in all rows; mend it, or remove the line"
        doubt = replace(doubt, expected=expected)
    return doubtful(path, column, doubt)


def odd_time(path: str, column: FoundColumn) -> InputFileError | None:
    """The error for the first value of a column that is no timestamp, where most are; None for others."""
    texts = [value for value in column.values if isinstance(value, str)]
    if column.type is not Type.STRING or not texts or (near := nearest_form(texts)) is None:
        return None
    name = identifier(column.name)
    other = next(text for text in texts if instant(text, near.form) is not None)
    return InputFileError(
        f"{column.place(path, near.misfit)}: found {shown(texts[near.misfit])}, expected a timestamp, as "
        f"most values are, such as {shown(other)}; mend it, or remove the line, or write time = "
        f"{literal(column.name)}, types = '{name} TIMESTAMP', so that --dead-letters FILE of midstream sql "
        "sets such rows aside",
        path=path,
        column=column.name,
    )


def named_zone(path: str, column: FoundColumn) -> InputFileError | None:
    """The error for timestamps with the name of a zone behind them; None for other columns."""
    for position, text in enumerate(column.values):
        zone = (
            re.fullmatch(r"(.*\d) ?\[?([A-Z]{2,5}|[A-Z]\w+/[\w/+-]+)\]?", text)
            if isinstance(text, str)
            else None
        )
        if zone is not None and f" {zone[2]}" not in IN_UTC and forms_of([zone[1]]):
            offset = OFFSETS.get(zone[2], "the offset")
            return InputFileError(
                f"{column.place(path, position)}: found {shown(text)}, expected a timestamp in UTC, or with "
                "an offset from it, as names of zones mean different offsets to different readers; write "
                f"{offset} in place of {zone[2]}",
                path=path,
                column=column.name,
            )
    return None


OFFSETS = {
    **{"CET": "+01:00", "CEST": "+02:00", "EST": "-05:00", "EDT": "-04:00"},
    **{"MST": "-07:00", "MDT": "-06:00", "PST": "-08:00", "PDT": "-07:00"},
}
"""The offsets of some zones, for messages."""


def odd_unit(path: str, column: FoundColumn) -> InputFileError | None:
    """The error for the first integer that counts another unit of time than most; None for other columns."""
    units = units_of(column)
    if units is None or len(set(units)) == 1 or not is_name_of_time(column.name):
        return None
    (usual, count), *_ = Counter(unit for unit in units if unit is not None).most_common(1)
    usual = usual if 2 * count > len(units) else next(unit for unit in units if unit is not None)
    odd = next(at for at, unit in enumerate(units) if unit != usual)
    counts = f"counts {units[odd]}" if units[odd] is not None else "counts no unit from 1980 to 2100"
    instead = (
        f"; time = {literal(column.name)} reads the others, and --dead-letters FILE of midstream sql sets "
        "such rows aside"
        if 2 * count > len(units)
        else ""
    )
    return InputFileError(
        f"{column.place(path, odd)}: found {column.values[odd]}, which {counts}, expected {usual}, as "
        f"{column.values[units.index(usual)]} does; mend it, or remove the line{instead}",
        path=path,
        column=column.name,
    )


def units_of(column: FoundColumn) -> list[str | None] | None:
    """The unit of time that each integer of a column counts, if it is from 1980 to 2100; None if none is."""
    if column.type is not Type.INTEGER or column.forms:
        return None
    units = [magnitude([value]) for value in column.values]
    return units if any(units) else None


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
    """The unit of integer timestamps: the option, or the one in which most are from 1980 to 2100.

    Raises   InputFileError where nothing tells it.
    """
    if options.unit is not None:
        return options.unit
    if (shared := magnitude(time.values)) is not None:
        return TimeUnit.of(shared)
    for position, value in enumerate(time.values):
        if isinstance(value, str) and not re.fullmatch(r"[+-]?\d+", value):
            raise InputFileError(
                f"{time.place(path, position)}: found {shown(value)}, expected an integer, as types says; "
                f"types = '{identifier(time.name)} TIMESTAMP' takes timestamps",
                path=path,
                column=time.name,
            )
    units = units_of(time) or []
    word, count = Counter(filter(None, units)).most_common(1)[0] if units else ("", 0)
    if word and 2 * count > len(units):
        return TimeUnit.of(word)
    raise odd_unit(path, time) or InputFileError(
        f"{path}, column {time.name}: found integers such as {next(iter(time.values), None)}, which do not "
        f"tell what they count, expected a unit; time = {literal(time.name)}, unit = 'seconds' takes them as "
        "seconds since 1970, and other units likewise",
        path=path,
    )


def require_clock(
    path: str,
    time: FoundColumn,
    columns: Sequence[FoundColumn],
    formats: Sequence[str],
    options: GivenOptions,
) -> None:
    """Raise InputFileError where the rows have dates alone, and times of day in a column beside.

    Nobody has chosen then between the midnights and the times.
    """
    names = [column.name for column in columns]
    if (given := options.source.get("time_of_day")) is not None:
        if given.lower() not in map(str.lower, names) or given.lower() == time.name.lower():
            raise no_column(path, "time_of_day", given, [name for name in names if name != time.name])
        return
    if options.time is not None or not formats or not _are_midnights(time, formats):
        return
    beside = (one for one in columns if one.name != time.name and are_times_of_day(one.name, one.values))
    for column in beside:
        both = (
            f"time_of_day = {literal(column.name)} reads both"
            if _are_clocks(column)
            else f"written as 08:15:00, time_of_day = {literal(column.name)} would read both"
        )
        raise InputFileError(
            f"{path}: found dates in column {time.name}, and times of day in column {column.name}, such as "
            f"{shown(column.values[0])}, expected one of two options: {both}, time = {literal(time.name)} "
            "takes all rows of a day at its midnight",
            path=path,
            column=column.name,
        )


def _are_midnights(time: FoundColumn, formats: Sequence[str]) -> bool:
    if time.is_date:
        return True
    instants = [
        next((at for form in formats if (at := instant(value, form)) is not None), 1)
        for value in time.values
        if isinstance(value, str)
    ]
    return bool(instants) and not any(at % DAY for at in instants)


def _are_clocks(column: FoundColumn) -> bool:
    try:
        return all(time_of_day(value) >= 0 for value in column.values)
    except ValueError:
        return False


def form_of_time(
    path: str, first: str, time: FoundColumn, table: Table, options: GivenOptions
) -> tuple[str, ...]:
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
        if (error := odd_time(first, time) or named_zone(first, time)) is not None:
            raise error
        if time.doubt is not None:
            expected = "a timestamp or an integer; mend it, or remove the line"
            raise doubtful(first, time, replace(time.doubt, expected=expected))
        instead = "format = '%d.%m.%Y %H:%M' says how they are written"
        if time.type is Type.STRING and forms_of([str(value) for value in time.values]):
            instead = f"types = '{identifier(time.name)} TIMESTAMP' takes them"
        elif time.type is Type.FLOAT:
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
