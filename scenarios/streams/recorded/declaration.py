"""Study declarations: where recorded streams are, what their columns are, and which query joins them.

    epoch = 1970-01-01T00:00:00Z                    # the date and time of chronon 0; optional
    until = 2013-02-01T00:00:00Z                    # only what starts before is studied; or `from`; optional

    [defaults]                                      # what streams have in common; optional
    path = "departures.csv"
    time = "dep_ts"
    unit = "s"
    window = 3600
    columns = { dest = "string" }

    [streams.EWR]
    where = { origin = "EWR" }
    alias = "ewr"

    [streams.JFK]
    where = { origin = "JFK" }
    alias = "jfk"

    [query]
    joins = [["ewr.dest", "jfk.dest"]]

Instead of the last table, `query` may be a text in SQL, above `[defaults]`.

docs/studies.md says what each key means.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Any

from midstream.io.file_formats import FORMATS, file_format
from midstream.io.text_file import find_text, ready_made
from midstream.io.time_units import NANOSECONDS, Clock
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.expressions import CONSTANT_TYPES
from midstream.plans.sql.declarations import Constant
from midstream.plans.values.errors import InputFileError, SchemaError
from midstream.plans.values.schema import Schema, Type, parse_column
from midstream.plans.values.units import SHORT
from midstream.scenarios.streams.recorded.query import build_query, query_in_sql
from midstream.scenarios.streams.recorded.toml_table import TomlTable

SPARK_FORMATS: Mapping[str, str] = {"csv": "csv", "jsonl": "json", "parquet": "parquet"}
"""Spark's names of formats."""

FOLDER = "folder"
"""The format of a path without a suffix: a folder, whose files have suffixes."""


@dataclass(frozen=True)
class RecordedStream:
    """A raw stream in a file.

    path       the file, or a folder of files; a URL where Spark is to fetch it
    format     csv, json (one object a line) or parquet; `folder` of a path without a suffix
    time       the column with the timestamps, in chronons
    where      by column of the file, the value that a row must have there to belong to the stream
    columns    the payload, by the file's names
    window     how long an element is valid, in chronons
    alias      what the query puts before the columns' names
    """

    name: str
    path: str
    format: str
    time: str
    where: Mapping[str, Constant]
    columns: Schema
    window: int
    alias: str | None = None

    def windowed(self) -> Stream:
        """The stream with its window, as a query joins it."""
        read = stream(self.name, self.columns)
        return (read if self.alias is None else read.alias(self.alias)).window(self.window)

    def qualified(self, column: str) -> str:
        """The name of a column in a query."""
        return column if self.alias is None else f"{self.alias}.{column}"


@dataclass(frozen=True)
class Study:
    """Recorded streams with one time domain, and the query over them, if one is declared.

    query           as `studied` gives it
    since, until    only what starts in [since, until) is studied; None for all from the beginning, or to the
                    end
    """

    name: str
    title: str
    clock: Clock
    streams: Mapping[str, RecordedStream]
    query: Plan | None
    since: int | None = None
    until: int | None = None

    def within(self, since: str | None, until: str | None) -> Study:
        """Restrict the study to a time range, whose ends are texts; None leaves an end as it is.

        Raises   InputFileError for texts that are no instants, and for a range without a length.
        """
        first, end = (
            known if text is None else self._chronon(name, text)
            for name, text, known in (("from", since, self.since), ("until", until, self.until))
        )
        if first is not None and end is not None and end <= first:
            found = f"{self.clock.show(first)} to {self.clock.show(end)}"
            raise InputFileError(f"study {self.name}: found {found}, expected an end behind the beginning")
        return replace(self, since=first, until=end)

    def _chronon(self, name: str, text: str) -> int:
        try:
            return self.clock.chronon(text)
        except ValueError as error:
            raise InputFileError(f"study {self.name}: {name}: {error}") from error


def load_study(name: str, data: Path | str | None = None) -> Study:
    """Read a declaration: a file, or the name of one that comes with Midstream.

    Relative paths in it are relative to `data`; by default to the declaration's folder.

    Raises   InputFileError, naming file and key, what was found and what was expected.
    """
    file, text = find_text("study", name, packaged(), (".toml",))
    folder = str(data) if data is not None else str(Path(file).parent)
    try:
        entries = tomllib.loads(text)
    except ValueError as error:  # numbers may be too long, too
        raise InputFileError(f"{file}: found no TOML: {error}", path=file) from error
    except RecursionError as error:
        raise InputFileError(f"{file}: found values that are nested too deeply", path=file) from error
    return declared_study(TomlTable(file, "", entries), folder)


KEYS = ("title", "epoch", "from", "until", "defaults", "streams", "query")
"""The keys that a declaration may have."""


def declared_study(table: TomlTable, folder: str) -> Study:
    """The study that a file declares, with paths relative to a folder.

    Raises   InputFileError
    """
    table.allow(*KEYS)
    streams = _streams(table, folder)
    clock = Clock(_common_unit(table), _epoch(table))
    study = Study(
        name=Path(table.file).stem,
        title=table.text("title", Path(table.file).stem),
        clock=clock,
        streams=streams,
        query=_query(table, streams, clock),
    )
    return study.within(*(_instant(table, key) for key in ("from", "until")))


