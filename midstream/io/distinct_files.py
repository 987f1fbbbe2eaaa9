"""Check that the files of a command are distinct."""

from __future__ import annotations

import os
import stat
from collections.abc import Hashable, Iterable

from midstream.io.output import STDOUT
from midstream.plans.values.errors import MidstreamError

Use = tuple[str, str | os.PathLike[str]]
"""The user's name for a use of a file, such as --output, and its path; "-" is standard input or output."""

PossibleUse = tuple[str, str | os.PathLike[str] | None]
"""A use of a file; its path is None if the user did not ask for it."""


def require_distinct_files(reads: Iterable[PossibleUse], writes: Iterable[PossibleUse]) -> None:
    """Raise MidstreamError if a command would overwrite one of its files, or read a pipe twice.

    A file must not be written if it is also read, or written twice. Links, relative paths, `<file` and
    `>file` are other names of one file. A pipe gives its bytes only once. Devices may have several uses.

    >>> require_distinct_files([("--source bid", "bid.csv")], [("--output", "out.csv")])
    >>> require_distinct_files([("--source bid", "bid.csv")], [("--output", "./bid.csv")])
    Traceback (most recent call last):
    midstream.plans.values.errors.MidstreamError: --output: found ./bid.csv, which --source bid reads; \
expected another file
    """
    known: dict[Hashable, str] = {}
    for name, path in reads:
        if path is None:
            continue
        identity, is_read_once = _identity(path, 0)
        if is_read_once and identity in known:
            raise MidstreamError(f"{name}: found {_shown(path, 'input')}, which {known[identity]} too")
        if identity is not None:
            known.setdefault(identity, f"{name} reads")
    for name, path in writes:
        if path is None:
            continue
        identity, _ = _identity(path, 1)
        if identity in known:
            found = _shown(path, "output")
            raise MidstreamError(f"{name}: found {found}, which {known[identity]}; expected another file")
        if identity is not None:
            known[identity] = f"{name} writes"


def _identity(path: str | os.PathLike[str], descriptor: int) -> tuple[Hashable, bool]:
    """An identity that all names of a file share, or None, and if the file can be read only once."""
    is_standard = os.fspath(path) == STDOUT
    try:
        status = os.fstat(descriptor) if is_standard else os.stat(path)
    except OSError:
        # A descriptor that is closed, or a file that does not exist yet.
        return ((STDOUT, descriptor) if is_standard else os.path.realpath(path)), is_standard
    if stat.S_ISCHR(status.st_mode):
        return ((STDOUT, descriptor) if is_standard else None), is_standard
    return (status.st_dev, status.st_ino), is_standard or stat.S_ISFIFO(status.st_mode)


def _shown(path: str | os.PathLike[str], standard: str) -> str:
    return f"standard {standard}" if os.fspath(path) == STDOUT else os.fspath(path)
