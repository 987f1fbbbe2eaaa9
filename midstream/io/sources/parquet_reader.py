"""Read streams from Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midstream.io.instants import Nanoseconds
from midstream.io.parquet import Moments, is_text, opened_parquet, read_columns
from midstream.io.sources.bad_rows import BadRows, Misfit
from midstream.io.sources.columns import find_columns, require_no_further
from midstream.io.sources.conversion import (
    BATCH,
    Candidate,
    Conversion,
    Origin,
    convert_each,
    in_batches,
)
from midstream.io.sources.converter import INSTANT, ODD
from midstream.io.sources.rows import Rows
from midstream.io.time_units import NANOSECONDS
from midstream.plans.sql.declarations import ColumnDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import iso_format
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Batch

if TYPE_CHECKING:
    import pyarrow as pa


def parquet_batches(path: Path, conversion: Conversion, bad_rows: BadRows) -> Iterator[Batch]:
    """The batches of a file, in its order.

    Columns are matched by name in any case. Dates and timestamps of Parquet become chronons exactly,
    rounded down; without a time zone they are in UTC.

    State    One row group's pages of the columns that are read.
    Raises   InputFileError; MissingExtra without pyarrow.
    """
    origin = Origin(str(path), "row")
    with opened_parquet(path) as file:
        names = list(file.schema_arrow.names)
        try:
            places = matching_columns(file.schema_arrow, conversion)
            found = [None if place is None else names[place] for place in places]
        except Misfit as misfit:
            raise InputFileError(f"{path}, {misfit}", path=path, **misfit.facts) from None
    read = 0
    for count, arrays in read_columns(path, [name for name in found if name is not None], BATCH):
        columns = [[None] * count if name is None else values_of(arrays[name]) for name in found]
        yield from in_batches(elements_of(columns, count, read + 1, conversion, origin, bad_rows))
        read += count


def matching_columns(schema: pa.Schema, conversion: Conversion) -> list[int | None]:
    """The positions of a stream's columns, by name in any case; None for one that a sparse file lacks.

    Raises   Misfit for a column that is missing, or of another type, and for further columns if the
             stream's are sniffed.
    """
    places = find_columns(conversion.names, schema.names, conversion.optional)
    for column, place in zip(conversion.stream.columns, places, strict=False):
        if place is None:
            continue
        is_time = column.is_timestamp or column.name == conversion.stream.ordered_by
        type_ = schema.field(place).type
        if column.type is not Type.STRING or column.is_sniffed or not _has_text(type_):
            require_type(type_, column, is_time=is_time)
    require_no_further(conversion.names, schema.names, conversion.stream.left_out)
    return places


def _has_text(found: pa.DataType) -> bool:
    """True for a type whose values have a text in JSON."""
    from pyarrow import types

    numbers = types.is_integer(found) or types.is_floating(found) or types.is_decimal(found)
    return bool(numbers or types.is_boolean(found) or types.is_nested(found))


def elements_of(
    columns: list[list[Any]],
    count: int,
    number: int,
    conversion: Conversion,
    origin: Origin,
    bad_rows: BadRows,
) -> Batch:
    """The elements of columns of values, where the first row has a number."""
    try:
        return Rows(conversion.batch(columns, count), range(number, number + count))
    except ODD:
        rows = zip(*map(_single, columns), strict=True)
        candidates = (
            Candidate(n, partial(_text, conversion.names, row), row) for n, row in enumerate(rows, number)
        )
        return convert_each(candidates, conversion.element, origin, bad_rows)


def _single(column: list[Any]) -> list[Any]:
    if not isinstance(column, Moments):
        return column
    return [None if value is None else Nanoseconds(value) for value in column]


def _text(names: list[str], row: tuple[Any, ...]) -> str:
    shown = (iso_format(1)(value) if isinstance(value, Nanoseconds) else value for value in row)
    return json.dumps(dict(zip(names, shown, strict=True)), ensure_ascii=False, default=str)


def require_type(kind: pa.DataType, column: ColumnDeclaration, *, is_time: bool) -> None:
    """Raise Misfit for a type of Arrow whose values a column does not take."""
    from pyarrow import types

    values = kind.value_type if types.is_dictionary(kind) else kind
    if is_time:
        readable: tuple[Any, ...] = (types.is_integer, types.is_timestamp, types.is_date, is_text)
    elif column.type is Type.ANY:
        return
    else:
        readable = {
            Type.INTEGER: (types.is_integer, types.is_decimal),
            Type.FLOAT: (types.is_floating, types.is_integer, types.is_decimal),
            Type.STRING: (is_text, types.is_time),
            Type.BOOLEAN: (types.is_boolean,),
        }[column.type]
    if not types.is_null(values) and not any(test(values) for test in readable):
        raise Misfit(column.name, str(kind), INSTANT if is_time else column.type.value)


def values_of(array: pa.Array | Moments) -> list[Any]:
    """The values of a column; dates and timestamps as Moments, because datetime ends at microseconds."""
    import pyarrow as pa
    from pyarrow import types

    if isinstance(array, Moments):
        return array
    if types.is_timestamp(array.type):
        size = NANOSECONDS[array.type.unit]
        return Moments(v if v is None else v * size for v in values_of(array.cast(pa.int64())))
    if types.is_date(array.type):
        days = values_of(array.cast(pa.date32()).cast(pa.int32()))
        return Moments(v if v is None else v * NANOSECONDS["d"] for v in days)
    if types.is_time(array.type):
        return values_of(array.cast(pa.string()))
    if array.type in (pa.int64(), pa.float64()) and array.null_count == 0:
        # Several times faster than to_pylist, which first makes an Arrow scalar for each value.
        data = memoryview(array.buffers()[1]).cast("B")
        values = data.cast("q") if array.type == pa.int64() else data.cast("d")
        return values[array.offset : array.offset + len(array)].tolist()
    made: list[Any] = array.to_pylist()
    return made
