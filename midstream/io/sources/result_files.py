"""Read results of queries back from files, without a declaration: the file names the columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midstream.io.file_formats import VALIDITY
from midstream.io.new_file import is_special
from midstream.io.output import STDOUT
from midstream.io.parquet import opened_parquet
from midstream.io.readers import PARSERS, csv_fault
from midstream.io.sources.arrivals import Arriving, file_arrivals, stdin_arrivals, whole_lines
from midstream.io.sources.bad_rows import BadRows, Misfit, shown
from midstream.io.sources.json_reader import Repeated, parsed_line, require_validity
from midstream.io.sources.parquet_reader import values_of
from midstream.io.sources.sources import required_format
from midstream.io.sources.text_reader import BYTE_ORDER_MARK, decode, require_text
from midstream.plans.values.instants import nanoseconds
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload, Time

if TYPE_CHECKING:
    import pyarrow as pa


class Truth(Enum):
    """A truth value, which differs from 0 and 1."""

    FALSE = "false"
    TRUE = "true"


@dataclass
class FileResults:
    """The results of one query in a file.

    columns      their names; None if the file has no result that names them
    is_iso       True if times are dates, counted in nanoseconds since 1970; False if they are integers; None
                 if there are none
    is_text      True if the file has texts in place of values: then a text that is a number is one
    """

    columns: Sequence[str] | None = None
    is_iso: bool | None = None
    is_text: bool = False
    elements: list[Element] = field(default_factory=list)

    def add(self, start: Any, end: Any, columns: Sequence[str], values: Sequence[Any]) -> None:
        """Add a result; None is the start BEGINNING, or the end FOREVER.

        Raises   Misfit where it does not fit those before.
        """
        if self.columns is None:
            self.columns = columns
        elif columns is not self.columns and list(columns) != list(self.columns):
            found, expected = dict(zip(columns, values, strict=True)), list(self.columns)
            if len(columns) != len(expected) or found.keys() != set(expected):
                raise Misfit("row", f"columns {', '.join(columns)}", ", ".join(expected))
            values = [found[name] for name in expected]
        since: Time = BEGINNING if start is None else self._time("start", start)
        until: Time = FOREVER if end is None else self._time("end", end)
        if until <= since:
            raise Misfit("end", shown(end), f"a time after start, {start}, or no value")
        self.elements.append((since, until, tuple(values)))

    def _time(self, column: str, value: Any) -> int:
        if self.is_iso is None:
            self.is_iso = isinstance(value, str)
        try:
            if self.is_iso and isinstance(value, str):
                return nanoseconds(value)
            if not self.is_iso and type(value) is int:
                return value
        except ValueError:
            pass
        raise Misfit(column, shown(value), "a date, or a date with a time" if self.is_iso else "an integer")


def read_results(path: str) -> dict[str, FileResults]:
    """The results in a file in JSON Lines, CSV or Parquet, by the names of their queries; "" is no name.

    "-" is standard input. It has JSON Lines, as have devices and pipes whose names tell no format.

    State    All results.
    Raises   InputFileError, with the line, for what is no result; MissingExtra for Parquet without pyarrow.
    """
    is_stdin = path == STDOUT
    is_plain = is_stdin or (is_special(Path(path)) and not Path(path).suffix)
    form = "jsonl" if is_plain else required_format(path)
    if form == "parquet":
        return {"": _from_parquet(path)}
    arrivals = stdin_arrivals() if is_stdin else file_arrivals(Path(path))
    name = "stdin" if is_stdin else path
    return {"": _from_csv(name, arrivals)} if form == "csv" else _from_json(name, arrivals)


def value_of(text: str) -> Payload:
    """The value that a text stands for where values have no types.

    >>> value_of("7"), value_of("7.50"), value_of("true"), value_of(""), value_of("x")
    (7, 7.5, <Truth.TRUE: 'true'>, None, 'x')
    """
    if not text:
        return None
    for kind in (Type.INTEGER, Type.FLOAT, Type.BOOLEAN):
        try:
            return _value(PARSERS[kind](text))
        except ValueError:
            continue
    return text


def _value(value: Any) -> Payload:
    """A value that can be hashed; lists and objects become texts."""
    match value:
        case bool():
            return Truth.TRUE if value else Truth.FALSE
        case list() | dict():
            return json.dumps(value, ensure_ascii=False)
    return value


def _lines(name: str, arrivals: Arriving) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers and ends; bytes that are not UTF-8 become surrogates."""
    number = 1
    for block in whole_lines(arrivals, name):
        text, _ = decode(block.removeprefix(BYTE_ORDER_MARK) if number == 1 else block)
        for line in io.StringIO(text, newline="\n"):
            yield number, line
            number += 1


