"""The contract of all sources."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from midstream.io.sources.clock import Now
from midstream.io.sources.rows import FILE
from midstream.io.timestamps import Timestamps
from midstream.plans.values.streams import Batch


@dataclass(slots=True)
class FileProgress:
    """The size of a file in bytes, and the number of bytes read so far."""

    size: int
    read: int = 0


@dataclass(slots=True)
class Source:
    """Batches of a stream, read on demand as they arrive.

    name          the source's name in errors: a file, "stdin", a host and its port, a stream
    is_live       True if it may wait for rows that are yet to come
    timestamps    the conversion of its timestamps, with its counts so far
    unit          the unit of its row numbers: lines or rows
    file_progress the number of bytes read from a file, if known
    files         the files of a source of several, in the order of reading
    now           the clock that stamps its rows on arrival; None if the rows have times

    The order of timestamps is not checked here.

    State    One batch, and the bytes of one call of the operating system.
    Raises   InputFileError for unreadable input, and for the first bad row if there is no dead-letter file.
    """

    name: str
    batches: Iterator[Batch]
    is_live: bool = False
    timestamps: Timestamps | None = None
    unit: str = "line"
    file_progress: FileProgress | None = None
    files: Sequence[str] = ()
    now: Now | None = None

    def place(self, number: int) -> tuple[str, int]:
        """The name of the file, or of the source, and the line or row there, of a row by its number."""
        position, number = divmod(number, FILE)
        return (self.files[position] if self.files else self.name), number

    def __iter__(self) -> Iterator[Batch]:
        return self.batches

    def close(self) -> None:
        """Drop the rows that have not been read; close the file or connection.

        If another thread waits for a batch of the source, it stays open until that batch has come.
        """
        if isinstance(self.batches, Generator):
            with suppress(ValueError):  # it is running
                self.batches.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
