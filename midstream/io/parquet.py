"""Reading Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from midstream.io.requirements import require_libraries
from midstream.plans.values.errors import InputFileError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SECOND = 10**9
"""A second in nanoseconds."""


class Moments(list[Any]):
    """A column of instants, as the nanoseconds since the beginning of 1970 in UTC, or None."""


@contextmanager
def opened_parquet(path: str | os.PathLike[str]) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for reading in a block.

    Raises   InputFileError for other files, also if reading in the block fails; MissingExtra without pyarrow.
    """
    require_libraries(("pyarrow",), "arrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputFileError(
            f"{os.fspath(path)}: found no readable Parquet file: {reason}", path=path
        ) from error


def read_columns(
    path: str | os.PathLike[str], names: Sequence[str], size: int
) -> Iterator[tuple[int, dict[str, pa.Array | Moments]]]:
    """Read columns of a file in batches, in the file's order, each with its number of rows.

    Timestamps of type INT96 come as Moments, for any year. Arrow reads them either in nanoseconds, as 64 bits
    that wrap beyond the years 1677 to 2262, or in seconds. Both are read: the seconds tell how often the
    nanoseconds have wrapped.

    State    One row group's pages of these columns.
    Raises   InputFileError; MissingExtra without pyarrow.
    """
    wanted = list(dict.fromkeys(names))
    with ExitStack() as stack:
        file = stack.enter_context(opened_parquet(path))
        wrapping = [name for name in wanted if _is_int96(file, name)]
        seconds = {name: stack.enter_context(_seconds(path, name)) for name in wrapping}
        for batch in file.iter_batches(size, columns=wanted):
            columns = {name: batch.column(batch.schema.names.index(name)) for name in wanted}
            for name, coarse in seconds.items():
                columns[name] = _unwrapped(columns[name], list(islice(coarse, len(batch))))
            yield len(batch), columns


def is_text(kind: pa.DataType) -> bool:
    """True for the types of texts."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_int96(file: pq.ParquetFile, name: str) -> bool:
    leaves = (file.schema.column(position) for position in range(len(file.schema)))
    return any(leaf.path == name and leaf.physical_type == "INT96" for leaf in leaves)


@contextmanager
def _seconds(path: str | os.PathLike[str], name: str) -> Iterator[Iterator[int | None]]:
    """A column of type INT96, in seconds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, coerce_int96_timestamp_unit="s") as file:
        batches = (
            batch.column(0).cast(pa.int64()).to_pylist() for batch in file.iter_batches(columns=[name])
        )
        yield chain.from_iterable(batches)


def _unwrapped(wrapped: pa.Array, seconds: Sequence[int | None]) -> Moments:
    import pyarrow as pa

    return Moments(
        None if second is None else second * SECOND + (rest - second * SECOND) % 2**64
        for rest, second in zip(wrapped.cast(pa.int64()).to_pylist(), seconds, strict=True)
    )
