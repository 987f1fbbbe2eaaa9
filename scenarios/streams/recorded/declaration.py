"""Studies: recorded streams with one time domain, and the query over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from midstream.io.file_formats import file_format
from midstream.io.time_units import Clock
from midstream.plans.algebra.plan import Plan
from midstream.plans.sql.declarations import Constant
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Schema

SPARK_FORMATS: Mapping[str, str] = {"csv": "csv", "jsonl": "json", "parquet": "parquet"}
"""Spark's names of formats."""

FOLDER = "folder"
"""The format of a path without a suffix: a folder, whose files have suffixes."""


@dataclass(frozen=True)
class RecordedStream:
    """A raw stream in a file.

    path       the file, or a folder of files; a URL where Spark is to fetch it
    format     csv, json (one object a line) or parquet; `folder` of a path without a suffix
    time       the column with the timestamps, in chronons
    where      by column of the file, the value that a row must have there to belong to the stream
    columns    the payload, by the file's names
    window     how long an element is valid at most, in chronons
    unknown    texts that stand for a missing value in CSV, besides nothing
    """

    name: str
    path: str
    format: str
    time: str
    where: Mapping[str, Constant]
    columns: Schema
    window: int
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """Recorded streams with one time domain, and the query over them, if one is declared.

    query           as `studied` gives it
    since, until    only what starts in [since, until) is studied; None for all from the beginning, or to the
                    end
    """

    name: str
    title: str
    clock: Clock
    streams: Mapping[str, RecordedStream]
    query: Plan | None
    since: int | None = None
    until: int | None = None

    def within(self, since: str | None, until: str | None) -> Study:
        """Restrict the study to a time range, whose ends are texts; None leaves an end as it is.

        Raises   InputFileError for texts that are no instants, and for a range without a length.
        """
        first, end = (
            known if text is None else self._chronon(name, text)
            for name, text, known in (("from", since, self.since), ("until", until, self.until))
        )
        if first is not None and end is not None and end <= first:
            found = f"{self.clock.show(first)} to {self.clock.show(end)}"
            raise InputFileError(f"study {self.name}: found {found}, expected an end behind the beginning")
        return replace(self, since=first, until=end)

    def windowed(self, length: int) -> Study:
        """The study with elements that are valid for so many chronons, whatever the query."""
        streams = {name: replace(stream, window=length) for name, stream in self.streams.items()}
        return replace(self, streams=streams)

    def _chronon(self, name: str, text: str) -> int:
        try:
            return self.clock.chronon(text)
        except ValueError as error:
            raise InputFileError(f"study {self.name}: {name}: {error}") from error


def format_of(path: str) -> str | None:
    """The format of a path, by its name; None where its suffix stands for no format."""
    return SPARK_FORMATS.get(file_format(path) or "") if PurePosixPath(path).suffix else FOLDER
