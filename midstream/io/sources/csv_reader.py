"""Read streams in CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from midstream.io.readers import SEPARATORS, csv_fault, other_separator, separated
from midstream.io.sources.bad_rows import BadRows, Misfit
from midstream.io.sources.columns import find_columns, require_no_further
from midstream.io.sources.conversion import Candidate, Conversion, convert_each
from midstream.io.sources.converter import ODD
from midstream.io.sources.rows import Rows
from midstream.io.sources.text_reader import TextReader, decode, require_text
from midstream.plans.values.streams import Batch

LONG = 1 << 20
"""The size in bytes from which a record is long."""

_UNFINISHED = "unexpected end of data"
"""The message of the csv module for a quoted field that is still open at the end."""


@dataclass(frozen=True, slots=True)
class _Record:
    """The lines of one record, from line `first` of a block on, with their fields or the misfit."""

    first: int
    lines: Sequence[str]
    fields: list[str] | Misfit

    @property
    def text(self) -> str:
        return "".join(self.lines).rstrip("\r\n")


class CsvReader(TextReader):
    """Reads comma-separated values (RFC 4180), with or without a header; also with other separators.

    Columns are matched by name in any case; without names, by position. Other columns are ignored, but
    refused where nobody declared the stream's. Lines end with a line feed, quoted fields may contain line
    feeds, and blank lines are skipped. The number of a row is that of its first line.

    A block of lines is read in one of three ways, with equal results: without quotes, a replacement and a
    split cut the fields; with quotes, the csv module does; if both refuse, records are read one by one.

    Raises   InputFileError where the header does not fit the declaration, even if bad rows are dead letters.
    """

    def __init__(
        self,
        name: str,
        conversion: Conversion,
        bad_rows: BadRows,
        *,
        has_header: bool = True,
        delim: str = ",",
        quote: str = '"',
        encoding: str = "UTF-8",
    ) -> None:
        super().__init__(name, conversion, bad_rows, encoding)
        self._delim, self._quote = delim, quote
        self._csv_reader = partial(
            csv.reader,
            strict=True,
            delimiter=delim,
            quotechar=quote or None,
            quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        )
        self._begun = b""
        self._enough = 0
        """A long record is read again once it has this many bytes."""
        self._positions: list[int | None] | None = None
        """The positions of the columns; None for one that a sparse file lacks, which is then empty."""
        self._width = len(conversion.names)
        if not has_header:
            self._positions = list(range(self._width))

    def read(self, block: bytes) -> Batch:
        block, begun = self._begun + block, self._begun
        # Only a quotation mark ends an incomplete record. A long record is not read again with each block.
        quote = self._quote.encode()
        if begun and (quote not in block[len(begun) :] or len(block) < self._enough):
            self._begun = block
            return []
        batch = self._read(block, is_last=False)
        self._enough = len(self._begun) * 5 // 4 if len(self._begun) > LONG else 0
        return batch

    def finish(self) -> Batch:
        batch = self._read(self._begun, is_last=True) if self._begun else []
        if self._positions is None:
            nothing = Misfit(None, "nothing", "the names of the columns")
            BadRows().report(self.origin.name, "line", self.number, nothing, "")
        return batch

    def _read(self, block: bytes, *, is_last: bool) -> Batch:
        text, is_text = decode(block)
        self._begun = b""
        if self._positions is None:
            text = self._read_header(text, is_last=is_last)
            if self._positions is None:
                return []
        batch = (self._unquoted(text) or self._quoted(text)) if is_text and text else None
        if batch is not None:
            number, lines = self.number, text.count("\n")
            self.number += lines
            if len(batch) == lines + (not text.endswith("\n")):
                return Rows(batch, range(number, number + len(batch)))
            return Rows(batch, self._first_lines(text, number))
        candidates = map(self._candidate, self._records(text, is_last=is_last))
        return convert_each(candidates, self.conversion.element, self.origin, self.bad_rows)

    def _unquoted(self, text: str) -> Batch | None:
        """The elements of lines without quotes, blank lines and unusual values; else None."""
        # Longer texts may have a field that is too long, which the csv module reports.
        if (self._quote and self._quote in text) or len(text) > csv.field_size_limit():
            return None
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if not text.endswith("\n"):
            text += "\n"
        count = text.count("\n")
        if "\r" in text or (self._width == 1 and ("\n\n" in text or text[0] == "\n")):
            return None
        # Each line feed becomes a field of its own. If all are in the positions for rows of the right width,
        # all rows have that width.
        fields = text.replace("\n", f"{self._delim}\n{self._delim}").split(self._delim)
        stride = self._width + 1
        if len(fields) != count * stride + 1 or fields[self._width :: stride] != ["\n"] * count:
            return None
        assert self._positions is not None
        try:
            nothing = [""] * count
            columns = [nothing if p is None else fields[p:-1:stride] for p in self._positions]
            return self.conversion.batch(columns, count)
        except ODD:
            return None

    def _quoted(self, text: str) -> Batch | None:
        """The elements of well-formed records without unusual values; else None."""
        assert self._positions is not None
        try:
            records = list(filter(None, self._csv_reader(io.StringIO(text, newline="\n"))))
            columns = list(zip(*records, strict=True))
            if len(columns) != self._width:
                return None
            nothing = ("",) * len(records)
            picked = [nothing if p is None else columns[p] for p in self._positions]
            return self.conversion.batch(picked, len(records))
        except (csv.Error, *ODD):
            return None

    def _read_header(self, text: str, *, is_last: bool) -> str:
        """Read the header, if it is complete; returns the text after it."""
        number = self.number
        record = next(self._records(text, is_last=is_last), None)
        if record is None:
            return ""
        self.number = number + record.first + len(record.lines)
        try:
            if isinstance(record.fields, Misfit):
                if one := other_separator(self.conversion.names[0], [record.text], self._delim):
                    raise Misfit(None, *separated(one, self._delim))
                raise record.fields
            names = record.fields
            self._positions = find_columns(
                self.conversion.names, names, self.conversion.optional, self._delim
            )
            require_no_further(self.conversion.names, names, self.conversion.stream.left_out)
        except Misfit as misfit:
            BadRows().report(self.origin.name, "line", number + record.first, misfit, record.text)
        self._width = len(names)
        lines = list(io.StringIO(text, newline="\n"))
        return "".join(lines[record.first + len(record.lines) :])

    def _candidate(self, record: _Record) -> Candidate:
        fields = record.fields
        if not isinstance(fields, Misfit):
            if len(fields) == self._width:
                assert self._positions is not None
                fields = ["" if p is None else fields[p] for p in self._positions]
            else:
                fault = f"{len(fields)} fields", f"{self._width}, as there are columns"
                for separator in SEPARATORS:
                    if separator != self._delim and record.text.count(separator) == self._width - 1 > 0:
                        fault = separated(separator, self._delim, "fields")
                fields = Misfit(None, *fault)
        return Candidate(self.number + record.first, partial(getattr, record, "text"), fields)

    def _first_lines(self, text: str, number: int) -> list[int]:
        """The number of the first line of each record; `number` is that of the text's first line."""
        reader = self._csv_reader(io.StringIO(text, newline="\n"))
        found, first = [], 0
        for record in reader:
            if record:
                found.append(number + first)
            first = reader.line_num
        return found

    def _records(self, text: str, *, is_last: bool) -> Iterator[_Record]:
        """The records of a text, one by one; an incomplete last record is kept for the next block.

        A malformed record ends with its first line, because the next lines may be records of their own.
        """
        lines = list(io.StringIO(text, newline="\n"))
        first = 0
        while first < len(lines):
            base = first
            reader = self._csv_reader(lines[base:])
            is_whole = True
            while is_whole and first < len(lines):
                fields: list[str] | Misfit
                try:
                    fields = next(reader)
                    end = base + reader.line_num
                    require_text("".join(lines[first:end]), self.encoding)
                except (csv.Error, Misfit) as error:
                    if str(error) == _UNFINISHED and not is_last:
                        self._begun = "".join(lines[first:]).encode(errors="surrogateescape")
                        self.number += first
                        return
                    end = first + 1
                    is_whole = base + reader.line_num == end
                    fields = error if isinstance(error, Misfit) else _wrong(error)
                if fields:
                    yield _Record(first, lines[first:end], fields)
                first = end
        self.number += first


def _wrong(error: csv.Error) -> Misfit:
    return Misfit(None, *csv_fault(error))
