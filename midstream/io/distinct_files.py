"""Files of a command that must not be the same."""

from __future__ import annotations

import os
import stat
from collections.abc import Hashable, Iterable

from midstream.io.output import STDOUT
from midstream.plans.values.errors import MidstreamError

Use = tuple[str, str | os.PathLike[str]]
"""What the user calls a use of a file, such as --output, and its path; "-" is standard input or output."""

PossibleUse = tuple[str, str | os.PathLike[str] | None]
"""The same, or None where nobody has asked for it."""


def require_distinct_files(reads: Iterable[PossibleUse], writes: Iterable[PossibleUse]) -> None:
    """Raise MidstreamError where a file is written that is also read, or written twice, and where a pipe,
    which gives its bytes once, is read twice.

    The same file by another name counts as the same: through links, relative paths, `<file` and `>file`.
    Devices may have several uses.

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
    """What two names of one file share, and whether it can be read only once; None shares nothing."""
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
