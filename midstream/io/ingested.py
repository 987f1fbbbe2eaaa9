"""The manifest of a folder with ingested streams: the files that were read, and those that hold the result.

Readers of such a folder open only the files that its manifest names; other files come from an interrupted
run. The manifest is replaced in one step, after all files that it names are complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from midstream.io.new_file import write_file
from midstream.io.text_file import read_text
from midstream.plans.values.artefacts import ArtefactError, Header, artefact_text, parsed, read_artefact
from midstream.plans.values.errors import InputFileError, UnknownStreamError
from midstream.plans.values.schema import Schema, parse_column, suggest

MANIFEST = "manifest.json"
HEADER: Header = {"midstream_ingested": 1}

MOST_BYTES = 1 << 28
"""The largest size of a manifest in bytes; it suffices for a million files."""


@dataclass(frozen=True)
class IngestedFile:
    """A Parquet file of a stream: its path in the folder, and the first and the last start in it."""

    stream: str
    path: str
    rows: int
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class IngestedInput:
    """A file that was read for a stream.

    rows    how many it has: those that were taken, those that do not fit, those of other streams
    modified    when it was last written, in nanoseconds since 1970
    """

    stream: str
    path: str
    size: int
    modified: int
    sha256: str
    rows: int
    taken: int
    quarantined: int
    other: int


@dataclass(frozen=True)
class StreamRun:
    """Findings of one run about a stream.

    late    number of rows that start before the last row of earlier runs
    double  number of rows taken that equal another row of the run
    cut     number of timestamps that were rounded down to a chronon
    counts  number of rows by upper bound of their lateness in their file
    greatest    the greatest lateness
    """

    late: int = 0
    double: int = 0
    cut: int = 0
    counts: Mapping[int, int] = field(default_factory=dict)
    greatest: int = 0


@dataclass(frozen=True)
class IngestRun:
    """One run: the folder that it made, its inputs, the files that it wrote, and its findings by stream."""

    folder: str
    inputs: tuple[IngestedInput, ...]
    files: tuple[IngestedFile, ...]
    streams: Mapping[str, StreamRun]
    quarantine: tuple[str, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """Contents of a folder with ingested streams.

    chronon     length of a chronon, in nanoseconds
    epoch       time of chronon 0, in nanoseconds since 1970
    streams     by stream, its columns and how it was read
    """

    chronon: int
    epoch: int
    streams: Mapping[str, Mapping[str, Any]]
    runs: tuple[IngestRun, ...] = ()

    @property
    def inputs(self) -> Iterator[IngestedInput]:
        """The inputs of all runs."""
        return (one for run in self.runs for one in run.inputs)

    def files(self, stream: str, since: int | None = None, until: int | None = None) -> list[IngestedFile]:
        """The files that hold a stream's elements that start in [since, until), by their first start."""
        found = [
            one
            for run in self.runs
            for one in run.files
            if one.stream == stream
            and (since is None or one.last >= since)
            and (until is None or one.first < until)
        ]
        return sorted(found, key=lambda one: (one.first, one.last, one.path))

    def schema(self, stream: str) -> Schema:
        """A stream's columns."""
        columns = self.streams[stream]["columns"]
        return Schema(tuple(parse_column(name, type_) for name, type_ in columns.items()))

    def named(self, stream: str, folder: Path | str) -> str:
        """The exact name of a stream, from its name in any case.

        Raises   UnknownStreamError.
        """
        if stream in self.streams:
            return stream
        for name in self.streams:
            if name.lower() == stream.lower():
                return name
        raise UnknownStreamError(
            f"{folder}: found no stream {stream}, expected one of {', '.join(self.streams)}"
            f"{suggest(stream, self.streams)}",
            stream=stream,
        )


def is_ingested(folder: Path | str) -> bool:
    """True if a folder has a manifest."""
    return (Path(folder) / MANIFEST).is_file()


def read_manifest(folder: Path | str) -> Manifest:
    """Read the manifest of a folder.

    Raises   InputFileError where there is no manifest, or the file is not a manifest.
    """
    file = Path(folder) / MANIFEST
    text = read_text(file, MOST_BYTES)
    try:
        return read_artefact(parsed(text), HEADER, Manifest)
    except ArtefactError as error:
        raise InputFileError(
            f"{file}: this is no manifest of ingested streams: {error}", path=file
        ) from error


def write_manifest(manifest: Manifest, folder: Path | str) -> None:
    """Replace the manifest of a folder."""
    write_file(Path(folder) / MANIFEST, artefact_text(HEADER, manifest, indent=1) + "\n")
