"""Parquet files that are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from midstream.io.requirements import require_libraries
from midstream.plans.values.errors import InputFileError

if TYPE_CHECKING:
    import pyarrow.parquet as pq


@contextmanager
def opened_parquet(path: str | os.PathLike[str]) -> Iterator[pq.ParquetFile]:
    """A Parquet file, to be read in a block.

    Raises   InputFileError for what is none, also where the block finds that out; MissingExtra without
             pyarrow.
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
