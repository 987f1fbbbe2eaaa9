"""Tables that a program gives, Arrow's and DataFrames, as pieces of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from midstream.io.requirements import require_libraries
from midstream.io.sources.bad_rows import Misfit
from midstream.io.sources.columns import find_column
from midstream.io.sources.conversion import BATCH, Conversion
from midstream.io.sources.parquet_reader import require_type, values_of
from midstream.plans.values.arguments import read_once, speaks_arrow
from midstream.plans.values.errors import MidstreamError, SchemaError
from midstream.plans.values.schema import Type

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Piece = list[list[Any]]
"""Some rows, as a list of values for each column."""


def is_kept(data: object) -> bool:
    """True for a table that is in memory, and can be looked at several times.

    A reader of batches gives them once, and a relation of DuckDB asks its query again.
    """
    library = type(data).__module__.partition(".")[0]
    return (
        library in ("pandas", "polars", "pyarrow") and speaks_arrow(data) and not isinstance(data, Iterator)
    )


def pieces(who: str, data: Any, conversion: Conversion) -> Iterator[Piece]:
    """The columns that a conversion reads of a table, at most BATCH rows at once; others are not looked at.

    Columns of pandas that Arrow does not take, as of several types, are read value by value.

    Raises   SchemaError, with the column, where one is missing or of another type, and where the library
             that made the table cannot give its rows; MissingExtra without pyarrow.
    """
    require_libraries(("pyarrow",), "arrow", "Arrow and DataFrames need")
    read = _of_pandas if type(data).__module__.startswith("pandas.") else _of_arrow
    try:
        yield from read(who, data, conversion)
    except Misfit as misfit:
        raise SchemaError(f"{who}, {misfit}", column=misfit.column) from None


def _of_arrow(who: str, data: Any, conversion: Conversion) -> Iterator[Piece]:
    import pyarrow as pa

    with _explained(who, data):
        if hasattr(data, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(data)
        else:
            batch = pa.record_batch(data)
            reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    names, types = reader.schema.names, reader.schema.types
    places = [find_column(name, names) for name in conversion.names]
    _require_types(conversion, [types[place] for place in places])
    for batch in _batches(who, data, reader):
        yield from _sliced(conversion, [batch.column(place) for place in places])


def _batches(who: str, data: Any, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    batches: Iterable[pa.RecordBatch] = reader
    if isinstance(data, Iterator):  # a reader, which may have been read
        batches = read_once(who, data, "a table, as reader.read_all() gives before")
    remaining = iter(batches)
    while True:
        with _explained(who, data):
            batch = next(remaining, None)
        if batch is None:
            return
        yield batch


def _of_pandas(who: str, data: pd.DataFrame, conversion: Conversion) -> Iterator[Piece]:
    import pyarrow as pa

    names = list(map(str, data.columns))
    indexes = {str(name): level for level, name in enumerate(data.index.names) if name is not None}
    names += [name for name in indexes if name not in names]
    places = [find_column(name, names) for name in conversion.names]
    found: list[pa.Array | list[Any]] = []
    for place in places:
        is_index = place >= len(data.columns)
        column = data.index.get_level_values(indexes[names[place]]) if is_index else data.iloc[:, place]
        try:
            array = pa.array(column, from_pandas=True)
            found.append(array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array)
        except Exception:  # whatever Arrow, pandas or an extension raises: the values have the last word
            found.append([None if _is_nan(value) else value for value in column])
    _require_types(conversion, [getattr(column, "type", None) for column in found])
    yield from _sliced(conversion, found)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _require_types(conversion: Conversion, types: Sequence[pa.DataType | None]) -> None:
    import pyarrow as pa

    for column, type_ in zip(conversion.stream.columns, types, strict=True):
        if type_ is None:
            continue
        # pandas has floats where a column of integers has missing values.
        is_whole = column.type is Type.INTEGER and pa.types.is_floating(type_)
        is_time = column.is_timestamp or column.name == conversion.stream.ordered_by
        try:
            require_type(pa.int64() if is_whole else type_, column, is_time=is_time)
        except Misfit as misfit:
            expected = f"{misfit.expected}; convert the column, or declare it otherwise"
            raise Misfit(misfit.column, misfit.value, expected) from None


def _sliced(conversion: Conversion, columns: Sequence[pa.Array | list[Any]]) -> Iterator[Piece]:
    count = len(columns[0])
    types = [column.type for column in conversion.stream.columns]
    for at in range(0, count, BATCH):
        yield [
            _values(column[at : at + BATCH], is_integer=type_ is Type.INTEGER)
            for column, type_ in zip(columns, types, strict=True)
        ]


def _values(column: pa.Array | list[Any], *, is_integer: bool) -> list[Any]:
    if isinstance(column, list):
        return column
    import pyarrow as pa

    if is_integer and pa.types.is_floating(column.type):
        return [int(one) if one is not None and one.is_integer() else one for one in column.to_pylist()]
    return values_of(column)


@contextmanager
def _explained(who: str, data: Any) -> Iterator[None]:
    """Errors of the library that made a table, as ours."""
    try:
        yield
    except MidstreamError:
        raise
    except Exception as error:
        kind = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        reason = str(error).partition("\n")[0]
        raise SchemaError(
            f"{who}: found a {kind} that gives no rows ({type(error).__name__}: {reason}), expected a table; "
            "mend it where the reason says, or give its rows as dicts, which are checked one by one"
        ) from error