def _query(table: TomlTable, streams: Mapping[str, RecordedStream], clock: Clock) -> Plan | None:
    """The query of a declaration: joins in a table, or a text in SQL that declares its windows."""
    if isinstance(table.entries.get("query"), str):
        schemas = {name: stream.columns for name, stream in streams.items()}
        return query_in_sql(table, schemas, SHORT[clock.unit])
    query = table.table("query")
    return None if query is None else build_query(query, {n: s.windowed() for n, s in streams.items()})


def packaged() -> dict[str, Traversable]:
    """The declarations that come with Midstream, by name."""
    return ready_made(resources.files(__package__), (".toml",))


def _streams(table: TomlTable, folder: str) -> dict[str, RecordedStream]:
    defaults = table.table("defaults")
    if defaults is not None:
        defaults.allow(*STREAM_KEYS)
    streams = table.table("streams")
    if streams is None or not streams.entries:
        raise table.unexpected("streams", "at least one stream")
    return {
        name: _stream(name, streams.inner(name).with_defaults(defaults), folder) for name in streams.entries
    }


STREAM_KEYS = ("path", "time", "unit", "window", "where", "columns", "alias")


def _stream(name: str, table: TomlTable, folder: str) -> RecordedStream:
    table.allow(*STREAM_KEYS)
    path = table.text("path")
    form = format_of(path)
    if form is None:
        raise table.unexpected("path", f"a name that ends in one of {', '.join(FORMATS)}, or a folder")
    alias = table.text("alias", "")
    columns = _columns(table)
    return RecordedStream(
        name=name,
        path=_located(path, folder),
        format=form,
        time=table.text("time"),
        where=_where(table, columns),
        columns=columns,
        window=table.positive("window"),
        alias=alias or None,
    )


def format_of(path: str) -> str | None:
    """The format of a path, by its name; None where its suffix stands for no format."""
    return SPARK_FORMATS.get(file_format(path) or "") if PurePosixPath(path).suffix else FOLDER


def _located(path: str, folder: str) -> str:
    if "://" in path or Path(path).is_absolute():
        return path
    return f"{folder.rstrip('/')}/{path}" if "://" in folder else str(Path(folder) / path)


def _where(table: TomlTable, columns: Schema) -> dict[str, Constant]:
    where = table.table("where")
    if where is None:
        return {}
    time = table.text("time")
    known = {time: Type.INTEGER, **{column.name: column.type for column in columns}}
    for name, value in where.entries.items():
        if type(value) not in CONSTANT_TYPES:
            raise where.unexpected(name, "a string, a number or a boolean")
        if known.get(name, CONSTANT_TYPES[type(value)]) is not CONSTANT_TYPES[type(value)]:
            raise where.unexpected(name, f"a value of the column's type, {known[name].value}")
    return dict(where.entries)


def _columns(table: TomlTable) -> Schema:
    columns = table.table("columns")
    if columns is None or not columns.entries:
        raise table.unexpected("columns", "at least one column with its type")
    parsed = []
    for name in columns.entries:
        try:
            column = parse_column(name, columns.text(name))
        except SchemaError as error:
            raise columns.unexpected(
                name, f"one of {COLUMN_TYPES}, with ? behind it to allow none"
            ) from error
        if column.type is Type.ANY:
            raise columns.unexpected(name, f"one of {COLUMN_TYPES}: a recorded value needs a type")
        parsed.append(column)
    return Schema(tuple(parsed))


COLUMN_TYPES = ", ".join(type_.value for type_ in Type if type_ is not Type.ANY)


def _common_unit(table: TomlTable) -> str:
    """The unit of all streams: a query over streams has one time domain."""
    defaults, streams = table.table("defaults"), table.table("streams")
    assert streams is not None
    units = {}
    for name in streams.entries:
        one = streams.inner(name).with_defaults(defaults)
        units[name] = one.text("unit")
        if units[name] not in NANOSECONDS:
            raise one.unexpected("unit", f"one of {', '.join(NANOSECONDS)}")
        first = next(iter(units))
        if units[name] != units[first]:
            raise one.unexpected(
                "unit", f"{units[first]!r} as stream {first} has, for streams share their chronons"
            )
    return units[first]


def _instant(table: TomlTable, key: str) -> str | None:
    value: Any = table.entries.get(key)
    if value is None:
        return None
    if not isinstance(value, int | str | date) or isinstance(value, bool):
        raise table.unexpected(key, "a date, a date and time, or a number of chronons")
    return value.isoformat() if isinstance(value, date) else str(value)


def _epoch(table: TomlTable) -> datetime | None:
    value: Any = table.entries.get("epoch")
    if value is None:
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise table.unexpected("epoch", "a date and time with an offset, for example 1970-01-01T00:00:00Z")
    return value.astimezone(UTC)
