"""Open the source that a statement or a command line names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from midstream.io.errors import ConnectorError
from midstream.io.file_formats import KNOWN, file_format, files_of
from midstream.io.ingested import is_ingested
from midstream.io.sources.arrivals import Arriving, file_arrivals, socket_arrivals, stdin_arrivals
from midstream.io.sources.bad_rows import BadRows
from midstream.io.sources.clock import Now
from midstream.io.sources.conversion import Conversion, require_declaration
from midstream.io.sources.csv_reader import CsvReader
from midstream.io.sources.ingested import ingested_batches
from midstream.io.sources.json_reader import ElementReader, JsonReader
from midstream.io.sources.parquet_reader import parquet_batches
from midstream.io.sources.rows import of_file
from midstream.io.sources.selecting import SELECTABLE, conversion_of, own_rows
from midstream.io.sources.sorting import in_order
from midstream.io.sources.source import FileProgress, Source
from midstream.io.sources.text_reader import TextReader, in_utf8
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import FIELDS, SourceClause, StreamDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import Batch
from midstream.plans.values.units import TimeUnit

TEXT_FORMATS = ("csv", "jsonl", "elements")

KINDS = {
    "csv": "csv('path')",
    "jsonl": "jsonl('path')",
    "elements": "elements('path'), with a query's name where the file has results of several",
    "parquet": "parquet('path')",
    "file": "file('path')",
    "ingested": "ingested('folder'), with a date, or two, from which and until which to read",
    "stdin": "stdin() or stdin('csv')",
    "socket": "socket('host', port)",
}
"""The kinds of sources, with their syntax; ALIASES lists further words."""

OPTIONS = {
    "csv": tuple(FIELDS),
    "jsonl": ("encoding", "sparse", "format", "time_of_day", "sort"),
    "elements": ("encoding", "sort"),
    "parquet": ("sparse", "format", "time_of_day", "sort"),
    "ingested": (),
}
"""The options that each format takes."""

ALIASES = {"tcp": "socket", "json": "jsonl", "ndjson": "jsonl"}


def required_format(path: str | os.PathLike[str]) -> str:
    """The format of a file by its name.

    Raises   ConnectorError where the name tells none.
    """
    found = file_format(path)
    if found is None:
        raise ConnectorError(
            f"{os.fspath(path)}: found no suffix of a known format, expected {KNOWN}", path=path
        )
    return found


def open_source(
    stream: StreamDeclaration,
    unit: TimeUnit | Timestamps | str,
    source: SourceClause | str | os.PathLike[str] | None = None,
    *,
    bad_rows: BadRows | None = None,
    clock: Now | None = None,
    has_header: bool = True,
) -> Source:
    """Open the source of a stream: a clause, a path, "-" for standard input, or by default its declaration's.

    Of rows that the declaration's WHERE leaves out, nothing else is read.

    unit          the chronon, also the unit of integers, such as "seconds"; Timestamps if these differ
    bad_rows      handles rows that do not fit; without it the first one ends the run
    clock         stamps the rows of a stream without timestamps; system time by default
    has_header    True if CSV begins with the names of the columns; else they are in the declaration's order

    Files and connections open when the first batch is requested.

    Raises   ConnectorError for an impossible source.

    >>> from midstream.plans.values.schema import Type
    >>> from midstream.plans.sql.declarations import ColumnDeclaration
    >>> from midstream.plans.values.units import MILLISECONDS
    >>> size = Path("bids.csv").write_text("item,price,ts\\n7,12.5,1000\\n8,,1970-01-01T00:00:02\\n")
    >>> ts = ColumnDeclaration("ts", Type.INTEGER, nullable=False, is_timestamp=True)
    >>> bid = StreamDeclaration("bid", (ts, ColumnDeclaration("PRICE", Type.FLOAT)), ordered_by="ts")
    >>> list(open_source(bid, MILLISECONDS, "bids.csv"))
    [[(1000, 1001, (12.5,)), (2000, 2001, (None,))]]
    """
    require_declaration(stream)
    clause = _clause(stream, source)
    kind, arguments = ALIASES.get(clause.kind.lower(), clause.kind.lower()), clause.arguments
    opening = _Opening(
        replace(stream, source=clause), Timestamps.of(unit), bad_rows or BadRows(), clock, has_header
    )
    match kind, arguments:
        case "file", (str() as path,) if is_ingested(path):
            return opening.ingested(path)
        case "ingested", (str() as path, *range_) if len(range_) < 3 and all(
            isinstance(t, str) for t in range_
        ):
            return opening.ingested(path, *range_)
        case "file", (str() as path,):
            return opening.files(path, required_format(path))
        case "elements", (str() as path, *_) if other := _other_format(path):
            raise ConnectorError(
                f"source {clause}: found a file in {other}, expected results in JSON Lines; write them with "
                f"--output to a file in .jsonl, or read their columns alone by {other}('{path}')",
                clause=clause,
            )
        case (("csv" | "jsonl" | "elements" | "parquet"), (str() as path,)):
            return opening.files(path, kind)
        case "elements", (str() as path, str() as query):
            return opening.files(path, kind, query)
        case "stdin", ():
            return opening.text("stdin", "jsonl", stdin_arrivals(), is_live=True)
        case "stdin", (str() as word,):
            return opening.text("stdin", _text_format(clause, word), stdin_arrivals(), is_live=True)
        case "socket", (str() as host, int() as port, *rest) if len(rest) < 2 and 0 < port < 65536:
            form = _text_format(clause, *rest) if rest else "jsonl"
            return opening.text(f"{host}:{port}", form, socket_arrivals(host, port), is_live=True)
    if kind in KINDS:
        raise ConnectorError(f"source {clause}: expected {KINDS[kind]}", clause=clause)
    known = f"expected one of {', '.join(KINDS)}{suggest(kind, [*KINDS, *ALIASES])}"
    raise ConnectorError(f"source {clause}: found no such kind of source, {known}", clause=clause)


@dataclass(frozen=True, slots=True)
class _Opening:
    """The arguments that all sources of one stream share."""

    stream: StreamDeclaration
    unit: Timestamps
    bad_rows: BadRows
    clock: Now | None
    has_header: bool

    def conversion(self, form: str) -> Conversion:
        """The conversion of the rows of a format.

        Raises   ConnectorError for conditions on what is stored by stream, and for options of other formats.
        """
        if self.stream.where and form not in SELECTABLE:
            raise ConnectorError(
                f"stream {self.stream.name}: found conditions on rows, expected none, as {form} files have "
                "rows of one stream"
            )
        for name, _ in self.source.options:
            if name not in OPTIONS[form]:
                fitting = " or ".join(filter(None, [", ".join(OPTIONS[form][:-1]), *OPTIONS[form][-1:]]))
                raise ConnectorError(
                    f"stream {self.stream.name}: found the option {name} for {form}, expected "
                    f"{fitting or 'none'}"
                )
        names = [column.name for column in self.stream.columns]
        clock = self.source.time_of_day
        if clock is not None and self.stream.ordered_by is not None:
            beside = [name for name in names if name != self.stream.ordered_by]
            if clock.lower() not in map(str.lower, beside):
                raise ConnectorError(
                    f"stream {self.stream.name}: time_of_day: found {clock}, expected a column beside "
                    f"{self.stream.ordered_by}: {', '.join(beside) or 'none'}{suggest(clock, beside)}"
                )
        return conversion_of(self.stream, self.unit, form, self.clock)

    @property
    def source(self) -> SourceClause:
        assert self.stream.source is not None
        return self.stream.source

    def files(self, pattern: str, form: str, query: str | None = None) -> Source:
        """All files that a path or pattern names, one after the other, sorted if the source says so."""
        paths = files_of(pattern)
        if not paths:
            raise InputFileError(f"{pattern}: found no such file", path=pattern)
        progress = None
        if form != "parquet" and all(map(os.path.isfile, paths)):
            progress = FileProgress(sum(map(os.path.getsize, paths)))
        opened = [self.file(path, form, query, progress) for path in paths]
        source = opened[0]
        if len(opened) > 1:
            source = replace(source, name=pattern, batches=_one_by_one(opened), files=paths)
        return replace(source, batches=in_order(source.batches)) if self.source.sort else source

    def file(
        self, path: str, form: str, query: str | None = None, progress: FileProgress | None = None
    ) -> Source:
        if form != "parquet":
            arrivals = file_arrivals(Path(path), progress)
            opened = self.text(path, form, arrivals, is_live=_may_wait(path), query=query)
            return replace(opened, file_progress=progress)
        conversion = self.conversion(form)
        batches = parquet_batches(Path(path), conversion, self.bad_rows)
        return Source(path, self._own(batches), timestamps=conversion.timestamps, unit="row")

    def ingested(self, folder: str, since: str | None = None, until: str | None = None) -> Source:
        # Only rows of the stream were ingested.
        one, where = replace(self.stream, where=()), dict(self.stream.where)
        conversion = replace(self, stream=one).conversion("ingested")
        batches = ingested_batches(Path(folder), conversion, self.bad_rows, where, since, until)
        return Source(folder, batches, timestamps=conversion.timestamps, unit="row")

    def text(
        self, name: str, form: str, arrivals: Arriving, *, is_live: bool, query: str | None = None
    ) -> Source:
        conversion, source = self.conversion(form), self.source
        encoding = source.encoding or "UTF-8"
        if source.sort and source.kind.lower() in ("stdin", "socket", "tcp"):
            raise ConnectorError(
                f"stream {self.stream.name}: found sort = true for {name}, expected it for files; --slack "
                "puts rows in order that are a little late"
            )
        if form == "csv":
            reader: TextReader = CsvReader(
                name,
                conversion,
                self.bad_rows,
                has_header=self.has_header if source.header is None else source.header,
                delim=source.delim or ",",
                quote='"' if source.quote is None else source.quote,
                encoding=encoding,
            )
        elif form == "elements":
            reader = ElementReader(name, conversion, self.bad_rows, query=query, encoding=encoding)
        else:
            reader = JsonReader(name, conversion, self.bad_rows, encoding=encoding, is_sparse=source.sparse)
        texts = arrivals if source.encoding is None else in_utf8(arrivals, source.encoding, name)
        batches = _closing(reader.batches(texts), arrivals)
        return Source(name, self._own(batches), is_live, conversion.timestamps, now=conversion.clock)

    def _own(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        return own_rows(batches) if self.stream.where else batches


def _clause(stream: StreamDeclaration, source: SourceClause | str | os.PathLike[str] | None) -> SourceClause:
    if isinstance(source, SourceClause):
        return source
    if source is not None:
        path = os.fspath(source)
        if path == "-":
            return SourceClause("stdin")
        options = () if stream.source is None else stream.source.options
        fitting = OPTIONS.get(file_format(path) or "", ())
        return SourceClause.of("file", (path,), [(name, value) for name, value in options if name in fitting])
    if stream.source is None:
        raise ConnectorError(
            f"stream {stream.name}: found no source, expected SOURCE in its declaration, or a path",
            stream=stream.name,
        )
    return stream.source


def _text_format(clause: SourceClause, word: Any) -> str:
    found = ALIASES.get(str(word).lower(), str(word).lower())
    if found in TEXT_FORMATS:
        return found
    near = suggest(found, TEXT_FORMATS)
    raise ConnectorError(
        f"source {clause}: found the format {word!r}, expected one of {', '.join(TEXT_FORMATS)}{near}",
        clause=clause,
    )


def _other_format(path: str) -> str:
    """The format that a path's name tells, if it is not JSON Lines; else empty."""
    found = file_format(path)
    return "" if found is None or found == "jsonl" else found


def _may_wait(path: str) -> bool:
    """True if a path is a pipe or a device, or anything else that does not have all its bytes yet."""
    return Path(path).exists() and not Path(path).is_file()


def _one_by_one(sources: Sequence[Source]) -> Iterator[Batch]:
    """The batches of several files, with numbers that tell the file."""
    for position, source in enumerate(sources):
        with source:
            for batch in source:
                yield of_file(batch, position)


def _closing(batches: Iterator[Batch], arrivals: Arriving) -> Iterator[Batch]:
    """Batches whose bytes are closed with them."""
    with closing(arrivals):
        yield from batches
