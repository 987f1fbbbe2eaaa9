"""Conversion of rows of a file that may hold several streams; rows of other streams are not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

from midstream.io.parquet import Moments
from midstream.io.sources.clock import Now
from midstream.io.sources.conversion import Conversion
from midstream.io.sources.converter import ODD, Converter, Converters
from midstream.io.sources.rows import Rows
from midstream.io.sources.separators import POINTS, Separators
from midstream.io.sources.sniffed_columns import in_the_guessed_unit, without_codes, without_integers
from midstream.io.sources.texts import text_converter
from midstream.io.sources.values import value_converter, with_json
from midstream.io.timestamps import Timestamps
from midstream.plans.expressions.expressions import CONSTANT_TYPES
from midstream.plans.sql.declarations import (
    ColumnDeclaration,
    Constant,
    SourceClause,
    StreamDeclaration,
)
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Batch, Element
from midstream.plans.values.units import TimeUnit

SELECTABLE = ("csv", "jsonl", "parquet")
"""Formats whose files may hold several streams."""


WITH_JSON = ("jsonl", "parquet")
"""Formats whose values may be nested, and are taken as JSON by columns that somebody declares as texts."""


def conversion_of(
    stream: StreamDeclaration, unit: TimeUnit | Timestamps | str, form: str, clock: Now | None = None
) -> Conversion:
    """The conversion of rows in some format to elements of a stream, as it declares them."""
    timestamps = Timestamps.of(unit)
    converters = converters_of(stream, form)
    if not stream.where:
        return Conversion(stream, timestamps, converters, clock)
    return SelectingConversion(stream, timestamps, converters, clock)


def own_rows(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Batches without the rows of other streams, for which a `SelectingConversion` gives None."""
    for batch in batches:
        if None not in batch:
            yield batch
            continue
        flags = [element is not None for element in batch]
        if any(flags):
            own = compress(batch, flags)
            yield Rows(own, list(compress(batch.numbers, flags))) if isinstance(batch, Rows) else list(own)


class SelectingConversion(Conversion):
    """Convert rows of one stream, and turn rows of other streams into None.

    A row belongs to the stream if it has the stream's values in some columns. Nothing else is read of other
    rows. They keep their places, so that line numbers stay right.
    """

    def __init__(
        self,
        stream: StreamDeclaration,
        timestamps: Timestamps,
        converters: Converters,
        clock: Now | None = None,
    ) -> None:
        names, where = [column.name for column in stream.columns], dict(stream.where)
        asked = [ColumnDeclaration(name, CONSTANT_TYPES[type(value)]) for name, value in where.items()]
        further = tuple(column for column in asked if column.name not in names)
        super().__init__(replace(stream, columns=(*stream.columns, *further)), timestamps, converters, clock)
        self._member = Conversion(stream, timestamps, converters, clock)
        self._width = len(stream.columns)
        self._tests = [
            (self.names.index(column.name), converters(column, True, timestamps), where[column.name])
            for column in asked
        ]

    def batch(self, columns: Sequence[Sequence[Any]], count: int) -> Batch:
        flags = [True] * count
        for position, test, wanted in self._tests:
            values = columns[position]
            known = {value: _is(test, wanted, value) for value in set(values)}
            flags = [flag and known[value] for flag, value in zip(flags, values, strict=True)]
        declared = columns[: self._width]
        if all(flags):
            return self._member.batch(declared, count)
        found = iter(self._member.batch([_some(column, flags) for column in declared], sum(flags)))
        return [next(found) if flag else None for flag in flags]  # type: ignore[misc]

    def element(self, values: Sequence[Any]) -> Element:
        if not all(_is(test, wanted, values[position]) for position, test, wanted in self._tests):
            return None  # type: ignore[return-value]
        return self._member.element(values[: self._width])


def _is(test: Converter, wanted: Constant, value: Any) -> bool:
    try:
        found: Any = test.single(value)
    except ODD:
        return False
    return type(found) is type(wanted) and bool(found == wanted)


def _some(column: Sequence[Any], flags: Sequence[bool]) -> Sequence[Any]:
    kept = compress(column, flags)
    return Moments(kept) if isinstance(column, Moments) else list(kept)


def converters_of(stream: StreamDeclaration, form: str) -> Converters:
    """The converters of a format, with the options of the stream's source."""
    source = stream.source or SourceClause("")
    integers = {column.name for column in stream.columns if not column.is_timestamp}
    separators = {
        Type.FLOAT: Separators(source.decimal, source.thousands),
        Type.INTEGER: Separators(None, source.thousands),
    }

    def converters(column: ColumnDeclaration, is_nullable: bool, timestamps: Timestamps) -> Converter:
        # A stream may be ordered by integers, which have no form.
        formats = () if column.name in integers else source.formats
        if form != "csv":
            plain = value_converter(column, is_nullable, timestamps, formats)
            if column.type is Type.STRING and not column.is_sniffed and form in WITH_JSON:
                plain = with_json(plain)
            return sniffed(plain, column, timestamps)
        plain = sniffed(text_converter(column, is_nullable, timestamps, formats), column, timestamps)
        if not column.is_timestamp and (used := separators.get(column.type, POINTS)) != POINTS:
            plain = used.converter(plain)
        return _with_unknown(plain, is_nullable, source.unknown)

    def sniffed(plain: Converter, column: ColumnDeclaration, timestamps: Timestamps) -> Converter:
        if not column.is_sniffed:
            return plain
        if column.is_timestamp and column.name in integers:
            return in_the_guessed_unit(plain, timestamps)
        if form == "csv" and column.type in (Type.INTEGER, Type.FLOAT) and not column.is_timestamp:
            return without_codes(plain)
        return without_integers(plain, source.formats) if column.is_timestamp else plain

    return converters


def text_converters(unknown: Sequence[str]) -> Converters:
    """Converters of texts, where some texts stand for a missing value."""

    def converters(column: ColumnDeclaration, is_nullable: bool, timestamps: Timestamps) -> Converter:
        return _with_unknown(text_converter(column, is_nullable, timestamps), is_nullable, unknown)

    return converters


def _with_unknown(plain: Converter, is_nullable: bool, unknown: Sequence[str]) -> Converter:
    if not unknown or not is_nullable:
        return plain
    empty: Mapping[str, str] = dict.fromkeys(unknown, "")

    def many(texts: Sequence[str]) -> Sequence[Any]:
        return plain.many([empty.get(text, text) for text in texts] if empty.keys() & texts else texts)

    return Converter(many, lambda text: plain.single(empty.get(text, text)), plain.expected)
