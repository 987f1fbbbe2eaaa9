"""Converters for columns of texts, as in CSV.

An empty text is unknown in a nullable column, also in one of strings. DuckDB reads CSV in this way: `""` and
nothing are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from midstream.io.readers import PARSERS
from midstream.io.sources.converter import Converter, describe
from midstream.io.timestamps import Days, Timestamps, UndeclaredUnit
from midstream.plans.sql.declarations import ISO, ColumnDeclaration
from midstream.plans.values.instants import EPOCH, nanoseconds, of_datetime
from midstream.plans.values.schema import Type

Texts = Sequence[str]

DIGITS = b"+-0123456789"
NUMBERS = DIGITS + b".eE"

_BOOLEANS = {
    spelled: value
    for word, value in (("true", True), ("false", False))
    for spelled in (word, word.capitalize(), word.upper())
}


def text_converter(
    column: ColumnDeclaration, is_nullable: bool, timestamps: Timestamps, formats: Sequence[str] = ()
) -> Converter:
    """The converter of a column of texts; `formats` are the forms of timestamps, in the order of trial.

    >>> from midstream.plans.values.units import TimeUnit
    >>> seconds = Timestamps.of(TimeUnit.of("seconds"))
    >>> price = text_converter(ColumnDeclaration("price", Type.FLOAT), True, seconds)
    >>> price.many(["12.5", "", "8"]), price.single("8")
    ([12.5, None, 8.0], 8.0)
    >>> day = ColumnDeclaration("day", Type.INTEGER, is_timestamp=True)
    >>> text_converter(day, True, seconds).many(["1970-01-02", "7", "1970-01-01 00:00:01.5+00:01"])
    [86400, 7, -59]
    """
    timestamps = Days(timestamps) if column.is_date else timestamps
    parse = PARSERS[column.type]
    if column.type is Type.INTEGER and is_nullable:
        parse = _integer
    if column.is_timestamp:
        parse = _formatted(timestamps, formats) if formats else _instant(timestamps)

    def one(text: str) -> Any:
        return None if is_nullable and text == "" else parse(text)

    many: Callable[[Texts], Sequence[Any]]
    match column.type:
        case _ if column.is_timestamp and formats:
            many = _all_formatted(formats[0], one, timestamps)
        case _ if column.is_timestamp:
            many = _instants(_numbers(int, DIGITS, is_nullable), one, timestamps)
        case Type.INTEGER:
            many = _integers(is_nullable)
        case Type.FLOAT:
            many = _floats(_numbers(float, NUMBERS, is_nullable))
        case Type.BOOLEAN:
            many = _booleans(one)
        case _:
            many = _nullable_strings if is_nullable else _as_they_are
    return Converter(many, one, describe(column, "nothing" if is_nullable else None, formats))


_PADDED = {"Y": "[0-9]{4}", **dict.fromkeys("mdHMS", "[0-9]{2}")}
"""The directives of strptime whose texts become ISO 8601 in another order, if they have leading zeros."""


def _all_formatted(
    form: str, one: Callable[[str], Any], timestamps: Timestamps
) -> Callable[[Texts], Sequence[Any]]:
    """A converter of whole columns, which puts the parts of each text in the order of ISO 8601.

    It takes a quarter of the time of strptime, which reads what is not in the first form, or lacks zeros.
    """
    parts = re.split("%(.)", form)
    literals, directives = parts[::2], parts[1::2]
    clock = "".join(directives).translate(str.maketrans("", "", "Ymd"))
    is_padded = sorted(directives) == sorted(f"Ymd{clock}") and clock in ("", "HM", "HMS")

    def each(texts: Texts) -> Sequence[Any]:
        return list(map(one, texts))

    if not is_padded:
        return each
    pattern = re.escape(literals[0]) + "".join(
        f"(?P<{name}>{_PADDED[name]}){re.escape(literal)}"
        for name, literal in zip(directives, literals[1:], strict=True)
    )
    lines = re.compile(f"^{pattern}$", re.MULTILINE)
    iso = r"\g<Y>-\g<m>-\g<d> " + ":".join(rf"\g<{name}>" for name in clock)

    def many(texts: Texts) -> Sequence[Any]:
        changed, count = lines.subn(iso.rstrip(), "\n".join(texts))
        found = changed.split("\n")
        if not count == len(texts) == len(found):
            return each(texts)
        try:
            return timestamps.instants(_nanoseconds(list(map(datetime.fromisoformat, found))))
        except ValueError:
            return each(texts)

    return many


def _formatted(timestamps: Timestamps, formats: Sequence[str]) -> Callable[[str], int]:
    """A parser of instants in any of some forms; in UTC, if they name no zone."""
    iso = _instant(timestamps)

    def parse(text: str) -> int:
        for form in formats:
            try:
                if form == ISO:
                    return iso(text)
                return timestamps.instant(of_datetime(datetime.strptime(text, form)))
            except ValueError as error:
                if isinstance(error, UndeclaredUnit):
                    raise
        raise ValueError(text)

    return parse


def _numbers(
    read: Callable[[str], Any], allowed: bytes, is_nullable: bool
) -> Callable[[Texts], Sequence[Any]]:
    def many(texts: Texts) -> Sequence[Any]:
        # Of the texts that Python reads as numbers, those of these characters are valid for the parsers.
        if "".join(texts).encode().translate(None, allowed):
            raise ValueError("a character that no number has")
        try:
            return list(map(read, texts))
        except ValueError:
            if not is_nullable:
                raise
            return [read(text) if text else None for text in texts]

    return many


_WHOLE = re.compile(r"[+-]?[0-9]+\.0")
"""An integer as pandas writes it in a column with missing values."""


def _integer(text: str) -> int:
    return int(PARSERS[Type.INTEGER](text[:-2] if _WHOLE.fullmatch(text) else text))


def _integers(is_nullable: bool) -> Callable[[Texts], Sequence[Any]]:
    plain = _numbers(int, DIGITS, is_nullable)

    def many(texts: Texts) -> Sequence[Any]:
        try:
            return plain(texts)
        except ValueError:
            if not is_nullable:
                raise
            return [_integer(text) if text else None for text in texts]

    return many


def _floats(numbers: Callable[[Texts], Sequence[Any]]) -> Callable[[Texts], Sequence[Any]]:
    def many(texts: Texts) -> Sequence[Any]:
        values = numbers(texts)
        if not isfinite(sum(filter(None, values))):
            raise ValueError("a number that is not finite, such as 1e999, or an overflow of the sum")
        return values

    return many


def _instant(timestamps: Timestamps) -> Callable[[str], int]:
    integer = PARSERS[Type.INTEGER]

    def parse(text: str) -> int:
        try:
            number = int(integer(text))
        except ValueError:
            return timestamps.instant(nanoseconds(text))
        return timestamps.integer(number)

    return parse


def _instants(
    integers: Callable[[Texts], Sequence[Any]], one: Callable[[str], Any], timestamps: Timestamps
) -> Callable[[Texts], Sequence[Any]]:
    def many(texts: Texts) -> Sequence[Any]:
        try:
            numbers = integers(texts)
        except (ValueError, TypeError):
            pass
        else:
            return timestamps.integers(numbers)
        try:
            found = dates(texts)
        except (ValueError, TypeError):
            return list(map(one, texts))
        return timestamps.instants(found)

    def dates(texts: Texts) -> Sequence[int | None]:
        # A text such as 20240229 is read as an integer, although it is also a date.
        if any(map(str.isdigit, texts)) or _UNUSUAL.search("\n".join(texts)):
            raise ValueError("not only dates, or some that datetime does not read as they are")
        return _nanoseconds([datetime.fromisoformat(text) if text else one(text) for text in texts])

    return many


def _nanoseconds(moments: Sequence[datetime | None]) -> Sequence[int | None]:
    """The instants of moments that all have a time zone, or none; raises TypeError for others."""
    zone = next((moment.tzinfo and UTC for moment in moments if moment is not None), None)
    epoch = EPOCH.replace(tzinfo=zone)
    return [
        None
        if moment is None
        else ((d := moment - epoch).days * 86_400 + d.seconds) * 10**9 + d.microseconds * 1000
        for moment in moments
    ]


_UNUSUAL = re.compile("[.,][0-9]{7}|[+-][0-9:]+[.,]")
"""A fraction that datetime would cut silently, and a fraction in the distance from UTC."""


def _booleans(one: Callable[[str], Any]) -> Callable[[Texts], Sequence[Any]]:
    def many(texts: Texts) -> Sequence[Any]:
        try:
            return list(map(_BOOLEANS.__getitem__, texts))
        except KeyError:
            return list(map(one, texts))

    return many


def _nullable_strings(texts: Texts) -> Sequence[Any]:
    return [text or None for text in texts] if "" in texts else texts


def _as_they_are(texts: Texts) -> Sequence[Any]:
    return texts
