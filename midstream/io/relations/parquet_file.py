"""Relations in Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from midstream.io.instants import Nanoseconds, as_clock
from midstream.io.parquet import Moments, opened_parquet, read_columns
from midstream.io.progress import Progress
from midstream.io.relations.content import CHUNK, Chunk, Declaration, Period, RelationOrigin, collect, rows_of
from midstream.io.time_units import NANOSECONDS, Clock
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.streams import Element

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


def load_parquet(
    path: str | os.PathLike[str],
    schema: Schema,
    *,
    period: Period | None = None,
    columns: Mapping[str, str] | None = None,
    clock: Clock | str | None = None,
    progress: Progress | None = None,
) -> list[Element]:
    """Load the content of a relation from a Parquet file; the arguments are those of `load_csv`.

    Null stands for None, and for FOREVER as an end. Instants are exact to the nanosecond.

    Raises   InputFileError, naming file, row and column, what was found and what was expected;
             IntervalError where validity is empty; MissingExtra without pyarrow.

    >>> import pyarrow, pyarrow.parquet
    >>> table = pyarrow.table({"id": [1, 2], "since": [0, 5], "until": [9, None]})
    >>> pyarrow.parquet.write_table(table, "people.parquet")
    >>> load_parquet("people.parquet", Schema.of(person="integer"), period=("since", "until"),
    ...              columns={"person": "id"})
    [(0, 9, (1,)), (5, inf, (2,))]
    """
    declared = Declaration(schema, columns or {}, period, as_clock(clock))
    origin = RelationOrigin(os.fspath(path), "row", InputFileError)
    with opened_parquet(path) as file:
        positions = _positions(file, declared, origin)
        total = file.metadata.num_rows
    return collect(_chunks(path, positions, declared, origin), declared, origin, progress, total)


def _positions(file: pq.ParquetFile, declared: Declaration, origin: RelationOrigin) -> list[str]:
    """Names of the columns to read.

    Raises   The origin's error where a column is missing or its type does not fit.
    """
    names: list[str] = file.schema_arrow.names
    wanted = [*declared.sources, *(declared.period or ())]
    positions = {name: origin.position(names, name) for name in wanted}
    for name, column in zip(declared.sources, declared.schema, strict=True):
        _require_type(file.schema_arrow.field(positions[name]).type, name, column, origin)
    return list(positions)


def _chunks(
    path: str | os.PathLike[str], names: Sequence[str], declared: Declaration, origin: RelationOrigin
) -> Iterator[Chunk]:
    """The rows in the order of the file.

    State    One row group's pages of the columns that are read.
    """
    read = 0
    for count, columns in read_columns(path, names, CHUNK):
        payload = [_values(columns[name], name, origin) for name in declared.sources]
        times = [_instants(columns[name]) for name in declared.period or ()]
        numbers = range(read + 1, read + 1 + count)
        read += count
        yield Chunk(numbers, rows_of(payload, count), *times)


def _require_type(found: pa.DataType, name: str, column: Column, origin: RelationOrigin) -> None:
    from pyarrow import types

    values = found.value_type if types.is_dictionary(found) else found
    readable = {
        Type.INTEGER: (types.is_integer,),
        Type.FLOAT: (types.is_floating, types.is_integer),
        Type.STRING: (types.is_string, types.is_large_string, types.is_string_view),
        Type.BOOLEAN: (types.is_boolean,),
    }
    tests = readable.get(column.type)
    if tests is not None and not types.is_null(values) and not any(test(values) for test in tests):
        raise origin.misfit(None, name, str(found), column.type.value)


def _values(column: pa.Array | Moments, name: str, origin: RelationOrigin) -> list[Any]:
    import pyarrow as pa

    if isinstance(column, Moments):
        try:
            column = pa.array(column, pa.int64()).cast(pa.timestamp("ns"))
        except OverflowError:
            if any(v is not None and v % 1000 for v in column):
                found = "nanoseconds beside years beyond 1677 to 2262"
                raise origin.misfit(None, name, found, "timestamps of one precision") from None
            micros = (None if v is None else v // 1000 for v in column)
            column = pa.array(micros, pa.int64()).cast(pa.timestamp("us"))
    values: list[Any] = column.to_pylist()
    return values


def _instants(column: pa.Array | Moments) -> Sequence[Any]:
    """Timestamps as nanoseconds, because datetime ends at microseconds; other values unchanged."""
    import pyarrow as pa

    if isinstance(column, Moments):
        return [None if v is None else Nanoseconds(v) for v in column]
    if not pa.types.is_timestamp(column.type):
        values: list[Any] = column.to_pylist()
        return values
    length = NANOSECONDS[column.type.unit]
    return [None if v is None else Nanoseconds(v * length) for v in column.cast(pa.int64()).to_pylist()]
