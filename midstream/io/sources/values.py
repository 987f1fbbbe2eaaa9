"""Converters for columns of Python values, as in JSON, Parquet and programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from math import isfinite
from numbers import Integral, Real
from typing import Any

from midstream.io.instants import Nanoseconds, nanoseconds
from midstream.io.parquet import Moments
from midstream.io.sources.converter import Converter, describe
from midstream.io.sources.texts import text_converter
from midstream.io.timestamps import Days, Timestamps
from midstream.plans.sql.declarations import ISO, ColumnDeclaration
from midstream.plans.values.finite import python_value
from midstream.plans.values.schema import Type

Values = Sequence[Any]


_NONE = type(None)


def value_converter(
    column: ColumnDeclaration, is_nullable: bool, timestamps: Timestamps, formats: Sequence[str] = ()
) -> Converter:
    """The converter of a column of values; `formats` are the forms of timestamps that are texts.

    It converts integers to declared floats, but no texts to numbers.

    >>> from midstream.plans.values.units import TimeUnit
    >>> seconds = Timestamps.of(TimeUnit.of("seconds"))
    >>> price = value_converter(ColumnDeclaration("price", Type.FLOAT), True, seconds)
    >>> price.many([12.5, None, 8]), price.single(8)
    ([12.5, None, 8.0], 8.0)
    """
    parse: Callable[[Any], Any]
    timestamps = Days(timestamps) if column.is_date else timestamps
    if column.is_timestamp:
        parse = _instant(timestamps, formats)
        plain: frozenset[type] = frozenset() if formats and ISO not in formats else frozenset({int})
    else:
        parse = partial(_any, timestamps) if column.type is Type.ANY else VALUE_PARSERS[column.type]
        plain = PLAIN[column.type]

    def one(value: Any) -> Any:
        value = scalar(value)
        return None if value is None and is_nullable else parse(value)

    def many(values: Values) -> Values:
        if isinstance(values, Moments) and (is_nullable or None not in values):
            return timestamps.instants(values)
        kinds = set(map(type, values))
        if is_nullable:
            kinds.discard(_NONE)
        if column.type is Type.FLOAT and kinds == {int, float}:
            values = [None if value is None else float(value) for value in values]
        elif not kinds <= plain:
            return list(map(one, values))
        if float in kinds and not isfinite(sum(filter(None, values))):
            raise ValueError("a number that is not finite, or an overflow of the sum")
        if column.is_timestamp:
            return timestamps.integers(values)
        if str in kinds:
            text = "".join(filter(None, values))
            text.isascii() or text.encode()
        return values

    return Converter(many, one, describe(column, "null" if is_nullable else None, formats))


def with_json(plain: Converter) -> Converter:
    """A converter of texts that takes other values as their text in JSON, as DuckDB does.

    >>> plain = value_converter(ColumnDeclaration("user", Type.STRING), True, Timestamps.of("seconds"))
    >>> with_json(plain).many(["Ann", None, {"id": 7}])
    ['Ann', None, '{"id": 7}']
    """

    def text(value: Any) -> Any:
        if value is None or type(value) is str:
            return value
        return (
            str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=str)
        )

    return Converter(
        lambda values: plain.many(list(map(text, values))),
        lambda value: plain.single(text(value)),
        plain.expected,
    )


def scalar(value: Any) -> Any:
    """The Python value of a scalar of NumPy or pandas, also of an instant; other values as they are."""
    module, name = type(value).__module__, type(value).__name__
    if module == "numpy" and name == "datetime64":
        item = value.item()
        return Nanoseconds(item) if type(item) is int else item
    if module.startswith("pandas."):
        return None if name in ("NAType", "NaTType") else scalar(value.asm8) if name == "Timestamp" else value
    return python_value(value)


def _integer(value: Any) -> int:
    if type(value) is int:
        return value
    if type(value) is not bool and isinstance(value, Integral):
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and value == int(value):
        return int(value)
    raise ValueError(value)


def _float(value: Any) -> float:
    if type(value) is bool or not isinstance(value, Real | Decimal):
        raise ValueError(value)
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(value) from None
    if not isfinite(number):
        raise ValueError(value)
    return number


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(value)
    value.encode()  # half of a surrogate pair is no text: no file takes it
    return str(value)


def _boolean(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise ValueError(value)


def _any(timestamps: Timestamps, value: Any) -> Any:
    if isinstance(value, Nanoseconds):
        return timestamps.instant(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Decimal) and not value.is_finite():
        raise ValueError(value)
    if isinstance(value, str):
        return _string(value)
    try:
        hash(value)
    except TypeError:
        raise ValueError(value) from None
    if value is None or value != value:
        raise ValueError(value)
    return value


VALUE_PARSERS = {
    Type.INTEGER: _integer,
    Type.FLOAT: _float,
    Type.STRING: _string,
    Type.BOOLEAN: _boolean,
}

PLAIN: dict[Type, frozenset[type]] = {
    Type.INTEGER: frozenset({int}),
    Type.FLOAT: frozenset({float}),
    Type.STRING: frozenset({str}),
    Type.BOOLEAN: frozenset({bool}),
    Type.ANY: frozenset(),
}
"""By type of column, the Python types of values that need no conversion."""


def _instant(timestamps: Timestamps, formats: Sequence[str]) -> Callable[[Any], int]:
    column = ColumnDeclaration("", Type.INTEGER, is_timestamp=True)
    parse = text_converter(column, False, timestamps, formats).single
    takes_integers = not formats or ISO in formats

    def read(value: Any) -> int:
        if isinstance(value, str):
            return int(parse(value))
        if isinstance(value, date | Nanoseconds):
            return timestamps.instant(nanoseconds(value))
        if not takes_integers:
            raise ValueError(value)
        return timestamps.integer(_integer(value))

    return read
