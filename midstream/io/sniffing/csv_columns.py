"""The columns of CSV: types that our readers take, and what stands for missing values and decimals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from midstream.io.readers import PARSERS
from midstream.io.sniffing.tables import FoundColumn
from midstream.io.sniffing.times import forms_of, instant
from midstream.io.sources.bad_rows import shown
from midstream.plans.sql.declarations import ISO, literal
from midstream.plans.values.schema import Type

TYPES: Mapping[str, Type] = {
    "BIGINT": Type.INTEGER,
    "HUGEINT": Type.INTEGER,
    "BIGNUM": Type.INTEGER,
    "DOUBLE": Type.FLOAT,
    "BOOLEAN": Type.BOOLEAN,
}
"""Our types for those of DuckDB, besides texts, dates and decimals."""

NULL_WORDS = frozenset(
    ("NA", "N/A", "n/a", "#N/A", "NULL", "Null", "null", "None", "none", "NaN", "nan", "-", "--", "?", "\\N")
)
"""Texts that stand for a missing value where all other values of their column are numbers or dates."""

_INTEGER = re.compile(r"[+-]?\d+")
_POINT_ZERO = re.compile(r"[+-]?\d+\.0")
_COMMA = re.compile(r"[+-]?\d+(,\d+)?")


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column of CSV: its texts without those for missing values, and if there were any of these."""

    position: int
    plain: FoundColumn
    has_missing: bool

    @property
    def name(self) -> str:
        return self.plain.name

    @property
    def texts(self) -> Sequence[str]:
        return self.plain.values


def csv_columns(
    records: Sequence[tuple[int, list[str]]],
    types: Sequence[str],
    has_header: bool,
    options: Mapping[str, Any],
) -> list[CsvColumn]:
    """The columns of some records; `types` are those of DuckDB, and `options` those of the source."""
    rows = [fields for _, fields in records[has_header:]]
    width = len(records[0][1])
    names = records[0][1] if has_header else [f"column{position}" for position in range(width)]
    nothing = {"", *options.get("nullstr", ())}
    found = []
    for position, (name, type_) in enumerate(zip(names, types, strict=True)):
        texts = [text for fields in rows if (text := fields[position]) not in nothing]
        has_missing = len(texts) < len(rows)
        column = _typed(name, texts, type_, has_missing, options.get("decimal_separator", "."))
        found.append(CsvColumn(position, column, has_missing))
    return found


def _typed(name: str, texts: list[str], duckdb_type: str, has_missing: bool, decimal: str) -> FoundColumn:
    """A column with its type: DuckDB's, if our readers take the values; else there is a doubt."""
    type_ = TYPES.get(duckdb_type, Type.STRING)
    if not texts:
        return FoundColumn(name, Type.STRING)
    if type_ is Type.FLOAT and (
        all(map(_INTEGER.fullmatch, texts)) or (has_missing and all(map(_POINT_ZERO.fullmatch, texts)))
    ):
        return FoundColumn(name, Type.INTEGER, texts)
    if type_ is not Type.STRING:
        if _fit(texts, type_, decimal):
            return FoundColumn(name, type_, texts)
        wrong = next(text for text in texts if not _fit([text], type_, decimal))
        doubt = f"found {shown(wrong)}, which DuckDB reads as {type_.value}"
        return FoundColumn(name, Type.STRING, texts, doubt=doubt)
    forms = tuple(forms_of(texts))
    if not forms and duckdb_type.startswith(("DATE", "TIMESTAMP")):
        doubt = f"found {shown(texts[0])}, which DuckDB reads as {duckdb_type}"
        return FoundColumn(name, Type.STRING, texts, doubt=doubt)
    is_date = all(len(text) <= len("2026-11-27") for text in texts) if forms == (ISO,) else False
    return FoundColumn(name, Type.STRING, texts, forms, is_date)


def _fit(texts: Sequence[str], type_: Type, decimal: str) -> bool:
    parse = PARSERS[type_]
    points = str.maketrans({decimal: ".", ".": decimal})
    try:
        for text in texts:
            parse(text.translate(points) if type_ is Type.FLOAT else text)
    except ValueError:
        return False
    return True


def null_words(columns: Sequence[CsvColumn]) -> list[str]:
    """The words that stand for a missing value: all other values of a column are numbers or dates."""
    found: dict[str, None] = {}
    for column in columns:
        words = NULL_WORDS.intersection(column.texts)
        if not words or column.plain.type is Type.INTEGER:
            continue
        rest = [text for text in column.texts if text not in words]
        if rest and (_fit(rest, Type.FLOAT, ".") or all(map(_COMMA.fullmatch, rest)) or forms_of(rest)):
            found |= dict.fromkeys(sorted(words))
    return list(found)


def null_note(words: Sequence[str], before: Sequence[CsvColumn], after: Sequence[CsvColumn]) -> str:
    """A note on words that stand for a missing value, with the columns of text that lose them, too."""
    texts = [
        column.name
        for column, first in zip(after, before, strict=True)
        if column.plain.type is Type.STRING
        and not column.plain.forms
        and not set(words).isdisjoint(first.texts)
    ]
    also = f", also in {', '.join(texts)}" if texts else ""
    return f"{', '.join(map(literal, words))} is NULL{also}"


def has_decimal_commas(columns: Sequence[CsvColumn], delim: str, words: Sequence[str]) -> bool:
    if delim == "," or any(
        column.plain.type is Type.FLOAT and "." in "".join(column.texts) for column in columns
    ):
        return False
    for column in columns:
        rest = [text for text in column.texts if text not in words]
        if rest and all(map(_COMMA.fullmatch, rest)):
            decimals = {len(text.partition(",")[2]) for text in rest if "," in text}
            if decimals and decimals != {3}:  # 1,234 may have a comma between thousands
                return True
    return False


def is_row(columns: Sequence[CsvColumn], options: Mapping[str, Any]) -> bool:
    """True if the names of columns are values like those below them, in all columns of numbers and times."""
    fitting = []
    for column in columns:
        text = column.name
        if column.plain.forms:
            fitting.append(any(instant(text, form) is not None for form in column.plain.forms))
        elif column.texts and column.plain.type in (Type.INTEGER, Type.FLOAT):
            fitting.append(_fit([text], column.plain.type, options.get("decimal_separator", ".")))
    return bool(fitting) and all(fitting)


def type_note(column: CsvColumn, duckdb_type: str) -> str:
    """A note on a column that is text, although DuckDB gives it another type; empty for other columns."""
    if not column.texts:
        return f"column {column.name} has no values, it is TEXT"
    if duckdb_type == "TIME":
        return f"column {column.name} has times of day, they stay text"
    return ""
