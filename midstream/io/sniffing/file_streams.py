"""Streams of files that queries name: declared by what the files show, and read when a plan runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from midstream.io.file_formats import files_of
from midstream.io.sniffing.findings import FUNCTIONS
from midstream.io.sniffing.sniffing import sniff, stream_name
from midstream.io.sources.sources import open_source
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import OptionValue, StreamDeclaration, literal
from midstream.plans.sql.statements import identifier
from midstream.plans.values.errors import InputFileError, Note, tell
from midstream.plans.values.streams import Chronons, Element
from midstream.plans.values.units import TimeUnit

FILE_KINDS = ("csv", "json", "jsonl", "ndjson", "parquet", "file", "elements")
"""The kinds of sources that can be read again."""


class FileNote(Note):
    """The findings in a file that no statement declares."""


@dataclass(frozen=True, slots=True)
class FileElements:
    """The elements of a stream's file, read anew for each loop, in chronons of a unit."""

    stream: StreamDeclaration
    unit: TimeUnit

    def __iter__(self) -> Iterator[Element]:
        return Chronons(self._read(), self.unit.name)

    def _read(self) -> Iterator[Element]:
        with open_source(self.stream, Timestamps(self.unit, self.stream.unit)) as source:
            for batch in source:
                yield from batch


class FileStreams:
    """The files of a catalog; findings are warnings, which the command line prints as notes."""

    def __init__(self) -> None:
        self._functions: dict[str, tuple[str, str | None]] = {}
        """By file, the beginning of the call that reads it, and the column that orders its rows."""

    def declared(
        self, path: str, function: str | None, options: Sequence[tuple[str, OptionValue]], taken: Set[str]
    ) -> StreamDeclaration:
        """The stream of a file, under a name that is not among the `taken` ones, in lower case.

        Raises   As `sniff`.
        """
        kind = None if function is None else FUNCTIONS[function]
        found = sniff(path, stream_name(path, taken), kind, options)
        source = found.declaration.source
        assert source is not None
        form = next(word for word, one in FUNCTIONS.items() if one == source.kind)
        call = f"{form}({literal(path)}", found.declaration.ordered_by
        self._functions.update(dict.fromkeys(files_of(path), call))
        tell(found.notes, FileNote)
        return found.declaration

    def elements(self, stream: StreamDeclaration, unit: TimeUnit) -> FileElements | None:
        """The elements of a stream's file; None for a source that is no file."""
        if stream.source is None or stream.source.kind.lower() not in FILE_KINDS:
            return None
        return FileElements(stream, unit)

    def advice(self, error: InputFileError) -> str:
        """The way to read rows of another type in a file that nobody declared; empty for other errors."""
        column = getattr(error, "column", None)
        function, time = self._functions.get(str(getattr(error, "path", "")), ("", None))
        if column is None or not function:
            return ""
        if column == time:
            return "--dead-letters FILE sets such rows aside"
        if getattr(error, "found", None) == "no such column" and function.startswith("read_json"):
            return (
                f"FROM {function}, sparse = true) reads it as NULL, --dead-letters FILE sets such rows aside"
            )
        return (
            f"types are those of the file's beginning; FROM {function}, types = '{identifier(column)} TEXT') "
            "says another one, --dead-letters FILE sets such rows aside"
        )
