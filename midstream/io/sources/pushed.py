"""Rows that a program pushes: tuples, dicts, dataclasses, Arrow, and DataFrames that speak Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from midstream.io.requirements import require_libraries
from midstream.io.sources.bad_rows import BadRows, Misfit
from midstream.io.sources.conversion import BATCH, lists_of
from midstream.io.sources.iterables import RowReader
from midstream.io.sources.parquet_reader import elements_of, matching_columns, values_of
from midstream.io.timestamps import Timestamps, UnitlessTimestamps
from midstream.plans.algebra.operators import Source
from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration
from midstream.plans.values.arguments import speaks_arrow, wrong
from midstream.plans.values.errors import ArgumentError, SchemaError
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Batch
from midstream.plans.values.units import TimeUnit

if TYPE_CHECKING:
    import pyarrow as pa

FORMS = "rows (tuples, dicts or dataclasses), an Arrow table or a DataFrame"
"""The forms of data, for messages."""


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
        self._rows = RowReader(declaration, _timestamps(source), BadRows(), None)

    def batches(self, data: object) -> Iterator[Batch]:
        """The elements of data, in its order; of an iterable, at most 1,024 rows are taken ahead."""
        if speaks_arrow(data):
            yield from self._of_arrow(data)
        elif isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
            raise wrong(f"push_rows: stream {self.source.stream}", data, FORMS)
        else:
            for rows in lists_of(data):
                yield self._rows.read(rows)

    def _of_arrow(self, data: Any) -> Iterator[Batch]:
        reader, conversion = _reader(data), self._rows.conversion
        names, kinds = reader.schema.names, list(map(_is_floating, reader.schema.types))
        declared = {c.name.lower() for c in conversion.stream.columns if c.type is Type.INTEGER}
        # pandas has floats where a column of integers has missing values.
        whole = [is_float and name.lower() in declared for is_float, name in zip(kinds, names, strict=True)]
        try:
            places = matching_columns(_with_integers(reader.schema, whole), conversion)
        except Misfit as misfit:
            raise SchemaError(
                f"push_rows: stream {self.source.stream}, {misfit}", column=misfit.column
            ) from None
        for batch in reader:
            for at in range(0, len(batch), BATCH):
                piece = batch.slice(at, BATCH)
                columns = [
                    _integers(piece.column(place)) if whole[place] else values_of(piece.column(place))
                    for place in places
                ]
                number = self._rows.number(len(piece))
                yield elements_of(columns, len(piece), number, conversion, self._rows.origin, BadRows())


def _reader(data: Any) -> pa.RecordBatchReader:
    require_libraries(("pyarrow",), "arrow", "Arrow and DataFrames need")
    import pyarrow as pa

    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data)
    batch = pa.record_batch(data)
    return pa.RecordBatchReader.from_batches(batch.schema, [batch])


def _is_floating(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind))


def _with_integers(schema: pa.Schema, are_integers: Sequence[bool]) -> pa.Schema:
    """The schema with integers in some places."""
    import pyarrow as pa

    return pa.schema(
        [
            field.with_type(pa.int64()) if is_integer else field
            for field, is_integer in zip(schema, are_integers, strict=True)
        ]
    )


def _integers(floats: pa.Array) -> list[Any]:
    """The values of a column, those that are whole as integers."""
    return [int(one) if one is not None and one.is_integer() else one for one in floats.to_pylist()]


def _timestamps(source: Source) -> Timestamps:
    if source.unit is None:
        return UnitlessTimestamps(source.stream)
    unit = TimeUnit.of(source.unit)
    return Timestamps(unit, None if source.is_assumed else unit)
