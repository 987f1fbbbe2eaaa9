"""Read ingested streams: the canonical Parquet files that a manifest names."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from midstream.io.errors import ConnectorError
from midstream.io.ingested import IngestedFile, Manifest, read_manifest
from midstream.io.parquet import Moments, opened_parquet
from midstream.io.requirements import require_libraries
from midstream.io.sources.bad_rows import BadRows, Misfit
from midstream.io.sources.columns import find_column
from midstream.io.sources.conversion import BATCH, Candidate, Conversion, Origin, convert_each, lists_of
from midstream.io.sources.converter import ODD
from midstream.plans.sql.declarations import Constant
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import nanoseconds
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Batch

Rows = Sequence[tuple[int, tuple[Any, ...]]]


def ingested_batches(
    folder: Path,
    conversion: Conversion,
    bad_rows: BadRows,
    where: Mapping[str, Constant],
    since: str | None,
    until: str | None,
) -> Iterator[Batch]:
    """Read the batches of a stream from a folder, in order of start, from the files of its time range.

    where           by column, the values by which rows were taken for the stream
    since, until    dates, or dates with times: elements start in [since, until)

    If the times of files do not overlap, only the declared columns are read. Files of several runs may
    overlap: then all columns are read, and rows of equal starts are ordered by all values, as if one run had
    read them.

    State    One part of a row group; of files that overlap, one part each.
    Raises   InputFileError, ConnectorError; MissingExtra without pyarrow.
    """
    require_libraries(("pyarrow",), "arrow")
    stream = conversion.stream
    manifest = read_manifest(folder)
    name = manifest.named(stream.name, folder)
    if stream.ordered_by is None:
        raise ConnectorError(
            f"stream {stream.name}: found no timestamps, expected ORDERED BY a column, which gets those of "
            f"{folder}"
        )
    if manifest.streams[name].get("intervals"):
        raise ConnectorError(f"{folder}, stream {name}: found intervals, expected timestamps")
    if where and where != (taken := manifest.streams[name].get("where", {})):
        raise ConnectorError(f"{folder}, stream {name}: found rows where {taken}, expected {dict(where)}")
    first, end = (_chronon(manifest, text, stream.name) for text in (since, until))
    columns = _columns(manifest.schema(name), conversion, folder)
    for group in overlapping(manifest.files(name, first, end)):
        read = partial(_file_rows, folder, first=first, end=end)
        if len(group) == 1:
            parts: Iterator[Rows] = read(group[0], columns)
        else:
            parts = _merged([read(file, manifest.schema(name).names) for file in group])
            parts = (_kept(part, [manifest.schema(name).names.index(c) for c in columns]) for part in parts)
        for part in parts:
            batch = _elements(part, manifest, conversion, bad_rows, folder)
            if batch:
                yield batch


def overlapping(files: Sequence[IngestedFile]) -> Iterator[list[IngestedFile]]:
    """Group files whose times overlap, directly or through others; they come in order of their first start.

    >>> one, two, three = (IngestedFile("s", "", 1, 1, *times) for times in ((0, 4), (4, 5), (6, 9)))
    >>> [len(group) for group in overlapping([one, two, three])]
    [2, 1]
    """
    group: list[IngestedFile] = []
    for file in files:
        if group and file.first > max(one.last for one in group):
            yield group
            group = []
        group.append(file)
    if group:
        yield group


def _chronon(manifest: Manifest, text: str | None, stream: str) -> int | None:
    """The first chronon at or after an instant."""
    if text is None:
        return None
    try:
        return -((manifest.epoch - nanoseconds(text)) // manifest.chronon)
    except ValueError:
        raise ConnectorError(
            f"stream {stream}: found {text!r}, expected a date or a date with a time in ISO 8601"
        ) from None


def _columns(schema: Schema, conversion: Conversion, folder: Path) -> list[str]:
    """The folder's columns that a stream declares.

    Raises   InputFileError.
    """
    try:
        return [schema.names[find_column(name, schema.names)] for name in conversion.stream.schema.names]
    except Misfit as misfit:
        raise InputFileError(f"{folder}, {misfit}", path=folder, column=misfit.column) from None


def _file_rows(
    folder: Path, file: IngestedFile, columns: Sequence[str], first: int | None, end: int | None
) -> Iterator[Rows]:
    """The starts and values of a file, cut to a time range; row groups outside it are not read."""
    path = folder / file.path
    with opened_parquet(path) as opened:
        if opened.metadata.num_rows != file.rows:
            raise InputFileError(
                f"{path}: found {opened.metadata.num_rows:,} rows, expected {file.rows:,}, as the "
                "manifest says",
                path=path,
            )
        wanted = [n for n in range(opened.num_row_groups) if _overlaps(opened.metadata, n, first, end)]
        names = ["start", *(f"payload.{name}" for name in columns)]
        for batch in opened.iter_batches(BATCH, row_groups=wanted, columns=names):
            starts = batch.column("start").to_pylist()
            if columns:
                payload = batch.column("payload")
                values = zip(*(payload.field(name).to_pylist() for name in columns), strict=True)
                rows = list(zip(starts, values, strict=True))
            else:
                rows = [(start, ()) for start in starts]
            if (first is not None and starts[0] < first) or (end is not None and starts[-1] >= end):
                rows = [
                    row
                    for row in rows
                    if (first is None or row[0] >= first) and (end is None or row[0] < end)
                ]
            if rows:
                yield rows


def _overlaps(metadata: Any, group: int, first: int | None, end: int | None) -> bool:
    """True if a row group may hold starts in a range."""
    parts = metadata.row_group(group)
    for number in range(parts.num_columns):
        column = parts.column(number)
        if (
            column.path_in_schema == "start"
            and column.statistics is not None
            and column.statistics.has_min_max
        ):
            least, greatest = column.statistics.min, column.statistics.max
            return (first is None or greatest >= first) and (end is None or least < end)
    return True


def _merged(files: Sequence[Iterator[Rows]]) -> Iterator[Rows]:
    return lists_of(heapq.merge(*((row for part in file for row in part) for file in files), key=_order))


def _order(row: tuple[int, tuple[Any, ...]]) -> tuple[Any, ...]:
    """The sort key of a row: its start, then its values; missing values come first."""
    start, values = row
    return start, [(value is not None, value) for value in values]


def _kept(rows: Rows, positions: Sequence[int]) -> Rows:
    return [(start, tuple([values[i] for i in positions])) for start, values in rows]


def _elements(
    rows: Rows, manifest: Manifest, conversion: Conversion, bad_rows: BadRows, folder: Path
) -> Batch:
    instants = Moments(start * manifest.chronon + manifest.epoch for start, _ in rows)
    columns = list(zip(*map(itemgetter(1), rows), strict=True))
    try:
        return conversion.stamped(instants, columns)
    except ODD:
        candidates = (Candidate(n, partial(str, row), row) for n, row in enumerate(rows, 1))
        convert = _converting(manifest, conversion)
        return convert_each(candidates, convert, Origin(str(folder), "row"), bad_rows)


def _converting(manifest: Manifest, conversion: Conversion) -> Callable[[Any], tuple[int, int, Any]]:
    def convert(row: tuple[int, tuple[Any, ...]]) -> tuple[int, int, Any]:
        start = conversion.timestamps.instant(row[0] * manifest.chronon + manifest.epoch)
        return start, start + 1, conversion.payload(row[1])

    return convert
