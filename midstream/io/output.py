"""Byte output of a sink: a file, or standard output."""

from __future__ import annotations

import gzip
import os
import sys
from typing import IO, Any

from midstream.io.errors import ConnectorError
from midstream.io.file_formats import packing

STDOUT = "-"


class TextOutput:
    """Writes whole lines in UTF-8 to a file, or to standard output for "-"; .gz in the name compresses.

    If the reader of a pipe has gone, further output is dropped without an error.

    name    the output's name in errors; by default its path

    Raises   ConnectorError where the file cannot be opened or written.
    """

    def __init__(self, path: str, name: str | None = None) -> None:
        self.path = path
        self.name = "stdout" if path == STDOUT else name or path
        self.is_wanted = True
        """False once the reader of a pipe has gone, or a write has failed."""
        try:
            self._file = _opened(path)
        except OSError as error:
            raise self._error(error) from error

    def write(self, lines: str | bytes) -> None:
        """Write whole lines, or binary data."""
        if self.is_wanted:
            # Half of a surrogate pair, which only a user's function can make, is escaped as in JSON.
            encoded = lines.encode(errors="backslashreplace") if isinstance(lines, str) else lines
            self._try(self._file.write, encoded)

    def flush(self) -> None:
        """Hand over what has been written so far."""
        if self.is_wanted:
            self._try(self._file.flush)

    def close(self) -> None:
        """Write buffered bytes and close the file; standard output stays open."""
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
        sys.stdout.flush()  # earlier prints come first
        return sys.stdout.buffer
    if packing(path) == ".gz":
        return gzip.open(path, "wb")  # type: ignore[return-value]  # a GzipFile is one, but does not say so
    return open(path, "wb")


def forget(file: IO[Any]) -> None:
    """Drop all buffered and later output of a file, so that the interpreter does not complain at its end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, file.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass  # a file that is closed, or not the system's, writes nothing at the end
