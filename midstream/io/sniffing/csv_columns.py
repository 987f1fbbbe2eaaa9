"""The columns of CSV: types that our readers take, and what stands for missing values and decimals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from midstream.io.readers import PARSERS
from midstream.io.sniffing.tables import Doubt, FoundColumn
from midstream.io.sniffing.times import forms_of, instant, nearest_form, unlike_the_first
from midstream.io.sources.bad_rows import shown
from midstream.io.sources.separators import POINTS, Separators
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
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_COMMA = re.compile(rf"[+-]?(?:\d+(?:,(\d*))?|,(\d+))({_EXPONENT})")
"""A number with a decimal comma, or without decimals: the decimals, and the exponent."""

_THOUSANDS = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d{1,3})")
"""A whole number whose points, if any, may stand between thousands."""

_GROUPED = re.compile(rf"[+-]?\d{{1,3}}(?:\.\d{{3}})+,\d+{_EXPONENT}")
"""A number with points between thousands and a decimal comma, such as 1.234,5."""


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
    numbers = [line for line, _ in records[has_header:]]
    width = len(records[0][1])
    names = records[0][1] if has_header else [f"column{position}" for position in range(width)]
    nothing = {"", *options.get("nullstr", ())}
    found = []
    for position, (name, type_) in enumerate(zip(names, types, strict=True)):
        known = [at for at, fields in enumerate(rows) if fields[position] not in nothing]
        texts = [rows[at][position] for at in known]
        has_missing = len(texts) < len(rows)
        column = _typed(name, texts, type_, has_missing, options)
        found.append(CsvColumn(position, _placed(column, [numbers[at] for at in known]), has_missing))
    return found


def _placed(column: FoundColumn, lines: list[int]) -> FoundColumn:
    """A column whose values, and whose doubt, have their lines."""
    doubt = column.doubt
    if doubt is not None and doubt.line is not None:
        doubt = replace(doubt, line=lines[doubt.line])
    return replace(column, lines=lines, doubt=doubt)


def _typed(
    name: str, texts: list[str], duckdb_type: str, has_missing: bool, options: Mapping[str, Any]
) -> FoundColumn:
    """A column with its type: DuckDB's, if our readers take the values; else there is a doubt.

    The line of a doubt is the position of the value here.
    """
    type_ = TYPES.get(duckdb_type, Type.STRING)
    if not texts:
        return FoundColumn(name, Type.STRING)
    separators = Separators(options.get("decimal_separator"), options.get("thousands"))
    if type_ is Type.FLOAT and (
        all(_INTEGER.fullmatch(separators.plain(text) or "") for text in texts)
        or (has_missing and all(map(_POINT_ZERO.fullmatch, texts)))
    ):
        return FoundColumn(name, Type.INTEGER, texts)
    if type_ is not Type.STRING:
        wrong = next((at for at, text in enumerate(texts) if not _fits(text, type_, separators)), None)
        if wrong is None:
            return FoundColumn(name, type_, texts)
        doubt = Doubt(wrong, f"{shown(texts[wrong])}, which DuckDB reads as {type_.value}")
        return FoundColumn(name, Type.STRING, texts, doubt=doubt)
    forms = tuple(forms_of(texts))
    if not forms and duckdb_type.startswith(("DATE", "TIMESTAMP")):
        near = nearest_form(texts)
        unlike = unlike_the_first(texts) if near is None else near.misfit
        doubt = Doubt(unlike, f"{shown(texts[unlike])}, which DuckDB reads as {duckdb_type}")
        return FoundColumn(name, Type.STRING, texts, doubt=doubt)
    is_date = all(len(text) <= len("2026-11-27") for text in texts) if forms == (ISO,) else False
    return FoundColumn(name, Type.STRING, texts, forms, is_date)


def _fits(text: str, type_: Type, separators: Separators) -> bool:
    plain = separators.plain(text) if type_ in (Type.INTEGER, Type.FLOAT) else text
    try:
        return plain is not None and PARSERS[type_](plain) is not None
    except ValueError:
        return False


def _fit(texts: Sequence[str], type_: Type, separators: Separators) -> bool:
    return all(_fits(text, type_, separators) for text in texts)


def null_words(columns: Sequence[CsvColumn]) -> list[str]:
    """The words that stand for a missing value: all other values of a column are numbers or dates."""
    found: dict[str, None] = {}
    for column in columns:
        words = NULL_WORDS.intersection(column.texts)
        if not words or column.plain.type is Type.INTEGER:
            continue
        rest = [text for text in column.texts if text not in words]
        if rest and (_fit(rest, Type.FLOAT, POINTS) or all(map(_COMMA.fullmatch, rest)) or forms_of(rest)):
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
    return any(_shows_commas(column, words) for column in columns)


def _shows_commas(column: CsvColumn, words: Sequence[str]) -> bool:
    """True if the numbers of a column have decimal commas for certain: 1,234 may be a thousand and more."""
    texts = [text for text in column.texts if text not in words]
    found = list(map(_COMMA.fullmatch, texts))
    if not found or None in found:
        return False
    commas = [one for one in found if one is not None and "," in one[0]]
    return any(one[3] or len(one[1] or one[2] or "") != 3 for one in commas)


def with_doubtful_points(
    columns: Sequence[CsvColumn], delim: str, words: Sequence[str]
) -> Sequence[CsvColumn]:
    """The columns, those with a doubt whose points may stand between thousands as well as before decimals.

    That is so if all numbers look like 1.234 and 12.500, and the file has decimal commas elsewhere, or has
    semicolons, as where decimals have commas, and no column shows that decimals have points.
    """
    pointed = [one for one in columns if one.plain.type is Type.FLOAT and "." in "".join(one.texts)]
    doubtful = [one for one in pointed if all(map(_THOUSANDS.fullmatch, one.texts))]
    has_commas = any(_shows_commas(one, words) or any(map(_GROUPED.fullmatch, one.texts)) for one in columns)
    if not doubtful or len(pointed) > len(doubtful) or not (has_commas or delim == ";"):
        return columns
    return [_doubted(one) if one in doubtful else one for one in columns]


def _doubted(column: CsvColumn) -> CsvColumn:
    position = next(at for at, text in enumerate(column.texts) if "." in text)
    text = column.texts[position]
    doubt = Doubt(
        column.plain.lines[position],
        f"{text}, which is a fraction by decimal_separator = '.', or {text.replace('.', '')} by "
        "decimal_separator = ',', thousands = '.', and no row tells which",
        "one of these options",
    )
    return replace(column, plain=replace(column.plain, doubt=doubt))


def is_row(columns: Sequence[CsvColumn], options: Mapping[str, Any]) -> bool:
    """True if the names of columns are values like those below them, in all columns of numbers and times."""
    fitting = []
    for column in columns:
        text = column.name
        if column.plain.forms:
            fitting.append(any(instant(text, form) is not None for form in column.plain.forms))
        elif column.texts and column.plain.type in (Type.INTEGER, Type.FLOAT):
            separators = Separators(options.get("decimal_separator"), options.get("thousands"))
            fitting.append(_fits(text, column.plain.type, separators))
    return bool(fitting) and all(fitting)


def type_note(column: CsvColumn, duckdb_type: str) -> str:
    """A note on a column that is text, although DuckDB gives it another type; empty for other columns."""
    if not column.texts:
        return f"column {column.name} has no values, it is TEXT"
    if duckdb_type == "TIME":
        return f"column {column.name} has times of day, they stay text"
    if column.plain.type is Type.STRING and any(map(_GROUPED.fullmatch, column.texts)):
        return (
            f"column {column.name} has numbers such as {column.texts[0]}, they stay text; "
            "decimal_separator = ',', thousands = '.' reads them"
        )
    return ""
