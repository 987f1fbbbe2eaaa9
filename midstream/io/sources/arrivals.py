"""Bytes as they arrive from files, standard input and sockets, cut after complete lines."""

from __future__ import annotations

import gzip
import io
import os
import select
import socket
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, cast

from midstream.io.file_formats import packing
from midstream.io.readers import LONGEST_LINE
from midstream.io.requirements import require_libraries
from midstream.io.sources.source import FileProgress
from midstream.plans.values.errors import InputFileError

CHUNK = 1 << 15
"""The largest number of bytes that one call reads.

The data made of a larger block leaves a processor's cache: with 64 KiB, reading CSV takes a quarter longer,
with 128 KiB twice as long.
"""

CONNECTING = 30.0
"""The timeout for connecting to a server, in seconds."""


Arriving = Generator[bytes, None, None]
"""Bytes as they arrive, until the generator is closed."""


class _Readable(Protocol):
    def read1(self, size: int, /) -> bytes: ...


class _Packed(io.FileIO):
    """A file for gzip that reads at most 8 KiB at once.

    From Python 3.12 on gzip asks for 128 KiB, which a pipe may not have yet, and progress would move in
    jumps.
    """

    AT_ONCE = 1 << 13

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(size if size is None or size < 0 else min(size, self.AT_ONCE))


def file_arrivals(path: Path, file_progress: FileProgress | None = None) -> Arriving:
    """A file's bytes, decompressed if its name ends in .gz or .zst; bytes in a pipe are passed on at once.

    `file_progress` counts the bytes that have been read, on top of those of earlier files.

    Raises   InputFileError; MissingExtra for .zst without pyarrow.
    """
    begun = 0 if file_progress is None else file_progress.read
    packed_by = packing(path)
    if packed_by == ".zst":
        yield from _from_zstd(path, file_progress, begun)
        return
    with _named(str(path)):
        if packed_by == ".gz":
            with _Packed(path) as file, gzip.GzipFile(fileobj=file) as packed:
                for some in _read(cast(_Readable, packed)):
                    if file_progress is not None:
                        file_progress.read = begun + file.tell()
                    yield some
        else:
            with path.open("rb", buffering=0) as raw:
                while some := raw.read(CHUNK):
                    if file_progress is not None:
                        file_progress.read += len(some)
                    yield some


def _from_zstd(path: Path, file_progress: FileProgress | None, begun: int) -> Iterator[bytes]:
    require_libraries(["pyarrow"], "arrow", "files in zstd need")
    import pyarrow as pa

    with _named(str(path)), pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, "zstd") as unpacked:
        while some := unpacked.read(CHUNK):
            if file_progress is not None:
                file_progress.read = begun + file.tell()
            yield some


def stdin_arrivals() -> Arriving:
    """The bytes of standard input, which stays open because it belongs to the process."""
    with _named("stdin"):
        if isinstance(sys.stdin, io.TextIOWrapper):
            buffer = sys.stdin.buffer
            raw = getattr(buffer, "raw", None)
            yield from _read_raw(buffer, raw) if isinstance(raw, io.FileIO) else _read(buffer)
        else:
            # The program has replaced standard input.
            while line := sys.stdin.readline():
                yield line.encode()


def socket_arrivals(host: str, port: int) -> Arriving:
    """The bytes that a server sends until it closes the connection.

    Raises   InputFileError.
    """
    with _named(f"{host}:{port}"), socket.create_connection((host, port), CONNECTING) as connection:
        connection.settimeout(None)
        while some := connection.recv(CHUNK):
            yield some


def whole_lines(arrivals: Iterable[bytes], name: str = "") -> Iterator[bytes]:
    """Cut bytes after lines: complete lines are passed on as soon as they arrive.

    State    One incomplete line.
    Raises   InputFileError, with the name of the source, for a line that is longer than LONGEST_LINE.

    >>> list(whole_lines([b"a\\nb", b"c", b"\\n\\nd\\ne"]))
    [b'a\\n', b'bc\\n\\nd\\n', b'e']
    """
    begun: list[bytes] = []
    size = 0
    for some in arrivals:
        end = some.rfind(b"\n") + 1
        size = size + len(some) if not end else len(some) - end
        if not end:
            begun.append(some)
            if size > LONGEST_LINE:
                raise InputFileError(
                    f"{name}: found a line of more than {LONGEST_LINE:,} bytes, expected fewer",
                    path=Path(name),
                )
            continue
        yield b"".join([*begun, some[:end]])
        begun = [some[end:]] if end < len(some) else []
    if begun:
        yield b"".join(begun)


def _read(file: _Readable) -> Iterator[bytes]:
    while some := file.read1(CHUNK):
        yield some


def _read_raw(buffer: _Readable, raw: io.FileIO) -> Iterator[bytes]:
    """The bytes of a buffered file; waiting does not hold the file's lock.

    An interpreter that ends while a thread holds the lock of standard input aborts the process.
    """
    _wait_for(raw)
    some: bytes | None = buffer.read1(CHUNK)  # the program may have read ahead
    while some or some is None:
        if some:
            yield some
        _wait_for(raw)
        some = raw.read(CHUNK)  # None where another process was faster, and the file does not wait


def _wait_for(raw: io.FileIO) -> None:
    if os.name == "posix":  # elsewhere only sockets can be waited for
        select.select([raw], [], [])


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Turn errors of the operating system and of decompression into InputFileError that names the source."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputFileError(f"{name}: {reason}", path=Path(name)) from error
