"""A stream to ingest and its files, as a script declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from midstream.io.file_formats import file_format
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import StreamDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Type
from midstream.plans.values.units import TimeUnit

FILE_SOURCES: Mapping[str, str | None] = {
    "csv": "csv", "jsonl": "jsonl", "json": "jsonl", "elements": "elements", "parquet": "parquet",
    "file": None,
}  # fmt: skip
"""The formats of sources that are files, by kind; None where the file's name tells the format."""


@dataclass(frozen=True)
class Feed:
    """A stream, and the files that it comes from.

    declaration    its columns, and which rows of the files belong to it
    path           a file, a folder or a pattern
    form           the files' format; None where their names tell it
    chronon        what its times are counted in
    """

    declaration: StreamDeclaration
    path: str
    form: str | None
    chronon: TimeUnit

    @property
    def name(self) -> str:
        """The stream's name."""
        return self.declaration.name

    def timestamps(self) -> Timestamps:
        """The conversion of timestamps to chronons."""
        return Timestamps(self.chronon, self.declaration.unit)

    def described(self) -> dict[str, Any]:
        """The parts of the declaration that must not change when files are added to ingested streams."""
        declared = self.declaration
        return {
            "columns": {c.name: f"{c.type.value}{'?' if c.nullable else ''}" for c in declared.schema},
            "time": declared.ordered_by,
            "unit": None if declared.unit is None else declared.unit.name,
            "where": dict(declared.where),
            "intervals": declared.has_intervals,
        }


def feed_of(script: str, stream: StreamDeclaration, chronon: TimeUnit, data: Path | str | None) -> Feed:
    """The files behind a stream of a script; relative paths are relative to `data`.

    Raises   InputFileError where there are none, and for a stream without timestamps or types.
    """
    path, form = source_file(script, stream)
    place = f"{script}, stream {stream.name}"
    if stream.ordered_by is None and not stream.has_intervals:
        raise InputFileError(f"{place}: found no timestamps, expected ORDERED BY a column", path=script)
    for column in stream.schema:
        if column.type is Type.ANY:
            raise InputFileError(
                f"{place}, column {column.name}: found no type, expected one to store", path=script
            )
    return Feed(stream, located(path, data), form, chronon)


def source_file(script: str, stream: StreamDeclaration) -> tuple[str, str | None]:
    """The path of a stream's source, a file or several, and the format; None where names tell it.

    Raises   InputFileError for another source, and for words of CSV beside another format.
    """
    source, place = stream.source, f"{script}, stream {stream.name}"
    kind = "" if source is None else source.kind.lower()
    match () if source is None else source.arguments:
        case (str() as path,) if kind in FILE_SOURCES:
            form = FILE_SOURCES[kind]
        case _:
            kinds = ", ".join(f"{kind}('path')" for kind in FILE_SOURCES)
            found = "no source" if source is None else f"the source {source}"
            raise InputFileError(f"{place}: found {found}, expected one of {kinds}", path=script)
    told = form or file_format(path)
    if source is not None and source.unknown and told not in ("csv", None):
        raise InputFileError(f"{place}: found nullstr for {told}, expected it for CSV", path=script)
    for name, _ in () if source is None else source.options:
        if name != "nullstr":
            raise InputFileError(
                f"{place}: found the option {name}, expected none: studies read CSV with commas in UTF-8",
                path=script,
            )
    return path, form


def located(path: str, folder: Path | str | None) -> str:
    """A path that is relative to a folder, which may be a URL; None is the working folder."""
    if folder is None or "://" in path:
        return path
    return f"{str(folder).rstrip('/')}/{path}" if "://" in str(folder) else str(Path(folder) / path)
