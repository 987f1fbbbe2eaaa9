"""What all sources are."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass

from midstream.io.timestamps import Timestamps
from midstream.plans.values.streams import Batch


@dataclass(slots=True)
class FileProgress:
    """How many bytes a file has, and how many of them have been read."""

    size: int
    read: int = 0


@dataclass(slots=True)
class Source:
    """Batches of a stream, as they arrive, read when they are asked for.

    name          what errors call it: a file, "stdin", a host and its port, a stream
    is_live       whether it may wait for rows that are yet to come
    timestamps    how its timestamps are read, and what was seen of them
    unit          what the numbers of its rows count: lines or rows
    file_progress how much of a file has been read, where that is known

    The order of timestamps is not checked here.

    State    One batch, and what one call of the operating system gave.
    Raises   InputFileError for what cannot be read, and for the first bad row where no dead letters are kept.
    """

    name: str
    batches: Iterator[Batch]
    is_live: bool = False
    timestamps: Timestamps | None = None
    unit: str = "line"
    file_progress: FileProgress | None = None

    def __iter__(self) -> Iterator[Batch]:
        return self.batches

    def close(self) -> None:
        """Give up the rows that have not been read; close the file or connection.

        A source that another thread waits for at this moment stays open until what it waits for has come.
        """
        if isinstance(self.batches, Generator):
            with suppress(ValueError):  # it is running
                self.batches.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
