"""Streams of files that queries name: declared by what the files show, and read when a plan runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from midstream.io.file_formats import files_of
from midstream.io.sniffing.findings import FUNCTIONS, Options, call_words
from midstream.io.sniffing.further_columns import further_columns
from midstream.io.sniffing.given_options import declared_types
from midstream.io.sniffing.sniffing import sniff, stream_name
from midstream.io.sniffing.tables import Kind
from midstream.io.sources.sources import open_source
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import ColumnDeclaration, OptionValue, StreamDeclaration, literal
from midstream.plans.sql.statements import column_words
from midstream.plans.values.errors import InputFileError, Note, tell
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Element
from midstream.plans.values.units import TimeUnit

SET_ASIDE = "--dead-letters FILE of midstream sql sets such rows aside"
"""The way to run a query without the rows that do not fit."""

SPARSE = ("sparse", True)
"""The option of files whose rows may lack columns."""

WITHOUT_TEXT = ("date", "timestamp", "binary", "large_binary", "fixed_size_binary", "string", "large_string")
"""The types of Parquet that a column declared as TEXT does not take, and those for which it is no remedy."""

FILE_KINDS = ("csv", "json", "jsonl", "ndjson", "parquet", "file", "elements")
"""The kinds of sources that can be read again."""


class FileNote(Note):
    """The findings in a file that no statement declares."""


@dataclass(frozen=True, slots=True)
class FileElements:
    """The elements of a stream's file, read anew for each loop, in chronons of a unit.

    files    knows what to advise where a row does not fit
    """

    stream: StreamDeclaration
    unit: TimeUnit
    files: FileStreams

    def __iter__(self) -> Iterator[Element]:
        try:
            with open_source(self.stream, Timestamps(self.unit, self.stream.unit)) as source:
                for batch in source:
                    yield from batch
        except InputFileError as error:
            if not (advice := self.files.advice(error)):
                raise
            raise InputFileError(f"{error}; {advice}", **vars(error)) from error


@dataclass(frozen=True, slots=True)
class _SniffedFile:
    """A file, or a pattern of files, as FROM names it: its format, its options and what was declared."""

    path: str
    kind: Kind
    options: Options
    stream: StreamDeclaration

    def call(self, *more: tuple[str, OptionValue], columns: Sequence[ColumnDeclaration] = ()) -> str:
        """The call that reads it with further options, and with some columns of other types."""
        given = (declared_types(str(value)) for name, value in self.options if name == "types")
        names = [one.name for one in columns]
        kept = [one for declared in given for one in declared if one.name not in names]
        types = list(map(column_words, (*kept, *columns)))
        options = [one for one in self.options if one[0] not in ("types", *dict(more))]
        if types:
            options.append(("types", ", ".join(types)))
        return f"FROM {call_words(self.kind, self.path, [*options, *more])}"


class FileStreams:
    """The files of a catalog; findings are warnings, which the command line prints as notes."""

    def __init__(self) -> None:
        self._files: dict[str, _SniffedFile] = {}

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
        form = next(one for one in FUNCTIONS.values() if one == source.kind)
        file = _SniffedFile(path, form, found.options, found.declaration)
        self._files.update(dict.fromkeys(files_of(path), file))
        tell(found.notes, FileNote)
        return found.declaration

    def elements(self, stream: StreamDeclaration, unit: TimeUnit) -> FileElements | None:
        """The elements of a stream's file; None for a source that is no file."""
        if stream.source is None or stream.source.kind.lower() not in FILE_KINDS:
            return None
        return FileElements(stream, unit, self)

    def advice(self, error: InputFileError) -> str:
        """The way to read rows of another type in a file that nobody declared; empty for other errors."""
        file = self._files.get(str(getattr(error, "path", "")))
        if file is None:
            return ""
        column, found = getattr(error, "column", None), getattr(error, "found", None)
        further = getattr(error, "further", ())
        if "" in further and file.kind != "jsonl":
            alone = replace(file, path=str(error.path)).call()  # type: ignore[attr-defined]
            return f"{alone} reads the file alone, and leaves the column out; a name in the file keeps it"
        if further and "" not in further:
            reads = f"{file.call(SPARSE, columns=further_columns(file.stream))} reads it"
            return f"{reads}, {SET_ASIDE}" if file.kind == "jsonl" else reads
        if column is None or column in (file.stream.ordered_by, dict(file.options).get("time_of_day")):
            return SET_ASIDE
        if found == "no such column":
            return f"{file.call(SPARSE, columns=further_columns(file.stream))} reads it as NULL"
        if file.kind == "parquet" and str(found).startswith(WITHOUT_TEXT):
            rows = f"SELECT * FROM read_parquet({literal(file.path)}, union_by_name = true)"
            copy = f"COPY ({rows}) TO 'together.parquet'"
            program = shlex.quote(f"import duckdb; duckdb.sql({copy!r})")
            return f"types are those of the first file; python -c {program} writes one file of one type"
        as_text = ColumnDeclaration(column, Type.STRING)
        call = file.call(columns=[as_text])
        return f"types are those of the file's beginning; {call} says another one, {SET_ASIDE}"
