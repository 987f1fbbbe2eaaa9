"""Read a piece of a file: elements with their places, and rows that do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from midstream.io.file_formats import packing
from midstream.io.sources.arrivals import CHUNK, file_arrivals
from midstream.io.sources.bad_rows import BadRows, Misfit, readable
from midstream.io.sources.conversion import Conversion
from midstream.io.sources.csv_reader import CsvReader
from midstream.io.sources.json_reader import ElementReader, JsonReader
from midstream.io.sources.parquet_reader import parquet_batches
from midstream.io.sources.selecting import conversion_of
from midstream.io.sources.text_reader import TextReader
from midstream.plans.values.streams import Batch, Element
from midstream.scenarios.stages.ingest.survey import FilePiece
from midstream.scenarios.streams.recorded.feeds import Feed
from midstream.scenarios.streams.recorded.input_files import blocks

LONGEST_TEXT = 10_000
"""The characters of a bad row that are kept, at most."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that does not fit: its line, or in Parquet its row; the reason; and its text."""

    position: int
    reason: str
    text: str


class KeptRows(BadRows):
    """Bad rows in memory, until a caller takes them."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[BadRow] = []

    def report(self, source: str, unit: str, number: int, misfit: Misfit, row: str) -> None:
        self._kept.append(BadRow(number, str(misfit), readable(row[:LONGEST_TEXT])))

    def take(self) -> list[BadRow]:
        """The bad rows since the last call."""
        kept, self._kept = self._kept, []
        return kept


class PieceReader:
    """The rows of a piece, in the file's order.

    Raises   InputFileError for a piece that cannot be read at all.
    """

    def __init__(self, feed: Feed, piece: FilePiece) -> None:
        self.bad = KeptRows()
        self._piece = piece
        self._conversion: Conversion = conversion_of(feed.declaration, feed.timestamps(), piece.form)

    @property
    def cut(self) -> int:
        """The number of timestamps so far that were cut to chronons."""
        return self._conversion.timestamps.cut

    def batches(self) -> Iterator[tuple[list[int], list[Element | None]]]:
        """Positions, and the elements there; None for rows of other streams."""
        for batch in self._batches():
            yield list(batch.numbers), list(batch)  # type: ignore[attr-defined]

    def _batches(self) -> Iterator[Batch]:
        piece = self._piece
        if piece.form == "parquet":
            return parquet_batches(Path(piece.path), self._conversion, self.bad)
        reader = self._reader()
        if not piece.number:
            return reader.batches(self._arrivals(0, piece.until))
        if piece.form == "csv":
            for _ in reader.batches(blocks(piece.path, CHUNK, 0, piece.header)):
                raise AssertionError("a header has no rows")
        if isinstance(reader, ElementReader):
            reader.begin(b"".join(blocks(piece.path, CHUNK, 0, piece.header)))
        reader.number = piece.line
        return reader.batches(self._arrivals(piece.since, piece.until))

    def _reader(self) -> TextReader:
        kinds: Mapping[str, type[TextReader]] = {
            "csv": CsvReader,
            "jsonl": JsonReader,
            "elements": ElementReader,
        }
        return kinds[self._piece.form](self._piece.path, self._conversion, self.bad)

    def _arrivals(self, since: int, until: int) -> Iterator[bytes]:
        path = self._piece.path
        return blocks(path, CHUNK, since, until) if packing(path) is None else file_arrivals(Path(path))