def _from_json(name: str, arrivals: Arriving) -> dict[str, FileResults]:
    found: dict[str, FileResults] = {}
    for number, line in _lines(name, arrivals):
        if not line.strip():
            continue
        try:
            record = parsed_line(line.rstrip("\r\n"))
            if isinstance(record, Misfit):
                raise record
            require_validity(record)
            query, row = record.get("query"), record["row"]
            if not isinstance(query, str | None):
                raise Misfit("query", shown(query), "a name")
            if not isinstance(row, dict):
                raise Misfit("row", shown(row), "a JSON object")
            if isinstance(row, Repeated):
                raise Misfit("row", "several keys of a name", "one")
            results = found.setdefault(query or "", FileResults())
            results.add(record["start"], record["end"], list(row), list(map(_value, row.values())))
        except Misfit as misfit:
            BadRows().report(name, "line", number, misfit, line)
    return found or {"": FileResults()}


def _from_csv(name: str, arrivals: Arriving) -> FileResults:
    results = FileResults(is_text=True)
    number = 1

    def texts() -> Iterator[str]:
        for _, line in _lines(name, arrivals):
            require_text(line)
            yield line

    reader = csv.reader(texts(), strict=True)
    try:
        names = next(reader, [])
        columns = _columns(names)
        results.columns = columns
        number = reader.line_num + 1
        for fields in reader:
            if fields:
                if len(fields) != len(columns) + len(VALIDITY):
                    raise Misfit(None, f"{len(fields)} fields", f"{len(columns) + len(VALIDITY)}")
                start, end, *values = fields
                results.add(_csv_time(start), _csv_time(end), columns, list(map(value_of, values)))
            number = reader.line_num + 1
    except Misfit as misfit:
        BadRows().report(name, "line", number, misfit, "")
    except csv.Error as error:
        BadRows().report(name, "line", number, Misfit(None, *csv_fault(error)), "")
    return results


def _columns(names: Sequence[str]) -> Sequence[str]:
    """The names of the row's columns, behind those of its validity.

    Raises   Misfit where a file is not one of results.
    """
    if tuple(names[:2]) != VALIDITY:
        raise Misfit(None, f"columns {', '.join(names) or 'none'}", "start, end and those of the row")
    if len(set(names)) != len(names):
        raise Misfit(None, f"columns {', '.join(names)}", "each of them once")
    return names[2:]


def _csv_time(text: str) -> int | str | None:
    if not text:
        return None
    try:
        return int(PARSERS[Type.INTEGER](text))
    except ValueError:
        return text


def _from_parquet(path: str) -> FileResults:
    results, number = FileResults(), 0
    with opened_parquet(path) as file:
        import pyarrow as pa

        names = file.schema_arrow.names
        try:
            columns = results.columns = _columns(names)
        except Misfit as misfit:
            BadRows().report(path, "row", 1, misfit, "")
        for batch in file.iter_batches():
            starts, ends = (_times(batch.column(position)) for position in (0, 1))
            values = [list(map(_value, batch.column(name).to_pylist())) for name in columns]
            for position, (since, until) in enumerate(zip(starts, ends, strict=True)):
                number += 1
                try:
                    results.add(since, until, columns, [column[position] for column in values])
                except Misfit as misfit:
                    BadRows().report(path, "row", number, misfit, "")
        if results.elements:
            results.is_iso = pa.types.is_timestamp(file.schema_arrow.field("start").type)
    return results


def _times(column: pa.Array) -> list[Any]:
    """Integers as they are, and instants in nanoseconds."""
    import pyarrow as pa

    return values_of(column) if pa.types.is_timestamp(column.type) else list(column.to_pylist())
