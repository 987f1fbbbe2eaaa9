"""Relations in Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from midstream.io.parquet import opened_parquet
from midstream.io.progress import Progress
from midstream.io.relations.content import CHUNK, Chunk, Declaration, Origin, Period, collect, rows_of
from midstream.io.relations.instants import Nanoseconds, as_clock
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
    """The content of a relation from a Parquet file; the arguments are those of `load_csv`.

    Null is None, and FOREVER as an end. Instants are exact to the nanosecond.

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
    origin = Origin(os.fspath(path), "row", InputFileError)
    with opened_parquet(path) as file:
        return collect(_chunks(file, declared, origin), declared, origin, progress, file.metadata.num_rows)


def _chunks(file: pq.ParquetFile, declared: Declaration, origin: Origin) -> Iterator[Chunk]:
    """The rows in the order of the file. State: one row group's pages of the columns that are read."""
    names: list[str] = file.schema_arrow.names
    wanted = [*declared.sources, *(declared.period or ())]
    positions = {name: origin.position(names, name) for name in wanted}
    for name, column in zip(declared.sources, declared.schema, strict=True):
        _require_type(file.schema_arrow.field(positions[name]).type, name, column, origin)
    read = 0
    for batch in file.iter_batches(CHUNK, columns=list(positions)):
        at = {name: batch.column(batch.schema.names.index(name)) for name in positions}
        payload = [at[name].to_pylist() for name in declared.sources]
        times = [_instants(at[name]) for name in declared.period or ()]
        numbers = range(read + 1, read + 1 + len(batch))
        read += len(batch)
        yield Chunk(numbers, rows_of(payload, len(batch)), *times)


def _require_type(found: pa.DataType, name: str, column: Column, origin: Origin) -> None:
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


def _instants(array: pa.Array) -> Sequence[Any]:
    """Timestamps as nanoseconds, because datetime ends at microseconds; all else as it is."""
    import pyarrow as pa

    if not pa.types.is_timestamp(array.type):
        values: list[Any] = array.to_pylist()
        return values
    length = NANOSECONDS[array.type.unit]
    return [None if v is None else Nanoseconds(v * length) for v in array.cast(pa.int64()).to_pylist()]
