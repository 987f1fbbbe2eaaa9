"""Read recorded streams in place, with declared columns."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TextIO

from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Column, Schema, Type, parse_column, suggest

LONGEST_LINE = 1 << 24
"""The largest length of a line in bytes: a file without line ends must not fill the memory."""

csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
# The csv module accepts fields of up to 128 KiB, by one limit for all readers. Here a field may be as long as
# a line; a larger limit set by the program stays.

Row = tuple[int, tuple[Any, ...]]
"""A timestamp and a payload."""

UNKNOWN = ("", "NA")
"""Texts that stand for None in a nullable column; in other columns they are ordinary texts."""


@dataclass(frozen=True)
class CsvStream:
    """A raw stream recorded in a CSV file with a header line.

    path       the file, in UTF-8
    time       the column with the timestamps: integers, in the file's unit
    columns    by column of the file, its name and type in the stream; a type with `?` allows None
    where      by column of the file, the text that a row must have there to belong to the stream

    The payload has the columns in the order of `columns`; other columns of the file are ignored.

    Raises   SchemaError for an unknown type, or a name that occurs twice.
    """

    path: Path
    time: str
    columns: Mapping[str, tuple[str, str | Type]]
    where: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def schema(self) -> Schema:
        """The stream's columns."""
        return Schema(tuple(parse_column(name, type_) for name, type_ in self.columns.values()))

    def rows(self) -> Iterator[Row]:
        """Read timestamps and payloads in the order of the file, one row at a time.

        State    One row.
        Cost     O(columns) per row.
        Raises   InputFileError, naming file, line and column, what was found and what was expected.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "bids.csv")
        ...     size = file.write_text("second,house,item,price\\n3,A,7,12.5\\n4,B,7,8\\n5,A,9,NA\\n")
        ...     columns = {"price": ("price", "float?"), "item": ("item", "integer")}
        ...     list(CsvStream(file, "second", columns, where={"house": "A"}).rows())
        [(3, (12.5, 7)), (5, (None, 9))]
        """
        records = self._records()
        first = next(records, None)
        if first is None:
            raise self._unexpected(1, None, "nothing", "the names of the columns")
        _, header = first
        time = self._position(header, self.time)
        wanted = [(self._position(header, name), text) for name, text in self.where.items()]
        selected = [
            (self._position(header, name), name, column)
            for name, column in zip(self.columns, self.schema, strict=True)
        ]
        timestamp = Column(self.time, Type.INTEGER)
        for line, record in records:
            if all(record[i] == text for i, text in wanted):
                payload = tuple([self._value(record[i], line, name, column) for i, name, column in selected])
                yield self._value(record[time], line, self.time, timestamp), payload

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """The records of the file, each with the number of its last line; blank lines are skipped.

        The first record is the header. All others must have as many fields.
        """
        line = width = 0
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                reader = csv.reader(self._lines(file), strict=True)
                for record in reader:
                    line = reader.line_num
                    if record:
                        width = width or len(record)
                        if len(record) != width:
                            expected = f"{width}, as there are columns"
                            raise self._unexpected(line, None, f"{len(record)} fields", expected)
                        yield line, record
        except csv.Error as error:
            raise self._unexpected(line + 1, None, *csv_fault(error)) from error
        except UnicodeDecodeError as error:
            found = f"the byte {error.object[error.start]:#04x}"
            raise self._unexpected(line + 1, None, f"{found} there or soon after", "text in UTF-8") from error
        except OSError as error:
            raise InputFileError(f"{self.path}: {error.strerror or error}", path=self.path) from error

    def _lines(self, file: TextIO) -> Iterator[str]:
        while line := file.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise InputFileError(
                    f"{self.path}: found a line of more than {LONGEST_LINE:,} characters, expected fewer",
                    path=self.path,
                )
            yield line

    def _position(self, header: list[str], name: str) -> int:
        return position(header, name, partial(self._unexpected, 1, name))

    def _value(self, text: str, line: int, name: str, column: Column) -> Any:
        if column.nullable and text in UNKNOWN:
            return None
        try:
            return PARSERS[column.type](text)
        except ValueError:
            expected = column.type.value + (", NA or nothing" if column.nullable else "")
            raise self._unexpected(line, name, repr(text), expected) from None

    def _unexpected(self, line: int, column: str | None, found: str, expected: str) -> InputFileError:
        place = f"{self.path}, line {line}" + (f", column {column}" if column is not None else "")
        message = f"{place}: found {found}, expected {expected}"
        return InputFileError(
            message, path=self.path, line=line, column=column, found=found, expected=expected
        )


def csv_fault(error: csv.Error) -> tuple[str, str]:
    """The fault, and what was expected instead, from an error of the csv module.

    >>> csv_fault(csv.Error("unexpected end of data"))
    ('unexpected end of data', 'comma-separated values')
    """
    text = str(error)
    if "new-line character seen" in text:
        return (
            "a carriage return (CR) alone",
            "lines that end with LF or CR LF; convert them, as by tr '\\r' '\\n'",
        )
    if "field larger than field limit" in text:
        return f"a field of more than {csv.field_size_limit():,} characters", "a shorter one"
    return text, "comma-separated values"


def other_separator(name: str, names: Sequence[str]) -> str:
    """The separator that the file seems to use instead of commas; empty if there is no sign of one.

    >>> other_separator("x", ["at;X;s"]), other_separator("x", ["at"])
    (';', '')
    """
    only = names[0].lower() if len(names) == 1 else ""
    return next((one for one in (";", "\t", "|") if one in only and name.lower() in only.split(one)), "")


def separated(separator: str) -> tuple[str, str]:
    """The fault of columns that are not separated by commas, and what was expected instead."""
    return (
        f"names separated by {separator!r}",
        "commas between fields, as nothing else is read; convert the file",
    )


def position(columns: Sequence[str], name: str, error: Callable[[str, str], Exception]) -> int:
    """The position of a column; `error` makes the exception if the column is missing or occurs twice."""
    match columns.count(name):
        case 0:
            if separator := other_separator(name, columns):
                raise error(*separated(separator))
            raise error("no such column", f"one of {', '.join(columns) or 'none'}{suggest(name, columns)}")
        case 1:
            return columns.index(name)
        case several:
            raise error(f"{several} columns of this name", "one")


def _integer(text: str) -> int:
    _require_plain(text)
    return int(text)


def _float(text: str) -> float:
    _require_plain(text)
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _require_plain(text: str) -> None:
    # Python reads 1_000, " 7 " and ٣ as numbers; in data they are mistakes.
    if "_" in text or not text.isascii() or text != text.strip():
        raise ValueError(text)


def _boolean(text: str) -> bool:
    word = text.lower()
    if word not in ("true", "false"):
        raise ValueError(text)
    return word == "true"


PARSERS: Mapping[Type, Callable[[str], Any]] = {
    Type.INTEGER: _integer,
    Type.FLOAT: _float,
    Type.STRING: str,
    Type.BOOLEAN: _boolean,
    Type.ANY: str,
}
"""By type of column, the parser of its text; raises ValueError for other texts."""
