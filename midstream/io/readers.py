"""Facts of texts in files: how long lines may be, which texts stand for values, and faults of CSV."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from midstream.plans.values.schema import Type, suggest

LONGEST_LINE = 1 << 24
"""The largest length of a line in bytes: a file without line ends must not fill the memory."""

csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
# The csv module accepts fields of up to 128 KiB, by one limit for all readers. Here a field may be as long as
# a line; a larger limit set by the program stays.

UNKNOWN = ("", "NA")
"""Texts that stand for None in a nullable column; in other columns they are ordinary texts."""


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


SEPARATORS = (",", ";", "\t", "|")
"""Separators of fields."""


def other_separator(name: str, names: Sequence[str], delim: str = ",") -> str:
    """The separator that a file seems to use instead of `delim`; empty if there is no sign of one.

    >>> other_separator("x", ["at;X;s"]), other_separator("x", ["at"]), other_separator("x", ["x;y", "z;s"])
    (';', '', ';')
    """
    line = delim.join(names).lower()
    others = (one for one in SEPARATORS if one != delim)
    return next((one for one in others if one in line and name.lower() in fields_of(line, one)), "")


def fields_of(line: str, separator: str) -> list[str]:
    """The fields of a line without blanks and quotes around them, to guess what a file holds."""
    return [field.strip(' "') for field in line.split(separator)]


def separated(separator: str, delim: str = ",", what: str = "names") -> tuple[str, str]:
    """The fault of fields that are not separated by `delim`, and what was expected instead."""
    expected = "commas" if delim == "," else repr(delim)
    return (
        f"{what} separated by {separator!r}",
        f"{expected} between fields; declare SOURCE csv('f.csv', delim = {separator!r})",
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
