"""Rows that a program pushes: tuples, dicts, dataclasses, Arrow, and DataFrames that speak Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from types import GeneratorType
from typing import Any

from midstream.io.sources.bad_rows import BadRows, Misfit
from midstream.io.sources.conversion import Conversion, lists_of
from midstream.io.sources.converter import ODD
from midstream.io.sources.frames import is_kept, pieces
from midstream.io.sources.iterables import RowReader
from midstream.io.sources.parquet_reader import elements_of
from midstream.io.sources.sorting import in_order
from midstream.io.sources.values import value_converter
from midstream.io.timestamps import Timestamps, UnitlessTimestamps
from midstream.plans.algebra.operators import Source
from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration
from midstream.plans.values.arguments import read_once, speaks_arrow, wrong
from midstream.plans.values.errors import ArgumentError, Note, tell
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import BEGINNING, Batch, Element, Time
from midstream.plans.values.unit_words import IN_SCRIPTS
from midstream.plans.values.units import TimeUnit

FORMS = "rows (tuples, dicts or dataclasses), an Arrow table or a DataFrame"
"""The forms of data, for messages."""


class OfTable(BadRows):
    """Ends the run at a row of a table that does not fit, with advice about its column."""

    def report(self, source: str, unit: str, number: int, misfit: Misfit, row: str) -> None:
        """Raise InputFileError for a row."""
        expected = f"{misfit.expected}; convert the column, or declare it otherwise"
        super().report(source, unit, number, Misfit(misfit.column, misfit.value, expected), row)


class PushedRows:
    """Turns data that a program pushes into elements of a stream, and numbers the rows.

    source   the stream: its columns, and its unit of time
    time     the column of the data that holds the timestamp; by default the one that SQL declares

    Columns are found by name, in any case; others are ignored. Tuples have the columns in order, with the
    time where SQL declares it, else in front. Integers are chronons; dates need a declared unit.

    Cost     O(columns) per row.
    Raises   ArgumentError for other data, and where no time is known; InputFileError, with the number of the
             row, for a row that does not fit; MissingExtra for Arrow without pyarrow.
    """

    def __init__(self, source: Source, time: str | None) -> None:
        self.source = source
        if source.intervals:
            raise ArgumentError(
                f"push_rows: stream {source.stream} has intervals of its own, expected a stream of rows with "
                "timestamps; use push for elements (start, end, payload)"
            )
        name, place = source.ordered_by or (None, 0)
        if time is not None:
            name, place = time, place if time == name else 0
        if name is None:
            raise ArgumentError(
                f"push_rows: found no time for stream {source.stream}, expected time='…', the column of the "
                "data that holds the timestamp"
            )
        if name in source.columns:
            raise ArgumentError(
                f"push_rows: found time={name!r}, a column of stream {source.stream}, expected another one: "
                "the timestamp is no part of a row"
            )
        columns = [
            ColumnDeclaration(one.name, one.type, one.nullable, one.time is not None, one.time == "date")
            for one in source.columns
        ]
        columns.insert(place, ColumnDeclaration(name, Type.INTEGER, nullable=False, is_timestamp=True))
        declaration = StreamDeclaration(source.stream, tuple(columns), ordered_by=name)
        self._who = f"push_rows: stream {source.stream}"
        self._rows = RowReader(declaration, _timestamps(source), BadRows(), None)

    def batches(self, data: object) -> Iterator[Batch]:
        """The elements of data, in its order; of an iterable, at most 1,024 rows are taken ahead."""
        who = self._who
        if speaks_arrow(data):
            for piece in pieces(who, data, self._rows.conversion):
                number = self._rows.number(len(piece[0]))
                yield elements_of(
                    piece, len(piece[0]), number, self._rows.conversion, self._rows.origin, OfTable()
                )
        elif isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
            raise wrong(who, data, FORMS)
        else:
            # Only of a generator is it known that others have read it.
            unread = read_once(who, data) if isinstance(data, GeneratorType) else data
            for rows in lists_of(unread):
                yield self._rows.read(rows)

    def decimals(self, data: object) -> dict[str, int]:
        """The declared floats for which the first row has decimals, with their digits behind the point.

        Nothing is known beforehand of what is made while it is read.
        """
        stream = self._rows.conversion.stream
        floats = [column.name for column in stream.columns if column.type is Type.FLOAT]
        first: Sequence[Any] = ()
        if floats and is_kept(data):
            piece = next(pieces(self._who, data, self._rows.conversion), [])
            first = [next((one for one in column if one is not None), None) for column in piece]
        elif floats and isinstance(data, list | tuple) and data and isinstance(data[0], Mapping):
            named = {str(key).lower(): value for key, value in data[0].items()}
            first = [named.get(column.name.lower()) for column in stream.columns]
        return {
            column.name: max(0, -int(value.as_tuple().exponent))
            for column, value in zip(stream.columns, first, strict=False)
            if column.name in floats and isinstance(value, Decimal) and value.is_finite()
        }

    def elements(self, data: object) -> Iterator[Element]:
        """The elements of a complete stream; tables are sorted by time, as files are.

        A note tells the first row that is not in order.
        """
        if not speaks_arrow(data):
            batches = self.batches(read_once(self._who, data) if isinstance(data, Iterator) else data)
        elif not is_kept(data):  # nobody can look at its order beforehand
            batches = in_order(self.batches(data))
        else:
            batches, row = self.batches(data), self._unsorted(data)
            if row is not None:
                found = f"rows are not in order of time (first in row {row}), so they are sorted"
                tell([f"stream {self.source.stream}: {found}"], Note)
                batches = in_order(batches)
        for batch in batches:
            yield from batch

    def _unsorted(self, data: Any) -> int | None:
        """The number of the first row of a table that is before its predecessor; None if there is none."""
        declared = self._rows.conversion.stream
        columns = tuple(column for column in declared.columns if column.name == declared.ordered_by)
        times = Conversion(replace(declared, columns=columns), _timestamps(self.source), value_converter)
        number = 0
        last: Time = BEGINNING
        for piece in pieces(self._who, data, times):
            try:
                starts = [start for start, _, _ in times.batch(piece, len(piece[0]))]
            except ODD:
                return None  # the run refuses the row
            known = [last, *starts]
            back = next((i for i, (before, at) in enumerate(pairwise(known)) if at < before), None)
            if back is not None:
                return number + back + 1
            number, last = number + len(starts), starts[-1]
        return None


def _timestamps(source: Source) -> Timestamps:
    if source.unit is None:
        is_of_sql = source.ordered_by is not None
        remedy = IN_SCRIPTS if is_of_sql else f"ms.stream({source.stream!r}, …, time_unit='{{0}}')"
        return UnitlessTimestamps(source.stream, remedy)
    unit = TimeUnit.of(source.unit)
    return Timestamps(unit, None if source.is_assumed else unit)
