"""The files of a path: one file, a folder with all below it, or a pattern."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from midstream.io.file_formats import KNOWN, file_format
from midstream.plans.values.errors import InputFileError


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read, as it was when it was listed.

    modified    in nanoseconds since 1970
    """

    path: str
    form: str
    size: int
    modified: int


def input_files(path: str, form: str | None = None) -> list[InputFile]:
    """The files of a path, absolute and in order of their names; `form` overrides the formats of the names.

    In a folder, files with other endings are skipped, and those whose names begin with `.` or `_`.

    Raises   InputFileError if there is no file, or if a name tells no format.
    """
    if "://" in path:
        raise InputFileError(f"{path}: found a URL, expected a path of a file system", path=path)
    place = os.path.abspath(path)
    if os.path.isdir(place):
        found = [name for name in _below(place) if form is not None or file_format(name) is not None]
    elif os.path.isfile(place):
        found = [place]
    else:
        matched = glob(place, recursive=True) if has_magic(place) else []
        found = sorted(name for name in matched if os.path.isfile(name))
    if not found:
        raise InputFileError(
            f"{path}: found no such file; expected a file, a folder or a pattern of {KNOWN}",
            path=path,
        )
    return [_listed(name, form or _required_format(name)) for name in found]


def unchanged(files: Iterable[InputFile]) -> None:
    """Raise InputFileError for the first file that is no longer as it was when it was listed."""
    for file in files:
        now = _listed(file.path, file.form)
        if now != file:
            raise InputFileError(
                f"{file.path}: found {now.size:,} bytes, changed while it was read; expected the "
                f"{file.size:,} of before",
                path=file.path,
            )


def blocks(path: str, size: int, since: int = 0, until: int = sys.maxsize) -> Iterator[bytes]:
    """The bytes of a file in [since, until), at most `size` at once.

    Raises   InputFileError
    """
    try:
        with Path(path).open("rb") as file:
            file.seek(since)
            while since < until and (block := file.read(min(size, until - since))):
                since += len(block)
                yield block
    except OSError as error:
        raise InputFileError(f"{path}: {error.strerror or error}", path=path) from error


def _below(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        yield from (os.path.join(place, name) for name in sorted(names) if not name.startswith((".", "_")))


def _required_format(name: str) -> str:
    found = file_format(name)
    if found is None:
        raise InputFileError(
            f"{name}: found no suffix of a known format, expected {KNOWN}",
            path=name,
        )
    return found


def _listed(name: str, form: str) -> InputFile:
    try:
        status = os.stat(name)
    except OSError as error:
        raise InputFileError(f"{name}: {error.strerror or error}", path=name) from error
    return InputFile(name, form, status.st_size, status.st_mtime_ns)
