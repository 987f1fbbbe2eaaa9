"""Where the bytes of a sink go: a file, or standard output."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import IO, Any

from midstream.io.errors import ConnectorError

STDOUT = "-"


class TextOutput:
    """Takes whole lines in UTF-8, for a file, which is packed where its name ends in .gz, or for "-".

    A reader of a pipe that goes away wants no more: that is no error, but the end.

    name    what errors call it; by default its path

    Raises   ConnectorError where the file cannot be opened or written.
    """

    def __init__(self, path: str, name: str | None = None) -> None:
        self.path = path
        self.name = "stdout" if path == STDOUT else name or path
        self.is_wanted = True
        """Whether someone is there to read what is written."""
        try:
            self._file = _opened(path)
        except OSError as error:
            raise self._error(error) from error

    def write(self, lines: str | bytes) -> None:
        """Write whole lines, or bytes that are no text."""
        if self.is_wanted:
            # Half of a surrogate pair, which only a user's function can make, is escaped as JSON has it.
            encoded = lines.encode(errors="backslashreplace") if isinstance(lines, str) else lines
            self._try(self._file.write, encoded)

    def flush(self) -> None:
        """Hand over what has been written so far."""
        if self.is_wanted:
            self._try(self._file.flush)

    def close(self) -> None:
        """Write what is left. Standard output stays open."""
        if self.path == STDOUT:
            self.flush()
        elif self.is_wanted:
            self._try(self._file.close)

    def _try(self, call: Any, *arguments: Any) -> None:
        try:
            call(*arguments)
        except BrokenPipeError:
            self.is_wanted = False
            forget(self._file)
        except OSError as error:
            self.is_wanted = False
            raise self._error(error) from error

    def _error(self, error: OSError) -> ConnectorError:
        return ConnectorError(f"{self.name}: {error.strerror or error}", path=self.name)


def _opened(path: str) -> IO[bytes]:
    if path == STDOUT:
        sys.stdout.flush()  # what has been printed before comes first
        return sys.stdout.buffer
    if Path(path).suffix.lower() == ".gz":
        return gzip.open(path, "wb")  # type: ignore[return-value]  # a GzipFile is one, but does not say so
    return open(path, "wb")


def forget(file: IO[Any]) -> None:
    """Let go what a file still holds, and what will be written to it, or the interpreter would complain of it
    at its end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, file.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass  # it is closed, or no file of the system's, so that nothing is written at the end
