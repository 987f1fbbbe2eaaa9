"""A stream to ingest and its files, as a study or a script declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from midstream.io.text_file import read_text
from midstream.io.time_units import NANOSECONDS
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.catalog import Catalog
from midstream.plans.sql.declarations import ColumnDeclaration, Constant, StreamDeclaration
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.plans.values.instants import of_datetime
from midstream.plans.values.schema import Type
from midstream.plans.values.units import SHORT, TimeUnit
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study

FILE_SOURCES: Mapping[str, str | None] = {
    "csv": "csv", "jsonl": "jsonl", "json": "jsonl", "elements": "elements", "parquet": "parquet",
    "file": None,
}  # fmt: skip
"""The formats of sources that are files, by kind; None where the file's name tells the format."""


@dataclass(frozen=True)
class Feed:
    """A stream, and the files that it comes from.

    declaration    its columns, and the one with its timestamps
    path           a file, a folder or a pattern
    form           the files' format; None where their names tell it
    chronon        what its times are counted in
    epoch          when chronon 0 was, in nanoseconds since 1970
    where          by column of the files, the value that a row must have to belong to the stream
    unknown        texts that stand for a missing value in CSV, besides nothing
    """

    declaration: StreamDeclaration
    path: str
    form: str | None
    chronon: TimeUnit
    epoch: int = 0
    where: Mapping[str, Constant] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The stream's name."""
        return self.declaration.name

    def timestamps(self) -> Timestamps:
        """The conversion of timestamps to chronons."""
        if self.epoch:
            return _Since(self.chronon, self.declaration.unit, self.epoch)
        return Timestamps(self.chronon, self.declaration.unit)

    def described(self) -> dict[str, Any]:
        """The parts of the declaration that must not change when files are added to ingested streams."""
        declared = self.declaration
        return {
            "columns": {c.name: f"{c.type.value}{'?' if c.nullable else ''}" for c in declared.schema},
            "time": declared.ordered_by,
            "unit": None if declared.unit is None else declared.unit.name,
            "where": dict(self.where),
            "intervals": declared.has_intervals,
        }


class _Since(Timestamps):
    """Timestamps where chronon 0 is not the beginning of 1970: only the conversion of dates depends on it."""

    def __init__(self, chronon: TimeUnit, unit: TimeUnit | None, epoch: int) -> None:
        super().__init__(chronon, unit)
        self._epoch = epoch

    def instants(self, found: Any) -> list[int | None]:
        return super().instants([None if one is None else one - self._epoch for one in found])


def feeds_of_study(study: Study) -> list[Feed]:
    """The streams that a TOML file declares."""
    unit = TimeUnit.of(SHORT[study.clock.unit])
    epoch = 0 if study.clock.epoch is None else of_datetime(study.clock.epoch)
    assert unit.nanoseconds == NANOSECONDS[study.clock.unit]
    return [_of_recorded(stream, unit, epoch) for stream in study.streams.values()]


def _of_recorded(stream: RecordedStream, unit: TimeUnit, epoch: int) -> Feed:
    if stream.time in stream.columns.names:
        raise InputFileError(
            f"stream {stream.name}: found {stream.time} as the time and as a column, expected one of both"
        )
    time = ColumnDeclaration(stream.time, Type.INTEGER, nullable=False, is_timestamp=True)
    columns = tuple(ColumnDeclaration(c.name, c.type, c.nullable) for c in stream.columns)
    declaration = StreamDeclaration(stream.name, (time, *columns), ordered_by=stream.time, unit=unit)
    return Feed(declaration, stream.path, None, unit, epoch, stream.where, ("NA",))


def feeds_of_script(script: str, data: str | None) -> list[Feed]:
    """The streams that a script's CREATE STREAM declares with files as sources.

    Relative paths are relative to `data`; by default to the working folder, as they are for `midstream run`.

    Raises   MidstreamError where there is none, or one without a file, without timestamps or types.
    """
    catalog = Catalog(None)
    catalog.execute(read_text(script), script)
    if not catalog.streams:
        raise InputFileError(f"{script}: found no CREATE STREAM, expected one at least", path=script)
    return [_of_declared(script, one, catalog.unit, data) for one in catalog.streams.values()]


def _of_declared(script: str, stream: StreamDeclaration, chronon: TimeUnit, data: str | None) -> Feed:
    source, place = stream.source, f"{script}, stream {stream.name}"
    if source is None or source.kind.lower() not in FILE_SOURCES or len(source.arguments) != 1:
        kinds = ", ".join(f"{kind}('path')" for kind in FILE_SOURCES)
        found = "no source" if source is None else f"the source {source}"
        raise MidstreamError(f"{place}: found {found}, expected one of {kinds}")
    if stream.ordered_by is None and not stream.has_intervals:
        raise MidstreamError(f"{place}: found no timestamps, expected ORDERED BY a column")
    for column in stream.schema:
        if column.type is Type.ANY:
            raise MidstreamError(f"{place}, column {column.name}: found no type, expected one to store")
    path = str(source.arguments[0])
    return Feed(
        stream,
        path if data is None else str(Path(data) / path),
        FILE_SOURCES[source.kind.lower()],
        chronon,
        where=dict(stream.where),
    )
